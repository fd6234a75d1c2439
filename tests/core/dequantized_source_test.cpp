// SPDX-License-Identifier: MIT OR Apache-2.0
// Quantized tensors read part by part, against dequantize().
#include "src/core/dequantized_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "andiron/tensor.h"
#include "tests/core/quant_schemes.h"
#include "tests/support/test_source.h"

namespace andiron::test {
namespace {

std::vector<std::byte> random_payload(std::uint64_t size) {
  static std::mt19937 random(7);
  std::vector<std::byte> payload(size);
  for (std::byte& byte : payload) byte = static_cast<std::byte>(random());
  return payload;
}

// Reads all in parts of so many bytes.
std::string read_in_parts(const TensorSnapshot& snapshot, std::uint64_t part) {
  std::string text(snapshot.byte_size(), '\0');
  const std::span<std::byte> room = std::as_writable_bytes(std::span(text));
  for (std::uint64_t at = 0; at < room.size(); at += part) {
    const std::uint64_t count = std::min<std::uint64_t>(part, room.size() - at);
    EXPECT_TRUE(snapshot.read_part(at, room.subspan(at, count)));
  }
  return text;
}

void expect_the_elements_of_dequantize(const QuantScheme& scheme, const Shape& shape) {
  SCOPED_TRACE(quant_scheme_text(scheme) + " " + shape.to_string());
  const std::vector<std::byte> payload = random_payload(size_of(scheme, shape));
  const Tensor tensor = Tensor::qfloat(scheme, shape, Bytes::own(payload)).value();
  const std::string expected(dequantize(tensor).value().bytes().text());
  const auto source = std::make_shared<TestSource>(payload);
  const TensorSnapshot stored =
      TensorSnapshot::from_source("q", source, 0, payload.size(), DType::qfloat, shape,
                                  quant_scheme_text(scheme))
          .value();
  for (const TensorSnapshot& snapshot : {TensorSnapshot("q", tensor), stored}) {
    const TensorSnapshot numbers = detail::dequantized(snapshot).value();
    EXPECT_EQ(numbers.dtype(), DType::f32);
    EXPECT_EQ(numbers.shape(), shape);
    EXPECT_EQ(numbers.full_path(), "q");
    EXPECT_TRUE(numbers.read().value().bytes().text() == expected);
    for (const std::uint64_t part : {4, 12, 100}) {
      EXPECT_TRUE(read_in_parts(numbers, part) == expected) << part;
    }
  }
}

TEST(DequantizedSource, HasTheElementsOfDequantizeForEveryScheme) {
  for (const QuantValue value : values) {
    for (const QuantStore store : stores) {
      const bool is_float =
          value == QuantValue::e5m2 || value == QuantValue::e4m3 || value == QuantValue::e2m1;
      if (is_float && store == QuantStore::native) continue;
      const QuantScheme whole = per_tensor(value, store);
      for (const Shape& shape : {Shape{}, Shape{1}, Shape{5, 7}, Shape{3, 2, 9}}) {
        expect_the_elements_of_dequantize(whole, shape);
      }
      for (const QuantParam param : params) {
        expect_the_elements_of_dequantize(with_tensor_scale(whole, param), {4, 6});
        const QuantScheme blocks = per_block(whole, block_of({2, 4}), param);
        expect_the_elements_of_dequantize(blocks, {5, 11});
        expect_the_elements_of_dequantize(blocks, {3, 4, 6});
        expect_the_elements_of_dequantize(with_tensor_scale(blocks, QuantParam::f32), {5, 11});
      }
    }
  }
}

TEST(DequantizedSource, SwapsThePackedDimensionBack) {
  for (const std::uint64_t packed : {1, 2}) {
    const QuantScheme whole = per_tensor(QuantValue::q4s, QuantStore::packed_u32, packed);
    expect_the_elements_of_dequantize(whole, {5, 6, 7});
    expect_the_elements_of_dequantize(per_block(whole, block_of({2, 3}), QuantParam::f16),
                                      {5, 6, 7});
  }
}

TEST(DequantizedSource, ReadsLinesThatAreLongerThanItsMemory) {
  expect_the_elements_of_dequantize(per_block(per_tensor(QuantValue::q2s, QuantStore::packed_u32),
                                              block_of({32}), QuantParam::f16),
                                    {2, 40'001});
}

TEST(DequantizedSource, AnEmptyTensorHasNoElements) {
  const Tensor empty = Tensor::qfloat({}, {0, 3}, Bytes::own(random_payload(4))).value();
  const TensorSnapshot numbers = detail::dequantized({"q", empty}).value();
  EXPECT_EQ(numbers.shape(), Shape({0, 3}));
  EXPECT_EQ(numbers.byte_size(), 0U);
}

TEST(DequantizedSource, FailsAsDequantizeDoes) {
  const QuantScheme lookup = {.mode = QuantMode::lookup};
  const Tensor tensor =
      Tensor::qfloat(lookup, {4}, Bytes::own(random_payload(size_of(lookup, {4})))).value();
  const Result<TensorSnapshot> numbers = detail::dequantized({"a.q", tensor});
  ASSERT_FALSE(numbers);
  EXPECT_EQ(numbers.error().code, ErrorCode::unsupported);
  EXPECT_EQ(numbers.error().tensor, "a.q");
}

TEST(DequantizedSource, PassesOnErrorsOfReading) {
  const QuantScheme scheme = per_block(per_tensor(QuantValue::q8s, QuantStore::packed_u32),
                                       block_of({4}), QuantParam::f32);
  const auto source = std::make_shared<TestSource>(random_payload(size_of(scheme, {2, 8})));
  const TensorSnapshot numbers =
      detail::dequantized(TensorSnapshot::from_source("q", source, 0, source->size(), DType::qfloat,
                                                      {2, 8}, quant_scheme_text(scheme))
                              .value())
          .value();
  source->fail_reads_past(10);
  const Result<Tensor> read = numbers.read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::io);
  EXPECT_EQ(read.error().tensor, "q");
}

}  // namespace
}  // namespace andiron::test
