// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodings of positions.
#include "andiron/nn/encoding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "andiron/nn/functions.h"
#include "tests/nn/numbers.h"

namespace andiron::nn {
namespace {

using test::counting;
using test::expect_error;
using test::expect_near;
using test::filled;
using test::nan;
using test::random_tensor;
using test::tensor_of;
using test::Values;

TEST(PositionalEncoding, AddsSinesAndCosines) {
  // Wavelengths 1 and 100 times 2 pi.
  const PositionalEncoding encoding = PositionalEncodingConfig(4).init();
  Values expected;
  for (const double position : {0.0, 1.0, 2.0}) {
    expected.insert(expected.end(), {1 + std::sin(position), 1 + std::cos(position),
                                     1 + std::sin(position / 100), 1 + std::cos(position / 100)});
  }
  expect_near(encoding.forward(filled({1, 3, 4}, 1)), {1, 3, 4}, expected);
  // Each item of a batch gets the same.
  const Result<Tensor> both = encoding.forward(filled({2, 3, 4}, 1));
  expect_near(slice(both, 0, 1, 2), {1, 3, 4}, expected);
  const PositionalEncoding short_waves =
      PositionalEncodingConfig(4).with_max_sequence_size(4).with_max_timescale(16).init();
  expect_near(short_waves.forward(filled({1, 2, 4}, 0)), {1, 2, 4},
              {0, 1, 0, 1, std::sin(1), std::cos(1), std::sin(0.25), std::cos(0.25)});
}

TEST(PositionalEncoding, RefusesWhatDoesNotFit) {
  const PositionalEncoding encoding = PositionalEncodingConfig(4).with_max_sequence_size(2).init();
  expect_error(encoding.forward(counting({1, 3, 4})), ErrorCode::shape_mismatch,
               {"PositionalEncoding", "[1, 3, 4]", "at most 2"});
  expect_error(encoding.forward(counting({1, 2, 6})), ErrorCode::shape_mismatch,
               {"[1, 2, 6]", "4]"});
  expect_error(encoding.forward(counting({2, 4})), ErrorCode::shape_mismatch, {"[2, 4]"});
  expect_error(encoding.forward(Tensor::zeros(DType::i64, {1, 2, 4})), ErrorCode::dtype_mismatch,
               {"i64"});
  expect_error(PositionalEncodingConfig(3).init().forward(counting({1, 2, 3})),
               ErrorCode::invalid_argument, {"PositionalEncoding", "d_model 3"});
  expect_error(
      PositionalEncodingConfig(2).with_max_timescale(10).init().forward(counting({1, 2, 2})),
      ErrorCode::invalid_argument, {"max_timescale 10"});
  expect_error(PositionalEncodingConfig(test::huge_size).init().forward(counting({1, 2, 2})),
               ErrorCode::shape_mismatch);
}

TEST(RotaryEncoding, TurnsNeighbors) {
  // Steps of 1 and 1 / sqrt(theta).
  const RotaryEncoding rotary = RotaryEncodingConfig(8, 4).with_theta(100).init();
  const Tensor input = tensor_of({2, 4}, {1, 2, 3, 4, 1, 2, 3, 4});
  const auto turned = [](double position) {
    const double c = std::cos(position);
    const double s = std::sin(position);
    const double c10 = std::cos(position / 10);
    const double s10 = std::sin(position / 10);
    return Values{c - 2 * s, 2 * c + s, 3 * c10 - 4 * s10, 4 * c10 + 3 * s10};
  };
  Values expected = turned(0);
  const Values at_one = turned(1);
  expected.insert(expected.end(), at_one.begin(), at_one.end());
  expect_near(rotary.forward(input), {2, 4}, expected);
  // As a sequence that is continued.
  expect_near(rotary.apply(slice(input, 0, 0, 1), 1), {1, 4}, at_one);
  expect_near(rotary.apply(slice(input, 0, 0, 1), 5), {1, 4}, turned(5));
}

TEST(RotaryEncoding, TurnsHalves) {
  const RotaryEncoding rotary =
      RotaryEncodingConfig(8, 4).with_theta(100).with_pairs(RotaryPairs::halves).init();
  const double c = std::cos(3);
  const double s = std::sin(3);
  const double c10 = std::cos(0.3);
  const double s10 = std::sin(0.3);
  expect_near(rotary.apply(tensor_of({1, 4}, {1, 3, 2, 4}), 3), {1, 4},
              {c - 2 * s, 3 * c10 - 4 * s10, 2 * c + s, 4 * c10 + 3 * s10});
}

TEST(RotaryEncoding, TurnsEachSequenceOfAStack) {
  const RotaryEncoding rotary = RotaryEncodingConfig(5, 6).init();
  const Tensor input = random_tensor({2, 3, 4, 6}, 1);
  const Result<Tensor> whole = rotary.apply(input, 1);
  ASSERT_EQ(whole.value().shape(), input.shape());
  const Result<Tensor> one = slice(slice(input, 0, 1, 2), 1, 2, 3);
  expect_near(slice(slice(whole, 0, 1, 2), 1, 2, 3), rotary.apply(one, 1));
  // Turning keeps the length of each pair.
  expect_near(nn::sum(multiply(whole, whole), -1), nn::sum(multiply(input, input), -1), 1e-5);
  // Both ends of what is continued are the same as of the whole.
  const Result<Tensor> start = rotary.forward(slice(input, 2, 0, 2));
  const Result<Tensor> rest = rotary.apply(slice(input, 2, 2), 2);
  expect_near(concat({start, rest}, 2), rotary.forward(input));
}

TEST(RotaryEncoding, KeepsDoublesAndWidensSmallFloats) {
  const RotaryEncoding rotary = RotaryEncodingConfig(8, 2).init();
  const Result<Tensor> exact = rotary.apply(tensor_of<double>({1, 2}, {1.0 / 3, 0}), 1);
  EXPECT_EQ(exact.value().dtype(), DType::f64);
  expect_near(exact, {1, 2}, {std::cos(1) / 3, std::sin(1) / 3}, 1e-15);
  EXPECT_EQ(rotary.forward(cast(counting({2, 2}), DType::f16)).value().dtype(), DType::f32);
  expect_near(rotary.forward(Tensor::zeros(DType::f32, {0, 3, 2})), {0, 3, 2}, {});
}

TEST(RotaryEncoding, RefusesWhatDoesNotFit) {
  const RotaryEncoding rotary = RotaryEncodingConfig(4, 2).init();
  const Tensor input = counting({3, 2});
  EXPECT_TRUE(rotary.apply(input, 1).ok());
  expect_error(rotary.apply(input, 2), ErrorCode::shape_mismatch,
               {"RotaryEncoding", "[3, 2]", "at most 4 from 2"});
  for (const std::uint64_t start : {test::huge_size, ~std::uint64_t{0}, ~std::uint64_t{0} - 1}) {
    expect_error(rotary.apply(input, start), ErrorCode::shape_mismatch);
  }
  expect_error(rotary.forward(counting({3, 4})), ErrorCode::shape_mismatch, {"[3, 4]", "2]"});
  expect_error(rotary.forward(counting({2})), ErrorCode::shape_mismatch, {"[2]"});
  expect_error(rotary.forward(Tensor::zeros(DType::i64, {3, 2})), ErrorCode::dtype_mismatch);
  expect_error(RotaryEncodingConfig(4, 3).init().forward(counting({1, 3})),
               ErrorCode::invalid_argument, {"RotaryEncoding", "d_model 3"});
  for (const double theta : {0.0, -1.0, nan}) {
    expect_error(RotaryEncodingConfig(4, 2).with_theta(theta).init().forward(input),
                 ErrorCode::invalid_argument, {"theta"});
  }
}

}  // namespace
}  // namespace andiron::nn
