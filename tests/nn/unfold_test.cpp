// SPDX-License-Identifier: MIT OR Apache-2.0
// The windows of an image as columns.
#include "andiron/nn/unfold.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "andiron/nn/conv.h"
#include "andiron/nn/functions.h"
#include "tests/nn/numbers.h"

namespace andiron::nn {
namespace {

using test::counting;
using test::expect_error;
using test::expect_near;
using test::random_tensor;

TEST(Unfold4d, MakesAColumnOfEachWindow) {
  const Tensor image = counting({1, 1, 3, 3}, 1);
  const Unfold4dConfig config({2, 2});
  expect_near(config.init().forward(image), {1, 4, 4},
              {1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9});
  expect_near(Unfold4dConfig(config).with_stride({1, 2}).init().forward(image), {1, 4, 2},
              {1, 4, 2, 5, 4, 7, 5, 8});
  expect_near(Unfold4dConfig(config).with_dilation({2, 1}).init().forward(image), {1, 4, 2},
              {1, 2, 2, 3, 7, 8, 8, 9});
  expect_near(Unfold4dConfig({1, 2}).init().forward(counting({1, 2, 1, 2})), {1, 4, 1},
              {0, 1, 2, 3});
}

TEST(Unfold4d, PadsWithZeros) {
  const Tensor image = counting({1, 1, 1, 2}, 1);
  expect_near(Unfold4dConfig({1, 2}).with_padding({0, 1}).init().forward(image), {1, 2, 3},
              {0, 1, 2, 1, 2, 0});
  expect_near(Unfold4dConfig({2, 1}).with_padding({1, 0}).init().forward(image), {1, 2, 4},
              {0, 0, 1, 2, 1, 2, 0, 0});
}

TEST(Unfold4d, GivesConvolutionsAsProducts) {
  const Tensor image = random_tensor({2, 3, 6, 5}, 1);
  Conv2d conv = Conv2dConfig({3, 4}, {3, 2})
                    .with_stride({2, 1})
                    .with_dilation({1, 2})
                    .with_padding(PaddingConfig2d::explicit_(1, 2))
                    .with_bias(false)
                    .init();
  const Unfold4d unfold = {.kernel_size = conv.kernel_size,
                           .stride = conv.stride,
                           .dilation = conv.dilation,
                           .padding = {1, 2}};
  const Result<Tensor> columns = unfold.forward(image);
  const Result<Tensor> product = matmul(reshape(conv.weight.val(), {4, -1}), columns);
  expect_near(flatten(conv.forward(image), 2), product, 1e-5);
}

TEST(Unfold4d, KeepsDoublesAndWidensSmallFloats) {
  const Tensor image = counting<double>({1, 1, 2, 2}, 1.0 / 3);
  const Result<Tensor> exact = Unfold4dConfig({2, 2}).init().forward(image);
  EXPECT_EQ(exact.value().dtype(), DType::f64);
  EXPECT_EQ(exact.value().to_vector<double>().value()[0], 1.0 / 3);
  const Result<Tensor> small = Unfold4dConfig({2, 2}).init().forward(cast(image, DType::f16));
  EXPECT_EQ(small.value().dtype(), DType::f32);
  expect_near(Unfold4dConfig({1, 1}).init().forward(Tensor::zeros(DType::f32, {0, 1, 2, 2})),
              {0, 1, 4}, {});
}

TEST(Unfold4d, RefusesWhatDoesNotFit) {
  const Tensor image = counting({1, 1, 3, 3});
  expect_error(Unfold4d().forward(counting({1, 3, 3})), ErrorCode::shape_mismatch,
               {"Unfold4d", "[1, 3, 3]", "[batch, channels, height, width]"});
  expect_error(Unfold4dConfig({4, 1}).init().forward(image), ErrorCode::shape_mismatch,
               {"Unfold4d", "[1, 1, 3, 3]", "at least 4"});
  expect_error(Unfold4d().forward(Tensor::zeros(DType::u8, {1, 1, 3, 3})),
               ErrorCode::dtype_mismatch, {"u8"});
  for (const std::uint64_t size : {std::uint64_t{0}, test::huge_size, ~std::uint64_t{0}}) {
    for (const Unfold4d& unfold :
         {Unfold4d{.kernel_size = {1, size}}, Unfold4d{.stride = {size, 1}},
          Unfold4d{.dilation = {1, size}}}) {
      expect_error(unfold.forward(image), ErrorCode::invalid_argument, {"Unfold4d"});
    }
  }
  expect_error(Unfold4d{.padding = {test::huge_size, 0}}.forward(image),
               ErrorCode::invalid_argument, {"Unfold4d", "padding"});
}

TEST(Unfold4d, RefusesResultsThatCannotBe) {
  // 16 channels of 2^60 elements of the kernel are 2^64, which is none.
  constexpr std::uint64_t large = std::uint64_t{1} << 30;
  const Unfold4d unfold = {.kernel_size = {large, large}, .padding = {large / 2, large / 2}};
  EXPECT_FALSE(unfold.forward(counting({1, 16, 1, 1})).ok());
}

}  // namespace
}  // namespace andiron::nn
