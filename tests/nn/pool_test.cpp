// SPDX-License-Identifier: MIT OR Apache-2.0
// Pooling: windows, their padding and what is taken of them.
#include "andiron/nn/pool.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "andiron/nn/functions.h"
#include "tests/nn/numbers.h"

namespace andiron::nn {
namespace {

using test::counting;
using test::expect_error;
using test::expect_near;
using test::inf;
using test::nan;
using test::tensor_of;

const Tensor five = tensor_of({1, 1, 5}, {3, 1, 4, 1, 5});
const Tensor nine = counting({1, 1, 3, 3}, 1);

TEST(MaxPool, TakesTheLargestOfEachWindow) {
  expect_near(MaxPool1dConfig(2).init().forward(five), {1, 1, 2}, {3, 4});
  expect_near(MaxPool1dConfig(2).with_stride(1).init().forward(five), {1, 1, 4}, {3, 4, 4, 5});
  expect_near(MaxPool1dConfig(2).with_stride(1).with_dilation(2).init().forward(five), {1, 1, 3},
              {4, 1, 5});
  expect_near(MaxPool2dConfig({2, 2}).with_strides({1, 1}).init().forward(nine), {1, 1, 2, 2},
              {5, 6, 8, 9});
  expect_near(MaxPool2dConfig({3, 1}).init().forward(nine), {1, 1, 1, 3}, {7, 8, 9});
  expect_near(
      MaxPool2dConfig({2, 2}).with_stride({1, 1}).with_dilation({2, 1}).init().forward(nine),
      {1, 1, 1, 2}, {8, 9});
}

TEST(MaxPool, PaddingIsNeverTheLargest) {
  const Tensor negative = tensor_of({1, 1, 3}, {-3, -1, -2});
  const auto padded = [&](PaddingConfig1d padding) {
    return MaxPool1dConfig(2).with_stride(2).with_padding(padding).init().forward(negative);
  };
  expect_near(padded(PaddingConfig1d::explicit_(1, 1)), {1, 1, 2}, {-3, -1});
  expect_near(padded(PaddingConfig1d::explicit_(0, 1)), {1, 1, 2}, {-1, -2});
  expect_near(padded(PaddingConfig1d::same()), {1, 1, 2}, {-1, -2});
  expect_near(MaxPool2dConfig({3, 3})
                  .with_stride({1, 1})
                  .with_padding(PaddingConfig2d::same())
                  .init()
                  .forward(nine),
              {1, 1, 3, 3}, {5, 6, 6, 8, 9, 9, 8, 9, 9});
  // Dilated windows step over the border.
  expect_near(MaxPool1dConfig(3)
                  .with_stride(1)
                  .with_dilation(2)
                  .with_padding(PaddingConfig1d::explicit_(2, 2))
                  .init()
                  .forward(five),
              {1, 1, 5}, {4, 1, 5, 1, 5});
}

TEST(MaxPool, LastWindowMayReachOverTheEnd) {
  expect_near(MaxPool1dConfig(2).with_ceil_mode(true).init().forward(five), {1, 1, 3}, {3, 4, 5});
  expect_near(MaxPool2dConfig({2, 2}).with_ceil_mode(true).init().forward(nine), {1, 1, 2, 2},
              {5, 6, 8, 9});
  // A window that would begin in the padding is left out: at 4 of 3 + 1.
  expect_near(MaxPool1dConfig(2)
                  .with_stride(4)
                  .with_padding(PaddingConfig1d::explicit_(1, 1))
                  .with_ceil_mode(true)
                  .init()
                  .forward(counting({1, 1, 3}, 1)),
              {1, 1, 1}, {1});
}

TEST(MaxPool, KeepsNanAndInfinity) {
  const Tensor input = tensor_of({1, 1, 6}, {1, nan, inf, 2, -inf, -inf});
  expect_near(MaxPool1dConfig(2).init().forward(input), {1, 1, 3}, {nan, inf, -inf});
  // The order does not matter.
  expect_near(MaxPool1dConfig(2).init().forward(tensor_of({1, 1, 2}, {nan, 1})), {1, 1, 1}, {nan});
}

TEST(AvgPool, TakesTheMeanOfEachWindow) {
  expect_near(AvgPool1dConfig(2).init().forward(five), {1, 1, 2}, {2, 2.5});
  expect_near(AvgPool2dConfig({2, 2}).with_stride({1, 1}).init().forward(nine), {1, 1, 2, 2},
              {3, 4, 6, 7});
  expect_near(AvgPool2dConfig({1, 3}).init().forward(nine), {1, 1, 3, 1}, {2, 5, 8});
}

TEST(AvgPool, CountsPaddingIfAskedTo) {
  const Tensor input = counting({1, 1, 3}, 1);
  const AvgPool1dConfig config =
      AvgPool1dConfig(2).with_padding(PaddingConfig1d::explicit_(1, 1)).with_stride(1);
  expect_near(config.init().forward(input), {1, 1, 4}, {0.5, 1.5, 2.5, 1.5});
  expect_near(AvgPool1dConfig(config).with_count_include_pad(false).init().forward(input),
              {1, 1, 4}, {1, 1.5, 2.5, 3});
  const AvgPool2dConfig square =
      AvgPool2dConfig({2, 2}).with_padding(PaddingConfig2d::explicit_(1, 1, 0, 0));
  expect_near(square.init().forward(nine), {1, 1, 2, 2}, {0.25, 1.25, 2.75, 7});
  expect_near(AvgPool2dConfig(square).with_count_include_pad(false).init().forward(nine),
              {1, 1, 2, 2}, {1, 2.5, 5.5, 7});
}

TEST(AvgPool, LastWindowCountsWhatIsThere) {
  // The padding counts, what lies after it does not.
  expect_near(AvgPool1dConfig(2).with_ceil_mode(true).init().forward(five), {1, 1, 3}, {2, 2.5, 5});
  const AvgPool1dConfig padded = AvgPool1dConfig(4)
                                     .with_padding(PaddingConfig1d::explicit_(1, 1))
                                     .with_stride(2)
                                     .with_ceil_mode(true);
  expect_near(padded.init().forward(five), {1, 1, 3}, {2, 2.75, 2});
  expect_near(AvgPool1dConfig(padded).with_count_include_pad(false).init().forward(five), {1, 1, 3},
              {8.0 / 3, 2.75, 3});
}

TEST(AdaptivePool, DividesTheInput) {
  // Windows 0 to 2, 1 to 4, 3 to 5.
  expect_near(AdaptiveAvgPool1dConfig(3).init().forward(five), {1, 1, 3}, {2, 2, 3});
  expect_near(AdaptiveMaxPool1d{3}.forward(five), {1, 1, 3}, {3, 4, 5});
  expect_near(AdaptiveAvgPool1dConfig(1).init().forward(five), {1, 1, 1}, {2.8});
  // More windows than elements.
  expect_near(AdaptiveAvgPool1dConfig(4).init().forward(tensor_of({1, 1, 2}, {1, 3})), {1, 1, 4},
              {1, 1, 3, 3});
  expect_near(AdaptiveAvgPool2dConfig({1, 3}).init().forward(nine), {1, 1, 1, 3}, {4, 5, 6});
  expect_near(AdaptiveMaxPool2d{{2, 1}}.forward(nine), {1, 1, 2, 1}, {6, 9});
}

TEST(Pool, WorksOnEachChannelOfEachItem) {
  const Tensor input = counting({2, 2, 2}, 1);
  expect_near(MaxPool1dConfig(2).init().forward(input), {2, 2, 1}, {2, 4, 6, 8});
  expect_near(MaxPool1dConfig(2).init().forward(Tensor::zeros(DType::f32, {0, 2, 2})), {0, 2, 1},
              {});
}

TEST(Pool, KeepsDoublesAndWidensSmallFloats) {
  const Result<Tensor> exact =
      AvgPool1dConfig(2).init().forward(tensor_of<double>({1, 1, 2}, {1e9, 1.0 / 3}));
  EXPECT_EQ(exact.value().to_vector<double>().value()[0], (1e9 + 1.0 / 3) / 2);
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Result<Tensor> small = MaxPool1dConfig(2).init().forward(cast(five, dtype));
    EXPECT_EQ(small.value().dtype(), DType::f32);
    expect_near(small, {1, 1, 2}, {3, 4});
  }
}

TEST(Pool, RefusesInputsThatDoNotFit) {
  expect_error(MaxPool1dConfig(2).init().forward(nine), ErrorCode::shape_mismatch,
               {"MaxPool1d", "[1, 1, 3, 3]", "[batch, channels, length]"});
  expect_error(AvgPool2dConfig({2, 2}).init().forward(five), ErrorCode::shape_mismatch,
               {"AvgPool2d", "[1, 1, 5]", "[batch, channels, height, width]"});
  expect_error(AdaptiveAvgPool2dConfig({1, 1}).init().forward(five), ErrorCode::shape_mismatch,
               {"AdaptiveAvgPool2d", "[1, 1, 5]"});
  expect_error(AdaptiveMaxPool1d{1}.forward(nine), ErrorCode::shape_mismatch,
               {"AdaptiveMaxPool1d"});
  expect_error(MaxPool2dConfig({4, 1}).init().forward(nine), ErrorCode::shape_mismatch,
               {"MaxPool2d", "[1, 1, 3, 3]", "at least 4"});
  expect_error(AdaptiveAvgPool1dConfig(2).init().forward(Tensor::zeros(DType::f32, {1, 1, 0})),
               ErrorCode::shape_mismatch, {"AdaptiveAvgPool1d", "[1, 1, 0]"});
  expect_error(AvgPool1dConfig(2).init().forward(Tensor::zeros(DType::i64, {1, 1, 4})),
               ErrorCode::dtype_mismatch, {"i64"});
}

TEST(Pool, RefusesSettingsThatCannotBe) {
  for (const std::uint64_t size : {std::uint64_t{0}, test::huge_size, ~std::uint64_t{0}}) {
    expect_error(MaxPool1dConfig(size).init().forward(five), ErrorCode::invalid_argument,
                 {"MaxPool1d", "kernel"});
    expect_error(MaxPool1dConfig(2).with_stride(size).init().forward(five),
                 ErrorCode::invalid_argument, {"MaxPool1d", "stride"});
    expect_error(MaxPool1dConfig(2).with_dilation(size).init().forward(five),
                 ErrorCode::invalid_argument, {"MaxPool1d", "dilation"});
    expect_error(AvgPool2dConfig({2, size}).init().forward(nine), ErrorCode::invalid_argument,
                 {"AvgPool2d"});
    expect_error(AdaptiveAvgPool1dConfig(size).init().forward(five), ErrorCode::invalid_argument,
                 {"AdaptiveAvgPool1d"});
  }
  for (const std::uint64_t size : {std::uint64_t{2}, test::huge_size}) {
    expect_error(
        AvgPool1dConfig(3).with_padding(PaddingConfig1d::explicit_(0, size)).init().forward(five),
        ErrorCode::invalid_argument, {"AvgPool1d", "padding"});
  }
}

TEST(Pool, TakesTheLargestSettingsThereAre) {
  // A window of which only a small part is not padding.
  constexpr std::uint64_t large = std::uint64_t{1} << 30;
  const PaddingConfig1d half = PaddingConfig1d::explicit_(large / 2, large / 2);
  expect_near(MaxPool1dConfig(large).with_padding(half).init().forward(five), {1, 1, 1}, {5});
  const AvgPool1dConfig mean = AvgPool1dConfig(large).with_padding(half);
  expect_near(AvgPool1dConfig(mean).with_count_include_pad(false).init().forward(five), {1, 1, 1},
              {2.8});
}

}  // namespace
}  // namespace andiron::nn
