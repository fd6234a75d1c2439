// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/format/pytorch/torch_tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/test_source.h"
#include "tests/support/torch_file.h"

namespace andiron::detail {
namespace {

using namespace test;

constexpr std::uint64_t any_size = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

struct Geometry {
  std::vector<std::uint64_t> shape;
  std::vector<std::int64_t> strides;
  std::uint64_t offset = 0;
};

TorchTensor tensor_over(std::string content, const char* dtype, const Geometry& geometry) {
  TorchTensor tensor;
  tensor.type = torch_dtype(dtype);
  tensor.storage = {source_of(content, "memory"), 0, content.size(), tensor.type};
  tensor.offset = geometry.offset;
  tensor.rank = geometry.shape.size();
  std::copy(geometry.shape.begin(), geometry.shape.end(), tensor.shape.begin());
  std::copy(geometry.strides.begin(), geometry.strides.end(), tensor.strides.begin());
  return tensor;
}

// Bytes 0, 1, 2 ...
std::string counting(std::size_t size) {
  std::string content(size, '\0');
  std::iota(content.begin(), content.end(), '\0');
  return content;
}

std::vector<std::uint8_t> read_bytes(const TorchTensor& tensor) {
  const Tensor read = tensor.snapshot("t").value().read().value();
  const auto span = read.bytes().span();
  std::vector<std::uint8_t> bytes;
  for (const std::byte byte : span) bytes.push_back(static_cast<std::uint8_t>(byte));
  return bytes;
}

bool is_contiguous(const Geometry& geometry) {
  return tensor_over("", "uint8", geometry).is_contiguous();
}

ErrorCode refusal(const Geometry& geometry, std::size_t storage_bytes,
                  const char* dtype = "uint8") {
  const Status status = tensor_over(std::string(storage_bytes, '\0'), dtype, geometry).check();
  EXPECT_FALSE(status);
  return status ? ErrorCode::io : status.error().code;
}

bool fits(const Geometry& geometry, std::size_t storage_bytes, const char* dtype = "uint8") {
  const Status status = tensor_over(std::string(storage_bytes, '\0'), dtype, geometry).check();
  EXPECT_TRUE(status || !status.error().message.empty());
  return status.ok();
}

TEST(TorchTensor, IsContiguousWhenRowsFollowEachOther) {
  EXPECT_TRUE(is_contiguous({{}, {}}));
  EXPECT_TRUE(is_contiguous({{5}, {1}}));
  EXPECT_TRUE(is_contiguous({{2, 3}, {3, 1}}));
  EXPECT_TRUE(is_contiguous({{2, 3, 4}, {12, 4, 1}}));
  EXPECT_FALSE(is_contiguous({{5}, {2}}));
  EXPECT_FALSE(is_contiguous({{5}, {0}}));
  EXPECT_FALSE(is_contiguous({{2, 3}, {1, 2}}));
  EXPECT_FALSE(is_contiguous({{2, 3}, {4, 1}}));
}

TEST(TorchTensor, DimensionsOfOneElementMayHaveAnyStride) {
  EXPECT_TRUE(is_contiguous({{1, 5}, {99, 1}}));
  EXPECT_TRUE(is_contiguous({{5, 1}, {1, 99}}));
  EXPECT_TRUE(is_contiguous({{2, 1, 3}, {3, 0, 1}}));
  EXPECT_TRUE(is_contiguous({{1}, {0}}));
  const TorchTensor turned = tensor_over(counting(12), "int16", {{1, 2, 2}, {largest, 1, 2}});
  ASSERT_TRUE(turned.check());
  EXPECT_EQ(read_bytes(turned), (std::vector<std::uint8_t>{0, 1, 4, 5, 2, 3, 6, 7}));
}

TEST(TorchTensor, WithoutElementsIsContiguous) {
  EXPECT_TRUE(is_contiguous({{0}, {7}}));
  EXPECT_TRUE(is_contiguous({{3, 0}, {5, 5}}));
  EXPECT_TRUE(is_contiguous({{0, 3}, {1, 9}}));
}

TEST(TorchTensor, RowMajorStridesAreContiguous) {
  TorchTensor tensor = tensor_over("", "uint8", {{2, 3, 4}, {0, 0, 0}});
  tensor.set_row_major();
  EXPECT_EQ(tensor.strides[0], 12);
  EXPECT_EQ(tensor.strides[1], 4);
  EXPECT_EQ(tensor.strides[2], 1);
  tensor.shape[1] = 0;
  tensor.set_row_major();
  EXPECT_EQ(tensor.strides[0], 4) << "as torch has it";
}

TEST(TorchTensor, MayReachTheEndOfItsStorageAndNoFurther) {
  EXPECT_TRUE(fits({{6}, {1}}, 6));
  EXPECT_TRUE(fits({{2, 3}, {1, 2}}, 6));
  EXPECT_TRUE(fits({{2}, {5}}, 6));
  EXPECT_TRUE(fits({{}, {}, 5}, 6));
  EXPECT_TRUE(fits({{2}, {1}, 1}, 12, "float32"));
  EXPECT_EQ(refusal({{6}, {1}}, 5), ErrorCode::bad_offsets);
  EXPECT_EQ(refusal({{2}, {6}}, 6), ErrorCode::bad_offsets);
  EXPECT_EQ(refusal({{}, {}, 6}, 6), ErrorCode::bad_offsets);
  EXPECT_EQ(refusal({{2}, {1}, 1}, 11, "float32"), ErrorCode::bad_offsets);
  EXPECT_EQ(refusal({{}, {}}, 0), ErrorCode::bad_offsets);
}

TEST(TorchTensor, WithoutElementsLiesAnywhere) {
  EXPECT_TRUE(fits({{0}, {1}}, 0));
  EXPECT_TRUE(fits({{0}, {1}, 6}, 6));
  EXPECT_TRUE(fits({{0}, {1}, any_size}, 6));
  EXPECT_TRUE(fits({{0, largest, largest}, {1, largest, largest}}, 0));
  const TorchTensor far = tensor_over(counting(6), "float32", {{2, 0}, {1, 1}, any_size});
  EXPECT_EQ(far.first_byte(), 0u);
  EXPECT_EQ(far.snapshot("t").value().shape(), Shape({2, 0}));
}

TEST(TorchTensor, SaysWhatLeavesTheStorage) {
  const Status status = tensor_over(std::string(20, '\0'), "float32", {{2, 3}, {3, 1}}).check();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the tensor extends past its storage");
  EXPECT_EQ(status.error().found, "elements 0 to 5 for shape [2, 3]");
  EXPECT_EQ(status.error().expected, "a storage of 5 elements");
}

TEST(TorchTensor, NegativeStridesAreRefusedAsTorchDoes) {
  EXPECT_EQ(refusal({{2}, {-1}, 1}, 2), ErrorCode::bad_pickle);
  EXPECT_EQ(refusal({{0}, {-1}}, 2), ErrorCode::bad_pickle);
  EXPECT_EQ(refusal({{1}, {std::numeric_limits<std::int64_t>::min()}}, 2), ErrorCode::bad_pickle);
}

TEST(TorchTensor, SizesBeyond64BitsAreRefused) {
  const std::uint64_t huge = std::uint64_t{1} << 62;
  EXPECT_EQ(refusal({{huge, huge}, {0, 0}}, 8), ErrorCode::bad_offsets);
  EXPECT_EQ(refusal({{huge}, {0}}, 8, "float32"), ErrorCode::bad_offsets) << "in bytes";
  EXPECT_EQ(refusal({{3}, {largest}}, 8), ErrorCode::bad_offsets);
  EXPECT_EQ(refusal({{2, 2, 2}, {largest, largest, largest}}, 8), ErrorCode::bad_offsets);
  EXPECT_EQ(refusal({{2}, {largest}, any_size}, 8), ErrorCode::bad_offsets);
  EXPECT_EQ(refusal({{}, {}, any_size}, 8), ErrorCode::bad_offsets);
}

// Under UBSan, their strides in bytes must not be computed.
TEST(TorchTensor, WithoutElementsMayHaveAnyStrideWhereItIsConverted) {
  TorchTensor empty =
      tensor_over(counting(8), "float32", {{2, 0}, {std::int64_t{1} << 62, largest}});
  empty.converted = torch_dtype("bfloat16");
  ASSERT_TRUE(empty.check());
  EXPECT_TRUE(empty.check_view());
  const Tensor read = empty.snapshot("t").value().read().value();
  EXPECT_EQ(read.dtype(), DType::bf16);
  EXPECT_EQ(read.shape(), Shape({2, 0}));
}

TEST(TorchTensor, StoragesOfMoreBytesThanStridesCanSayAreRefused) {
  TorchTensor far = tensor_over("", "float32", {{2, 2}, {0, std::int64_t{1} << 61}});
  far.storage.bytes = (std::uint64_t{1} << 63) + 4;
  const Status status = far.check();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::bad_offsets);
}

// Opaque types of every width, known or not.
TEST(TorchTensor, MovesOpaqueElementsOfAnyWidth) {
  for (const std::uint8_t width : {1, 2, 4, 8, 16}) {
    const ElementType type{"future", DType::raw, width};
    TorchTensor tensor = tensor_over(counting(4 * width), "uint8", {{2, 2}, {1, 2}});
    tensor.type = &type;
    ASSERT_TRUE(tensor.check());
    const std::vector<std::uint8_t> bytes = read_bytes(tensor);
    ASSERT_EQ(bytes.size(), 4U * width);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(bytes[i * width], (i % 2 * 2 + i / 2) * width) << int{width};
    }
  }
  const ElementType odd{"odd", DType::raw, 3};
  TorchTensor tensor = tensor_over(counting(12), "uint8", {{2, 2}, {1, 2}});
  tensor.type = &odd;
  const Result<TensorSnapshot> refused = tensor.snapshot("t");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported_dtype);
}

TEST(TorchTensor, MayRepeatItsDataUpToALimit) {
  const TorchTensor repeated = tensor_over("x", "uint8", {{1000}, {0}});
  EXPECT_TRUE(repeated.check());
  EXPECT_TRUE(repeated.check_size(1000));
  EXPECT_EQ(repeated.check_size(999).error().code, ErrorCode::limit_exceeded);
  const TorchTensor large = tensor_over("x", "uint8", {{1 << 20, 1 << 20, 1 << 20}, {0, 0, 0}});
  EXPECT_TRUE(large.check());
  EXPECT_FALSE(large.check_size(any_size / 16));
  EXPECT_TRUE(tensor_over(counting(8), "uint8", {{8}, {1}}).check_size(1)) << "it repeats nothing";
}

TEST(TorchTensor, ReadsEveryKindOfView) {
  const std::string content = counting(24);
  const auto view = [&](const Geometry& geometry) {
    return read_bytes(tensor_over(content, "uint8", geometry));
  };
  using Read = std::vector<std::uint8_t>;
  EXPECT_EQ(view({{2, 3}, {3, 1}}), (Read{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(view({{3, 2}, {1, 3}}), (Read{0, 3, 1, 4, 2, 5})) << "transposed";
  EXPECT_EQ(view({{2, 2}, {6, 2}, 1}), (Read{1, 3, 7, 9})) << "every other column";
  EXPECT_EQ(view({{2, 3}, {1, 0}, 4}), (Read{4, 4, 4, 5, 5, 5})) << "expanded";
  EXPECT_EQ(view({{3, 2}, {1, 1}}), (Read{0, 1, 1, 2, 2, 3})) << "overlapping windows";
  EXPECT_EQ(view({{1, 2, 2, 2}, {8, 1, 4, 2}}), (Read{0, 2, 4, 6, 1, 3, 5, 7})) << "channels last";
  EXPECT_EQ(view({{}, {}, 23}), (Read{23}));
  EXPECT_EQ(view({{2, 0}, {1, 1}, 24}), (Read{}));
}

TEST(TorchTensor, OfAllDimensionsThereAreIsRead) {
  Geometry geometry{std::vector<std::uint64_t>(max_rank, 1),
                    std::vector<std::int64_t>(max_rank, 7)};
  geometry.shape[10] = 2;
  geometry.strides[10] = 3;
  const TorchTensor tensor = tensor_over(counting(8), "uint8", geometry);
  ASSERT_TRUE(tensor.check());
  EXPECT_EQ(read_bytes(tensor), (std::vector<std::uint8_t>{0, 3}));
}

TEST(TorchTensor, BeginsWhereItsStorageDoesInTheSource) {
  TorchTensor tensor = tensor_over(counting(32), "int16", {{2}, {1}, 3});
  tensor.storage.offset = 8;
  tensor.storage.bytes = 10;
  ASSERT_TRUE(tensor.check());
  EXPECT_EQ(tensor.first_byte(), 14u);
  EXPECT_EQ(read_bytes(tensor), (std::vector<std::uint8_t>{14, 15, 16, 17}));
  tensor.offset = 4;
  EXPECT_FALSE(tensor.check());
}

TEST(TorchTensor, ASmallViewReadsItsOwnBytes) {
  auto source = std::make_shared<TestSource>(std::vector<std::byte>(4 << 20));
  TorchTensor tensor = tensor_over("", "float32", {{4, 10}, {250'000, 1}, 500});
  tensor.storage = {source, 0, source->size(), tensor.type};
  ASSERT_TRUE(tensor.check());
  ASSERT_TRUE(tensor.snapshot("t").value().read());
  EXPECT_EQ(source->bytes_read(), 160u);
}

TEST(TorchTensor, OfATypeThatIsNotTakenApartIsNotNegated) {
  TorchTensor tensor = tensor_over(counting(2), "float4_e2m1fn_x2", {{2}, {1}});
  tensor.negate = true;
  EXPECT_EQ(tensor.snapshot("t").error().code, ErrorCode::unsupported_dtype);
}

TEST(TorchTensor, WithoutElementsHasTheTypeThatItIsConvertedTo) {
  TorchTensor tensor = tensor_over("", "float32", {{0}, {1}});
  tensor.converted = torch_dtype("bfloat16");
  EXPECT_EQ(tensor.snapshot("t").value().dtype(), DType::bf16);
}

TEST(TorchTensor, BigEndianNumbersAreSwapped) {
  TorchTensor tensor = tensor_over(counting(8), "int16", {{2, 2}, {2, 1}});
  tensor.big_endian = true;
  EXPECT_FALSE(tensor.is_run());
  EXPECT_EQ(read_bytes(tensor), (std::vector<std::uint8_t>{1, 0, 3, 2, 5, 4, 7, 6}));
  tensor.strides[0] = 1;
  tensor.strides[1] = 2;
  EXPECT_EQ(read_bytes(tensor), (std::vector<std::uint8_t>{1, 0, 5, 4, 3, 2, 7, 6}));
}

TEST(TorchTensor, BigEndianComplexNumbersAreSwappedByTheirParts) {
  TorchTensor tensor = tensor_over(counting(16), "complex64", {{2}, {1}});
  tensor.big_endian = true;
  EXPECT_EQ(read_bytes(tensor),
            (std::vector<std::uint8_t>{3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12}));
  TorchTensor half = tensor_over(counting(4), "complex32", {{1}, {1}});
  half.big_endian = true;
  EXPECT_EQ(read_bytes(half), (std::vector<std::uint8_t>{1, 0, 3, 2}));
}

TEST(TorchTensor, SingleBytesHaveNoOrder) {
  for (const char* dtype : {"uint8", "bool", "float8_e4m3fn", "float4_e2m1fn_x2", "bits8"}) {
    TorchTensor tensor = tensor_over(std::string("\1\0\1", 3), dtype, {{3}, {1}});
    tensor.big_endian = true;
    EXPECT_TRUE(tensor.is_run()) << dtype;
    EXPECT_EQ(read_bytes(tensor), (std::vector<std::uint8_t>{1, 0, 1})) << dtype;
  }
}

TEST(TorchTensor, ConjugatesAndNegatesWhenItsBitsSaySo) {
  const std::vector<std::complex<float>> stored = {{1, 2}, {3, -4}};
  TorchTensor tensor = tensor_over(memory_of(stored), "complex64", {{2}, {1}});
  const auto values = [&] {
    return tensor.snapshot("t").value().read().value().to_vector<std::complex<float>>().value();
  };
  tensor.conjugate = true;
  EXPECT_FALSE(tensor.is_run());
  EXPECT_EQ(values(), (std::vector<std::complex<float>>{{1, -2}, {3, 4}}));
  tensor.negate = true;
  EXPECT_EQ(values(), (std::vector<std::complex<float>>{{-1, 2}, {-3, -4}}));
  tensor.conjugate = false;
  EXPECT_EQ(values(), (std::vector<std::complex<float>>{{-1, -2}, {-3, 4}}));
}

TEST(TorchTensor, NegatesTheImaginaryPartsThatConjugatesShare) {
  // torch.conj(x).imag is a view of x's storage with the negative bit.
  const std::vector<std::complex<float>> stored = {{1, 2}, {3, -4}};
  TorchTensor tensor = tensor_over(memory_of(stored), "float32", {{2}, {2}, 1});
  tensor.negate = true;
  const Tensor read = tensor.snapshot("t").value().read().value();
  EXPECT_EQ(read.to_vector<float>().value(), (std::vector<float>{-2, 4}));
}

TEST(TorchTensor, OfTypesThatWeDoNotKnowIsMovedByBytes) {
  const TorchTensor bits = tensor_over(counting(12), "bits16", {{3, 2}, {1, 3}});
  const TensorSnapshot snapshot = bits.snapshot("t").value();
  EXPECT_EQ(snapshot.dtype_text(), "raw:bits16");
  EXPECT_EQ(snapshot.shape(), Shape({3, 2}));
  EXPECT_EQ(read_bytes(bits), (std::vector<std::uint8_t>{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}));
  const TorchTensor quantized = tensor_over(counting(8), "qint32", {{2}, {1}});
  EXPECT_EQ(quantized.snapshot("t").value().dtype_text(), "raw:qint32");
  EXPECT_EQ(read_bytes(tensor_over(counting(8), "qint32", {{2, 2}, {0, 1}})),
            (std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(TorchTensor, OfTypesThatWeDoNotKnowIsNotSwapped) {
  TorchTensor bits = tensor_over(counting(4), "bits16", {{2}, {1}});
  bits.big_endian = true;
  EXPECT_EQ(bits.snapshot("t").error().code, ErrorCode::unsupported_dtype);
  EXPECT_EQ(bits.snapshot("t").error().found, "bits16");
}

TEST(TorchTensor, FourBitFloatsCountInTheLastDimension) {
  const TorchTensor rows = tensor_over(counting(6), "float4_e2m1fn_x2", {{2, 3}, {3, 1}});
  EXPECT_EQ(rows.snapshot("t").value().shape(), Shape({2, 6}));
  EXPECT_EQ(rows.byte_size(), 6u);
  const TorchTensor turned = tensor_over(counting(6), "float4_e2m1fn_x2", {{3, 2}, {1, 3}});
  EXPECT_EQ(turned.snapshot("t").value().shape(), Shape({3, 4}));
  EXPECT_EQ(turned.snapshot("t").value().dtype(), DType::f4e2m1);
  EXPECT_EQ(read_bytes(turned), (std::vector<std::uint8_t>{0, 3, 1, 4, 2, 5}));
  const TorchTensor single = tensor_over(counting(1), "float4_e2m1fn_x2", {{}, {}});
  EXPECT_EQ(single.snapshot("t").value().shape(), Shape({2}));
}

TEST(TorchTensor, QuantizedOnesGiveTheirNumbersAsStored) {
  TorchTensor tensor = tensor_over("\x01\xff", "qint8", {{2}, {1}});
  tensor.as_int_repr = true;
  EXPECT_EQ(tensor.dtype(), DType::i8);
  EXPECT_EQ(tensor.raw_name(), "");
  const Tensor read = tensor.snapshot("t").value().read().value();
  EXPECT_EQ(read.to_vector<std::int8_t>().value(), (std::vector<std::int8_t>{1, -1}));
}

TEST(TorchTensor, PartsOfAStridedTensorOfAnyTypeCanBeRead) {
  for (const char* dtype : {"uint8", "bits8"}) {
    const TensorSnapshot snapshot =
        tensor_over(counting(24), dtype, {{4, 6}, {1, 4}}).snapshot("t").value();
    std::vector<std::byte> part(5);
    ASSERT_TRUE(snapshot.read_part(4, part)) << dtype;
    EXPECT_EQ(part, (std::vector<std::byte>{std::byte{16}, std::byte{20}, std::byte{1},
                                            std::byte{5}, std::byte{9}}))
        << dtype;
  }
}

}  // namespace
}  // namespace andiron::detail
