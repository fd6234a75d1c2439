// SPDX-License-Identifier: MIT OR Apache-2.0
// Schemes of quantization: the sizes that follow from them, and their texts.
#include "andiron/quant_scheme.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "andiron/tensor.h"
#include "tests/core/quant_schemes.h"

namespace andiron::test {
namespace {

// --- sizes ---

TEST(QuantizedByteCount, PadsEachLineOfAPackedStoreToWholeWords) {
  const QuantScheme q4s = per_tensor(QuantValue::q4s, QuantStore::packed_u32);
  EXPECT_EQ(size_of(q4s, {3, 3}), 12u + 4);
  EXPECT_EQ(size_of(q4s, {2, 5, 9}), 80u + 4);
  EXPECT_EQ(size_of(q4s, {4, 8}), 16u + 4);
  const QuantScheme outer = per_tensor(QuantValue::q4s, QuantStore::packed_u32, 1);
  EXPECT_EQ(size_of(outer, {9, 3}), 2u * 3 * 4 + 4);
  EXPECT_EQ(size_of(per_tensor(QuantValue::q2f, QuantStore::packed_u32), {2, 17}), 2u * 8 + 4);
  EXPECT_EQ(size_of(per_tensor(QuantValue::e5m2, QuantStore::packed_u32), {2, 5}), 2u * 8 + 4);
}

TEST(QuantizedByteCount, IsAByteForEachValueOfANativeStore) {
  for (const QuantValue value : values) {
    EXPECT_EQ(size_of(per_tensor(value, QuantStore::native), {3, 5}), 15u + 4);
    const std::uint64_t packed = value == QuantValue::e2m1 ? 3 * 3 : 15;
    EXPECT_EQ(size_of(per_tensor(value, QuantStore::packed_native), {3, 5}), packed + 4);
  }
  EXPECT_EQ(size_of(per_tensor(QuantValue::q4s, QuantStore::native), {32, 16}), 512u + 4);
}

TEST(QuantizedByteCount, CountsTheScalesOfPartialBlocks) {
  const QuantScheme nvfp4 =
      with_tensor_scale(per_block(per_tensor(QuantValue::e2m1, QuantStore::packed_native),
                                  block_of({16}), QuantParam::ue4m3),
                        QuantParam::f32);
  EXPECT_EQ(nvfp4.level(), QuantLevel::block_and_tensor);
  EXPECT_EQ(size_of(nvfp4, {4, 32}), 4u * 16 + 4 * 2 + 4);
  EXPECT_EQ(size_of(nvfp4, {3, 17}), 3u * 9 + 3 * 2 + 4);
  const QuantScheme squares =
      per_block(per_tensor(QuantValue::q8s, QuantStore::native), block_of({2, 4}), QuantParam::f16);
  EXPECT_EQ(size_of(squares, {5, 5}), 25u + 3 * 2 * 2);
  EXPECT_EQ(size_of(squares, {7, 5, 5}), 7u * (25 + 3 * 2 * 2));
}

TEST(QuantizedByteCount, TakesTheTensorScaleForAnF32WhereNoneIsNamed) {
  QuantScheme scheme = per_tensor(QuantValue::q8s, QuantStore::native);
  scheme.tensor_param = QuantParam::f16;
  EXPECT_EQ(size_of(scheme, {4}), 4u + 4);
  scheme.has_tensor_scale = true;
  EXPECT_EQ(size_of(scheme, {4}), 4u + 2);
}

TEST(QuantizedByteCount, OfAnEmptyTensorIsItsTensorScale) {
  for (const QuantStore store : stores) {
    const QuantScheme scheme = per_tensor(QuantValue::q4s, store);
    EXPECT_EQ(size_of(scheme, {0}), 4u);
    EXPECT_EQ(size_of(scheme, {3, 0, 2}), 4u);
    const QuantScheme blocks = per_block(scheme, block_of({4}), QuantParam::f32);
    EXPECT_EQ(size_of(blocks, {0}), 0u);
    EXPECT_EQ(size_of(with_tensor_scale(blocks, QuantParam::f32), {0}), 4u);
  }
}

TEST(QuantizedByteCount, TakesAScalarForOneLineOfOneValue) {
  EXPECT_EQ(size_of(per_tensor(QuantValue::q2s, QuantStore::packed_u32), {}), 4u + 4);
  EXPECT_EQ(size_of(per_tensor(QuantValue::e2m1, QuantStore::packed_native), {}), 1u + 4);
  EXPECT_EQ(size_of(per_tensor(QuantValue::q8f, QuantStore::native), {}), 1u + 4);
}

TEST(QuantizedByteCount, RefusesASchemeThatDoesNotFitTheShape) {
  for (const QuantStore store : {QuantStore::packed_native, QuantStore::packed_u32}) {
    EXPECT_EQ(size_of(per_tensor(QuantValue::q8s, store, 1), {}), no_size);
    EXPECT_EQ(size_of(per_tensor(QuantValue::q8s, store, 2), {4, 4}), no_size);
    EXPECT_EQ(size_of(per_tensor(QuantValue::q8s, store, no_size), {4, 4}), no_size);
  }
  EXPECT_NE(size_of(per_tensor(QuantValue::q8s, QuantStore::native, 9), {4, 4}), no_size);
  const QuantScheme native = per_tensor(QuantValue::q8s, QuantStore::native);
  EXPECT_EQ(size_of(per_block(native, block_of({1, 2}), QuantParam::f32), {4}), no_size);
  EXPECT_EQ(size_of(per_block(native, block_of({2}), QuantParam::f32), {}), no_size);
  EXPECT_EQ(size_of(per_block(native, block_of({0, 2}), QuantParam::f32), {4, 4}), no_size);
  QuantBlock too_long;
  too_long.rank = QuantBlock::max_rank + 1;
  EXPECT_EQ(size_of(per_block(native, too_long, QuantParam::f32), {1, 1, 1, 1, 1, 1}), no_size);
}

TEST(QuantizedByteCount, RefusesSizesBeyond64Bits) {
  constexpr std::uint64_t huge = std::uint64_t{1} << 32;
  for (const QuantStore store : stores) {
    EXPECT_EQ(size_of(per_tensor(QuantValue::q8s, store), {huge, huge}), no_size);
  }
  const QuantScheme native = per_tensor(QuantValue::q8s, QuantStore::native);
  EXPECT_EQ(size_of(native, {no_size}), no_size);
  EXPECT_EQ(size_of(native, {no_size - 4}), no_size);
  EXPECT_EQ(size_of(native, {no_size - 5}), no_size - 1);
  // A quarter of 2^64 scales of four bytes.
  const QuantScheme blocks = per_block(native, block_of({1}), QuantParam::f32);
  EXPECT_EQ(size_of(blocks, {std::uint64_t{1} << 62}), no_size);
}

constexpr std::uint64_t shape_3_3[] = {3, 3};
constexpr std::uint64_t size_3_3 = [] {
  std::uint64_t bytes = 0;
  return quantized_byte_count({.value = QuantValue::q4s}, shape_3_3, bytes) ? bytes : 0;
}();
static_assert(size_3_3 == 16, "sizes are known to the compiler");

// --- texts ---

std::vector<QuantScheme> schemes_for_text() {
  std::vector<QuantScheme> schemes;
  const QuantBlock blocks[] = {block_of({}), block_of({32}), block_of({2, 16}), block_of({0, 7, 1}),
                               block_of({255, 10, 100, 99, 255})};
  for (const QuantValue value : values) {
    for (const QuantStore store : stores) {
      for (const std::uint64_t packed_dim : {std::uint64_t{0}, std::uint64_t{10}, no_size}) {
        if (store == QuantStore::native && packed_dim != 0) continue;
        for (const QuantMode mode : {QuantMode::symmetric, QuantMode::lookup}) {
          QuantScheme plain = per_tensor(value, store, packed_dim);
          plain.mode = mode;
          schemes.push_back(plain);
          for (const QuantParam param : params) {
            schemes.push_back(with_tensor_scale(plain, param));
            for (const QuantBlock& block : blocks) {
              schemes.push_back(per_block(plain, block, param));
              for (const QuantParam other : params) {
                schemes.push_back(with_tensor_scale(per_block(plain, block, param), other));
              }
            }
          }
        }
      }
    }
  }
  return schemes;
}

TEST(QuantSchemeText, NamesThePartsThatAreThere) {
  EXPECT_EQ(quant_scheme_text({}), "QFloat(Q8F,PackedU32(0),Symmetric)");
  const QuantScheme full =
      with_tensor_scale(per_block(per_tensor(QuantValue::q4s, QuantStore::packed_u32),
                                  block_of({2, 16}), QuantParam::f16),
                        QuantParam::f32);
  EXPECT_EQ(quant_scheme_text(full),
            "QFloat(Q4S,PackedU32(0),Symmetric,tensor=F32,block=[2,16]:F16)");
  const QuantScheme blocks = per_block(per_tensor(QuantValue::e4m3, QuantStore::native),
                                       block_of({32}), QuantParam::ue8m0);
  EXPECT_EQ(quant_scheme_text(blocks), "QFloat(E4M3,Native,Symmetric,block=[32]:UE8M0)");
  QuantScheme lookup = per_tensor(QuantValue::q2f, QuantStore::packed_native, 3);
  lookup.mode = QuantMode::lookup;
  EXPECT_EQ(quant_scheme_text(lookup), "QFloat(Q2F,PackedNative(3),Lookup)");
}

TEST(QuantSchemeText, ComesBackAsTheSameScheme) {
  for (const QuantScheme& scheme : schemes_for_text()) {
    const std::string text = quant_scheme_text(scheme);
    const Result<QuantScheme> read = quant_scheme_from_text(text);
    ASSERT_TRUE(read.ok()) << text;
    ASSERT_EQ(*read, scheme) << text;
  }
}

TEST(QuantSchemeText, IsRefusedWhenCutShortOrTooLong) {
  const std::vector<QuantScheme> schemes = schemes_for_text();
  for (std::size_t i = 0; i < schemes.size(); i += 7) {
    const std::string text = quant_scheme_text(schemes[i]);
    for (std::size_t length = 0; length < text.size(); ++length) {
      ASSERT_FALSE(quant_scheme_from_text(text.substr(0, length)).ok()) << text << " " << length;
    }
    for (const char* tail : {" ", ")", ",", "x"}) {
      ASSERT_FALSE(quant_scheme_from_text(text + tail).ok()) << text << tail;
    }
    ASSERT_FALSE(quant_scheme_from_text(text + '\0').ok());
  }
}

TEST(QuantSchemeText, IsReadOnlyAsItIsWritten) {
  for (const char* text : {
           "qfloat(Q8F,Native,Symmetric)",
           " QFloat(Q8F,Native,Symmetric)",
           "QFloat(Q8F, Native,Symmetric)",
           "QFloat(q8f,Native,Symmetric)",
           "QFloat(Q8,Native,Symmetric)",
           "QFloat(Q8F,Native(0),Symmetric)",
           "QFloat(Q8F,PackedU32,Symmetric)",
           "QFloat(Q8F,PackedU32(),Symmetric)",
           "QFloat(Q8F,PackedU32(00),Symmetric)",
           "QFloat(Q8F,PackedU32(01),Symmetric)",
           "QFloat(Q8F,PackedU32(+1),Symmetric)",
           "QFloat(Q8F,PackedU32(-1),Symmetric)",
           "QFloat(Q8F,PackedU32( 1),Symmetric)",
           "QFloat(Q8F,PackedU32(18446744073709551616),Symmetric)",
           "QFloat(Q8F,Native,Symmetric,)",
           "QFloat(Q8F,Native,Symmetric,tensor=)",
           "QFloat(Q8F,Native,Symmetric,tensor=F64)",
           "QFloat(Q8F,Native,Symmetric,tensor=F32,tensor=F32)",
           "QFloat(Q8F,Native,Symmetric,block=[2]:F32,tensor=F32)",
           "QFloat(Q8F,Native,Symmetric,block=[2])",
           "QFloat(Q8F,Native,Symmetric,block=2:F32)",
           "QFloat(Q8F,Native,Symmetric,block=[2,]:F32)",
           "QFloat(Q8F,Native,Symmetric,block=[,2]:F32)",
           "QFloat(Q8F,Native,Symmetric,block=[2, 2]:F32)",
           "QFloat(Q8F,Native,Symmetric,block=[02]:F32)",
           "QFloat(Q8F,Native,Symmetric,block=[256]:F32)",
           "QFloat(Q8F,Native,Symmetric,block=[1,2,3,4,5,6]:F32)",
       }) {
    const Result<QuantScheme> read = quant_scheme_from_text(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(read.error().found, text);
    EXPECT_EQ(read.error().expected, "one like QFloat(Q8F,PackedU32(0),Symmetric)");
    EXPECT_FALSE(read.error().hint.empty());
  }
}

}  // namespace
}  // namespace andiron::test
