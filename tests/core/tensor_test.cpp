// SPDX-License-Identifier: MIT OR Apache-2.0
// Row-major data of one dtype and shape.
#include "andiron/tensor.h"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "andiron/limits.h"

namespace andiron {
namespace {

static_assert(ElementOf<std::complex<float>>::dtype == DType::c64);
static_assert(ElementOf<std::complex<double>>::dtype == DType::c128);
static_assert(!Element<std::complex<long double>> && !Element<const std::complex<float>>);
static_assert(!Element<std::pair<float, float>> && !Element<std::vector<float>>);

Bytes zero_bytes(std::size_t size) { return Bytes::own(std::vector<std::byte>(size)); }

TEST(Tensor, IsEmptyByDefault) {
  const Tensor tensor;
  EXPECT_EQ(tensor.dtype(), DType::f32);
  EXPECT_EQ(tensor.shape(), Shape({0}));
  EXPECT_EQ(tensor.byte_size(), 0u);
  EXPECT_TRUE(tensor.as<float>().value().empty());
}

TEST(Tensor, TakesBytesAsTheyAre) {
  const Bytes bytes = zero_bytes(24);
  const Tensor tensor = Tensor::from_bytes(DType::f32, Shape({2, 3}), bytes).value();
  EXPECT_EQ(tensor.bytes().data(), bytes.data());
  EXPECT_EQ(tensor.dtype_text(), "f32");
  EXPECT_EQ(tensor.raw_name(), "");
}

TEST(Tensor, RefusesBytesThatDoNotFit) {
  for (const std::size_t size : {0, 23, 25, 48}) {
    const Result<Tensor> tensor = Tensor::from_bytes(DType::f32, Shape({2, 3}), zero_bytes(size));
    ASSERT_FALSE(tensor.ok()) << size;
    EXPECT_EQ(tensor.error().code, ErrorCode::size_mismatch);
    EXPECT_EQ(tensor.error().found, std::to_string(size) + " bytes");
    EXPECT_EQ(tensor.error().expected, "24 bytes for f32 [2, 3]");
  }
  EXPECT_EQ(Tensor::from_bytes(DType::qfloat, Shape({1}), zero_bytes(4)).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(Tensor::from_bytes(DType::f4e2m1, Shape({3}), zero_bytes(2)).error().code,
            ErrorCode::misaligned);
}

TEST(Tensor, RefusesMoreDimensionsThanAnyFileMayHave) {
  const std::vector<std::uint64_t> most(max_rank, 1);
  const std::vector<std::uint64_t> more(max_rank + 1, 1);
  EXPECT_TRUE(Tensor::from_bytes(DType::u8, Shape(most), zero_bytes(1)).ok());
  EXPECT_TRUE(Tensor::zeros(DType::u8, Shape(most)).ok());
  EXPECT_EQ(Tensor::from_bytes(DType::u8, Shape(more), zero_bytes(1)).error().code,
            ErrorCode::limit_exceeded);
  EXPECT_EQ(Tensor::zeros(DType::u8, Shape(more)).error().code, ErrorCode::limit_exceeded);
}

TEST(Tensor, CarriesTypesItDoesNotKnow) {
  const Tensor raw = Tensor::raw("quint8", Shape({3}), zero_bytes(5)).value();
  EXPECT_EQ(raw.dtype(), DType::raw);
  EXPECT_EQ(raw.raw_name(), "quint8");
  EXPECT_EQ(raw.dtype_text(), "raw:quint8");
  EXPECT_EQ(raw.byte_size(), 5u);
  const Tensor quantized = Tensor::qfloat({}, Shape({3}), zero_bytes(7)).value();
  EXPECT_EQ(quantized.dtype_text(), "qfloat");
  EXPECT_EQ(quantized.byte_size(), 7u);
}

TEST(Tensor, ZerosAreZero) {
  const Tensor tensor = Tensor::zeros(DType::f64, Shape({1000})).value();
  EXPECT_EQ(tensor.byte_size(), 8000u);
  const std::span<const double> values = tensor.as<double>().value();
  for (const double value : values) ASSERT_EQ(value, 0.0);
  EXPECT_EQ(Tensor::zeros(DType::u8, Shape({0})).value().byte_size(), 0u);
  EXPECT_EQ(Tensor::zeros(DType::raw, Shape({1})).error().code, ErrorCode::invalid_argument);
}

TEST(Tensor, CopiesValues) {
  const Tensor tensor = Tensor::from_values<float>(Shape({2, 2}), {1, 2, 3, 4}).value();
  EXPECT_EQ(tensor.dtype(), DType::f32);
  EXPECT_EQ(tensor.as<float>().value()[3], 4.0f);
  EXPECT_EQ(Tensor::from_values<float>(Shape({3}), {1, 2}).error().code, ErrorCode::size_mismatch);
  EXPECT_EQ(Tensor::from_values<float>(Shape({0}), {}).value().byte_size(), 0u);
}

template <class T>
void expect_round_trip(std::initializer_list<T> values, DType dtype) {
  const Tensor tensor = Tensor::from_values<T>(Shape({values.size()}), values).value();
  EXPECT_EQ(tensor.dtype(), dtype);
  const std::span<const T> read = tensor.as<T>().value();
  EXPECT_TRUE(std::equal(read.begin(), read.end(), values.begin(), values.end()))
      << dtype_name(dtype);
}

TEST(Tensor, KnowsTheElementTypes) {
  expect_round_trip<bool>({true, false}, DType::boolean);
  expect_round_trip<std::uint8_t>({1, 255}, DType::u8);
  expect_round_trip<std::int8_t>({1, -128}, DType::i8);
  expect_round_trip<std::uint16_t>({1, 65535}, DType::u16);
  expect_round_trip<std::int16_t>({1, -32768}, DType::i16);
  expect_round_trip<std::uint32_t>({1, ~0u}, DType::u32);
  expect_round_trip<std::int32_t>({1, -1}, DType::i32);
  expect_round_trip<std::uint64_t>({1, ~std::uint64_t{0}}, DType::u64);
  expect_round_trip<std::int64_t>({1, -1}, DType::i64);
  expect_round_trip<Float16>({Float16{0x3c00}}, DType::f16);
  expect_round_trip<BFloat16>({BFloat16{0x3f80}}, DType::bf16);
  expect_round_trip<float>({1.5f}, DType::f32);
  expect_round_trip<double>({1.5}, DType::f64);
  expect_round_trip<std::complex<float>>({{1, 2}}, DType::c64);
  expect_round_trip<std::complex<double>>({{1, 2}}, DType::c128);
}

TEST(Tensor, RefusesToBeReadAsAnotherType) {
  Tensor tensor = Tensor::zeros(DType::f32, Shape({2})).value();
  const auto doubles = tensor.as<double>();
  ASSERT_FALSE(doubles.ok());
  EXPECT_EQ(doubles.error().code, ErrorCode::dtype_mismatch);
  EXPECT_EQ(doubles.error().found, "f32");
  EXPECT_EQ(doubles.error().expected, "f64");
  EXPECT_FALSE(tensor.as<std::int32_t>().ok());
  EXPECT_FALSE(tensor.as_mutable<std::int32_t>().ok());
}

TEST(Tensor, EscapesTheNameOfAnUnknownTypeInMessages) {
  const Tensor raw = Tensor::raw("\x1b[31m", Shape({1}), zero_bytes(1)).value();
  const Error error = raw.as<float>().error();
  EXPECT_EQ(error.found, "raw:\x1b[31m");
  EXPECT_NE(error.to_string().find("raw:\\x1b[31m"), std::string::npos);
}

TEST(Tensor, RefusesMisalignedElements) {
  const Bytes memory = Bytes::allocate(64).value();
  const Tensor shifted =
      Tensor::from_bytes(DType::f32, Shape({2}), memory.slice(2, 8).value()).value();
  const auto floats = shifted.as<float>();
  ASSERT_FALSE(floats.ok());
  EXPECT_EQ(floats.error().code, ErrorCode::misaligned);
  const Tensor aligned =
      Tensor::from_bytes(DType::f32, Shape({2}), memory.slice(4, 8).value()).value();
  EXPECT_TRUE(aligned.as<float>().ok());
}

TEST(Tensor, WritingToACopyLeavesTheOriginal) {
  const Tensor original = Tensor::from_values<float>(Shape({2}), {1, 2}).value();
  Tensor copy = original;
  EXPECT_EQ(copy.bytes().data(), original.bytes().data()) << "shared until written";
  copy.as_mutable<float>().value()[0] = 9;
  EXPECT_EQ(original.as<float>().value()[0], 1.0f);
  EXPECT_EQ(copy.as<float>().value()[0], 9.0f);
  EXPECT_EQ(copy.as<float>().value()[1], 2.0f);
}

TEST(Tensor, WritesInPlaceWhenItAloneOwnsItsMemory) {
  Tensor tensor = Tensor::from_values<float>(Shape({2}), {1, 2}).value();
  const std::byte* place = tensor.bytes().data();
  tensor.as_mutable<float>().value()[0] = 9;
  EXPECT_EQ(tensor.bytes().data(), place);
}

TEST(Tensor, WritingToBorrowedBytesCopiesThemFirst) {
  alignas(float) static constexpr std::byte data[8] = {};
  Tensor tensor = Tensor::from_bytes(DType::f32, Shape({2}), Bytes::borrow(data)).value();
  EXPECT_EQ(tensor.bytes().data(), data);
  tensor.mutable_bytes().value()[0] = std::byte{1};
  EXPECT_NE(tensor.bytes().data(), data);
  EXPECT_EQ(data[0], std::byte{0});
}

TEST(Tensor, WritingToMisalignedBorrowedBytesWorks) {
  const Bytes memory = zero_bytes(16);
  Tensor tensor = Tensor::from_bytes(DType::f32, Shape({2}), memory.slice(1, 8).value()).value();
  EXPECT_TRUE(tensor.as_mutable<float>().ok()) << "the private copy is aligned";
}

TEST(Tensor, WithoutElementsHasNothingToWrite) {
  Tensor tensor;
  EXPECT_TRUE(tensor.mutable_bytes().value().empty());
  EXPECT_TRUE(tensor.as_mutable<float>().value().empty());
}

TEST(Tensor, RefusesBooleansThatAreNeitherZeroNorOne) {
  const Tensor good =
      Tensor::from_bytes(DType::boolean, {2}, Bytes::own({std::byte{0}, std::byte{1}})).value();
  EXPECT_TRUE(good.as<bool>().value()[1]);
  const Tensor odd =
      Tensor::from_bytes(DType::boolean, {2}, Bytes::own({std::byte{0}, std::byte{7}})).value();
  EXPECT_EQ(odd.as<bool>().error().code, ErrorCode::dtype_mismatch);
}

TEST(Tensor, GivesItsElementsAsAVectorToo) {
  EXPECT_EQ(Tensor::from_values<float>({2}, {1, 2}).value().to_vector<float>().value(),
            (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace andiron
