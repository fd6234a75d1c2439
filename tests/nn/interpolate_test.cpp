// SPDX-License-Identifier: MIT OR Apache-2.0
// Larger and smaller images.
#include "andiron/nn/interpolate.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "andiron/nn/functions.h"
#include "tests/nn/numbers.h"

namespace andiron::nn {
namespace {

using test::counting;
using test::expect_error;
using test::expect_near;
using test::nan;
using test::tensor_of;

const Tensor ramp = tensor_of({1, 1, 3}, {0, 6, 12});

Interpolate1dConfig length_of(std::uint64_t length, InterpolateMode mode, bool align) {
  return Interpolate1dConfig().with_output_size(length).with_mode(mode).with_align_corners(align);
}

TEST(Interpolate, TakesTheNearestBefore) {
  const auto nearest = [](std::uint64_t length) {
    return Interpolate1dConfig().with_output_size(length).init().forward(ramp);
  };
  expect_near(nearest(6), {1, 1, 6}, {0, 0, 6, 6, 12, 12});
  expect_near(nearest(4), {1, 1, 4}, {0, 0, 6, 12});
  expect_near(nearest(2), {1, 1, 2}, {0, 6});
  expect_near(nearest(1), {1, 1, 1}, {0});
  expect_near(Interpolate1dConfig().with_scale_factor(2).init().forward(ramp), nearest(6));
  // Sizes are rounded down, distances are not: 3 * 1.5 is 4.
  expect_near(Interpolate1dConfig().with_scale_factor(1.5F).init().forward(ramp), {1, 1, 4},
              {0, 0, 6, 12});
}

TEST(Interpolate, IsLinearBetweenElements) {
  expect_near(length_of(5, InterpolateMode::linear, true).init().forward(ramp), {1, 1, 5},
              {0, 3, 6, 9, 12});
  // Half an element is outside on each side.
  expect_near(length_of(6, InterpolateMode::linear, false).init().forward(ramp), {1, 1, 6},
              {0, 1.5, 4.5, 7.5, 10.5, 12});
  expect_near(length_of(1, InterpolateMode::linear, true).init().forward(ramp), {1, 1, 1}, {0});
  expect_near(length_of(1, InterpolateMode::linear, false).init().forward(ramp), {1, 1, 1}, {6});
  expect_near(Interpolate1dConfig()
                  .with_scale_factor(1.5F)
                  .with_mode(InterpolateMode::linear)
                  .with_align_corners(false)
                  .init()
                  .forward(ramp),
              {1, 1, 4}, {0, 3, 7, 11}, 1e-5);
}

TEST(Interpolate, IsCubicBetweenElements) {
  // Keys' weights at a half: -3/32, 19/32, 19/32, -3/32.
  const Tensor four = tensor_of({1, 1, 4}, {0, 32, 64, 0});
  expect_near(length_of(7, InterpolateMode::cubic, true).init().forward(four), {1, 1, 7},
              {0, 19 - 6, 32, 19 + 38, 64, 38 - 3, 0}, 1e-4);
  // Elements keep their value, and the border is repeated.
  expect_near(length_of(4, InterpolateMode::cubic, false).init().forward(four), {1, 1, 4},
              {0, 32, 64, 0}, 1e-4);
}

TEST(Interpolate, WorksInTwoDimensions) {
  const Tensor image = tensor_of({1, 1, 2, 2}, {0, 4, 8, 12});
  expect_near(Interpolate2dConfig().with_scale_factor({2, 1}).init().forward(image), {1, 1, 4, 2},
              {0, 4, 0, 4, 8, 12, 8, 12});
  expect_near(Interpolate2dConfig()
                  .with_output_size({3, 3})
                  .with_mode(InterpolateMode::linear)
                  .init()
                  .forward(image),
              {1, 1, 3, 3}, {0, 2, 4, 4, 6, 8, 8, 10, 12});
  expect_near(Interpolate2dConfig()
                  .with_output_size({2, 2})
                  .with_mode(InterpolateMode::cubic)
                  .init()
                  .forward(image),
              {1, 1, 2, 2}, {0, 4, 8, 12}, 1e-5);
  // Each channel of each item.
  expect_near(Interpolate2dConfig().with_output_size({1, 1}).init().forward(counting({2, 2, 2, 2})),
              {2, 2, 1, 1}, {0, 4, 8, 12});
  expect_near(Interpolate2dConfig().with_output_size({3, 3}).init().forward(
                  Tensor::zeros(DType::f32, {0, 2, 2, 2})),
              {0, 2, 3, 3}, {});
}

TEST(Interpolate, KeepsDoublesAndWidensSmallFloats) {
  const Result<Tensor> exact = length_of(3, InterpolateMode::linear, true)
                                   .init()
                                   .forward(tensor_of<double>({1, 1, 2}, {0, 1.0 / 3}));
  EXPECT_EQ(exact.value().dtype(), DType::f64);
  EXPECT_EQ(exact.value().to_vector<double>().value()[1], 1.0 / 6);
  const Interpolate1d same = length_of(3, InterpolateMode::nearest, true).init();
  EXPECT_EQ(same.forward(cast(ramp, DType::bf16)).value().dtype(), DType::f32);
  expect_near(same.forward(tensor_of({1, 1, 1}, {nan})), {1, 1, 3}, {nan, nan, nan});
}

TEST(Interpolate, RefusesWhatDoesNotFit) {
  const Interpolate1dConfig config = length_of(2, InterpolateMode::linear, true);
  expect_error(config.init().forward(counting({1, 1, 2, 2})), ErrorCode::shape_mismatch,
               {"Interpolate1d", "[1, 1, 2, 2]", "[batch, channels, length]"});
  expect_error(config.init().forward(Tensor::zeros(DType::f32, {1, 1, 0})),
               ErrorCode::shape_mismatch, {"Interpolate1d", "[1, 1, 0]"});
  for (const Shape& shape : {Shape({1, 1, 3}), Shape({1, 1, 0, 2}), Shape({1, 1, 2, 0})}) {
    expect_error(Interpolate2dConfig().with_output_size({1, 1}).init().forward(
                     Tensor::zeros(DType::f32, shape)),
                 ErrorCode::shape_mismatch, {"Interpolate2d", shape.to_string()});
  }
  expect_error(config.init().forward(Tensor::zeros(DType::i16, {1, 1, 2})),
               ErrorCode::dtype_mismatch, {"i16"});
}

TEST(Interpolate, NeedsOneSizeThatCanBe) {
  expect_error(Interpolate1d().forward(ramp), ErrorCode::invalid_argument,
               {"Interpolate1d", "neither"});
  expect_error(Interpolate1dConfig().with_output_size(2).with_scale_factor(2).init().forward(ramp),
               ErrorCode::invalid_argument, {"Interpolate1d", "one of them"});
  for (const std::uint64_t size : {std::uint64_t{0}, test::huge_size, ~std::uint64_t{0}}) {
    expect_error(Interpolate1dConfig().with_output_size(size).init().forward(ramp),
                 ErrorCode::invalid_argument, {"Interpolate1d"});
    expect_error(
        Interpolate2dConfig().with_output_size({1, size}).init().forward(counting({1, 1, 1, 1})),
        ErrorCode::invalid_argument, {"Interpolate2d"});
  }
  for (const float scale : {0.0F, -1.0F, 0.1F, 1e30F, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    expect_error(Interpolate1dConfig().with_scale_factor(scale).init().forward(ramp),
                 ErrorCode::invalid_argument, {"Interpolate1d"});
  }
}

}  // namespace
}  // namespace andiron::nn
