// SPDX-License-Identifier: MIT OR Apache-2.0
// Normalization layers: their parameters, how they start and what they compute.
#include "andiron/nn/norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "andiron/nn/functions.h"
#include "tests/nn/module_places.h"
#include "tests/nn/numbers.h"
#include "tests/support/param_numbers.h"

namespace andiron::nn {
namespace {

using test::numbers;
using Places = std::vector<std::string>;

static_assert(std::is_aggregate_v<BatchNorm> && std::is_aggregate_v<LayerNorm>);
static_assert(std::is_aggregate_v<GroupNorm> && std::is_aggregate_v<InstanceNorm>);
static_assert(std::is_aggregate_v<RmsNorm>);

const std::vector<float> two_ones = {1, 1};
const std::vector<float> two_zeros = {0, 0};

TEST(BatchNorm, HasBurnsNames) {
  EXPECT_EQ(places_of(BatchNormConfig(2).init()),
            (Places{"gamma f32 [2] in Struct:BatchNorm", "beta f32 [2] in Struct:BatchNorm",
                    "running_mean f32 [2] in Struct:BatchNorm",
                    "running_var f32 [2] in Struct:BatchNorm"}));
}

TEST(BatchNorm, StartsAsTheIdentityAndLazily) {
  const BatchNorm norm = BatchNormConfig(2).init();
  for (const Param* param : {&norm.gamma, &norm.beta, &norm.running_mean, &norm.running_var}) {
    EXPECT_FALSE(param->is_initialized());
  }
  EXPECT_EQ(numbers(norm.gamma), two_ones);
  EXPECT_EQ(numbers(norm.beta), two_zeros);
  EXPECT_EQ(numbers(norm.running_mean), two_zeros);
  EXPECT_EQ(numbers(norm.running_var), two_ones);
}

TEST(BatchNorm, DoesNotTrainItsStatistics) {
  const BatchNorm norm = BatchNormConfig(2).init();
  EXPECT_TRUE(norm.gamma.requires_grad());
  EXPECT_TRUE(norm.beta.requires_grad());
  EXPECT_FALSE(norm.running_mean.requires_grad());
  EXPECT_FALSE(norm.running_var.requires_grad());
}

TEST(BatchNorm, KeepsItsSettings) {
  EXPECT_EQ(BatchNormConfig(2).init().epsilon, 1e-5);
  EXPECT_EQ(BatchNormConfig(2).init().momentum, 0.1);
  const BatchNorm norm = BatchNormConfig(2).with_epsilon(1e-3).with_momentum(0.2).init();
  EXPECT_EQ(norm.epsilon, 1e-3);
  EXPECT_EQ(norm.momentum, 0.2);
}

TEST(LayerNorm, HasBurnsNames) {
  const LayerNorm norm = LayerNormConfig(2).init();
  EXPECT_EQ(places_of(norm),
            (Places{"gamma f32 [2] in Struct:LayerNorm", "beta f32 [2] in Struct:LayerNorm"}));
  EXPECT_EQ(norm.epsilon, 1e-5);
  EXPECT_EQ(numbers(norm.gamma), two_ones);
  EXPECT_EQ(numbers(*norm.beta), two_zeros);
}

TEST(LayerNorm, CanGoWithoutBeta) {
  const LayerNorm norm = LayerNormConfig(2).with_epsilon(1e-6).with_bias(false).init();
  EXPECT_EQ(places_of(norm), Places{"gamma f32 [2] in Struct:LayerNorm"});
  EXPECT_EQ(norm.epsilon, 1e-6);
}

TEST(GroupNorm, HasBurnsNames) {
  const GroupNorm norm = GroupNormConfig(1, 2).with_epsilon(1e-6).init();
  EXPECT_EQ(places_of(norm),
            (Places{"gamma f32 [2] in Struct:GroupNorm", "beta f32 [2] in Struct:GroupNorm"}));
  EXPECT_FALSE(norm.gamma->is_initialized());
  EXPECT_EQ(norm.num_groups, 1U);
  EXPECT_EQ(norm.num_channels, 2U);
  EXPECT_EQ(norm.epsilon, 1e-6);
  EXPECT_TRUE(norm.affine);
  EXPECT_EQ(numbers(*norm.gamma), two_ones);
  EXPECT_EQ(numbers(*norm.beta), two_zeros);
}

TEST(GroupNorm, CanGoWithoutParameters) {
  const GroupNorm norm = GroupNormConfig(1, 2).with_affine(false).init();
  EXPECT_EQ(places_of(norm), Places{});
  EXPECT_FALSE(norm.affine);
}

TEST(GroupNorm, RefusesGroupsThatDoNotDivideTheChannels) {
  for (const GroupNorm& norm : {GroupNormConfig(3, 4).init(), GroupNormConfig(0, 4).init()}) {
    EXPECT_EQ(norm.gamma->val().error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(norm.beta->val().error().code, ErrorCode::invalid_argument);
  }
  EXPECT_EQ(GroupNormConfig(3, 4).init().gamma->val().error().found, "4 channels, 3 groups");
}

TEST(InstanceNorm, HasBurnsNames) {
  const InstanceNorm norm = InstanceNormConfig(2).with_epsilon(1e-6).init();
  EXPECT_EQ(places_of(norm), (Places{"gamma f32 [2] in Struct:InstanceNorm",
                                     "beta f32 [2] in Struct:InstanceNorm"}));
  EXPECT_EQ(norm.num_channels, 2U);
  EXPECT_EQ(norm.epsilon, 1e-6);
  EXPECT_EQ(numbers(*norm.gamma), two_ones);
  EXPECT_EQ(numbers(*norm.beta), two_zeros);
}

TEST(InstanceNorm, CanGoWithoutParameters) {
  const InstanceNorm norm = InstanceNormConfig(2).with_affine(false).init();
  EXPECT_EQ(places_of(norm), Places{});
  EXPECT_FALSE(norm.affine);
}

TEST(RmsNorm, HasBurnsNames) {
  const RmsNorm norm = RmsNormConfig(2).with_epsilon(1e-6).init();
  EXPECT_EQ(places_of(norm), Places{"gamma f32 [2] in Struct:RmsNorm"});
  EXPECT_EQ(norm.epsilon, 1e-6);
  EXPECT_FALSE(norm.gamma.is_initialized());
  EXPECT_EQ(numbers(norm.gamma), two_ones);
}

TEST(RmsNorm, RefusesAnEpsilonThatDoesNotHelp) {
  for (double epsilon : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(RmsNormConfig(2).with_epsilon(epsilon).init().gamma.val().error().code,
              ErrorCode::invalid_argument);
  }
}

// --- what they compute ---

using test::counting;
using test::expect_error;
using test::expect_near;
using test::expect_same;
using test::nan;
using test::random_tensor;
using test::tensor_of;
using test::vector_of;

BatchNorm batch_norm() {
  return {.gamma = Param(vector_of({2, 1})),
          .beta = Param(vector_of({1, 0})),
          .running_mean = Param(vector_of({1, 2})),
          .running_var = Param(vector_of({4, 1})),
          .epsilon = 0};
}

TEST(BatchNorm, UsesItsRunningStatistics) {
  expect_near(batch_norm().forward(tensor_of({1, 2, 2}, {1, 3, 2, 5})), {1, 2, 2}, {1, 3, 0, 3});
  expect_near(batch_norm().forward(tensor_of({2, 2}, {1, 2, 3, 5})), {2, 2}, {1, 0, 3, 3});
  expect_near(batch_norm().forward(counting({1, 2, 1, 1, 2})), {1, 2, 1, 1, 2}, {0, 1, 0, 1});
  expect_near(batch_norm().forward(Tensor::zeros(DType::f32, {0, 2, 3})), {0, 2, 3}, {});
  BatchNorm norm = batch_norm();
  norm.epsilon = 12;
  expect_near(norm.forward(tensor_of({1, 2}, {3, 2})), {1, 2}, {2, 0});
}

TEST(LayerNorm, NormalizesTheLastDimensions) {
  const LayerNorm norm = {
      .gamma = Param(vector_of({2, 3})), .beta = Param(vector_of({10, 20})), .epsilon = 0};
  expect_near(norm.forward(tensor_of({2, 2}, {1, 3, 7, 5})), {2, 2}, {8, 23, 12, 17});
  expect_near(norm.forward(vector_of({1, 3})), {2}, {8, 23});
  const LayerNorm plain = {.gamma = Param(vector_of({2, 3})), .epsilon = 0};
  expect_near(plain.forward(vector_of({1, 3})), {2}, {-2, 3});
  // Over two: the mean is 2.5, the variance 1.25.
  const LayerNorm wide = {.gamma = Param(tensor_of({2, 2}, {1, 1, 1, 2})), .epsilon = 0};
  const double unit = 1 / std::sqrt(1.25);
  expect_near(wide.forward(counting({1, 2, 2}, 1)), {1, 2, 2},
              {-1.5 * unit, -0.5 * unit, 0.5 * unit, 3 * unit});
  EXPECT_EQ(LayerNormConfig(Shape{2, 3}).init().beta->shape(), Shape({2, 3}));
  const LayerNorm large = {.gamma = Param(vector_of({1, 1})), .epsilon = 3};
  expect_near(large.forward(vector_of({1, 3})), {2}, {-0.5, 0.5});
}

TEST(LayerNorm, StaysExactFarFromZero) {
  const LayerNorm norm = LayerNormConfig(4).with_epsilon(0).init();
  const double unit = 1 / std::sqrt(1.25);
  expect_near(norm.forward(counting({4}, 1e6)), {4},
              {-1.5 * unit, -0.5 * unit, 0.5 * unit, 1.5 * unit}, 1e-5);
}

TEST(GroupNorm, NormalizesGroupsOfChannels) {
  GroupNorm norm = GroupNormConfig(1, 2).with_epsilon(0).init();
  norm.gamma = Param(vector_of({1, 2}));
  norm.beta = Param(vector_of({0, 1}));
  const Tensor input = tensor_of({1, 2, 2}, {1, 3, 5, 7});
  const double unit = 1 / std::sqrt(5);
  expect_near(norm.forward(input), {1, 2, 2}, {-3 * unit, -unit, 2 * unit + 1, 6 * unit + 1});
  norm.num_groups = 2;
  expect_near(norm.forward(input), {1, 2, 2}, {-1, 1, -1, 3});
  const GroupNorm plain = GroupNormConfig(2, 2).with_affine(false).with_epsilon(0).init();
  expect_near(plain.forward(tensor_of({2, 2, 2}, {1, 3, 5, 7, 9, 5, 0, 8})), {2, 2, 2},
              {-1, 1, -1, 1, 1, -1, -1, 1});
}

TEST(InstanceNorm, NormalizesEachChannel) {
  InstanceNorm norm = InstanceNormConfig(2).with_epsilon(0).init();
  const Tensor input = tensor_of({2, 2, 2}, {1, 3, 5, 7, 9, 5, 0, 8});
  expect_near(norm.forward(input), {2, 2, 2}, {-1, 1, -1, 1, 1, -1, -1, 1});
  norm.gamma = Param(vector_of({1, 3}));
  norm.beta = Param(vector_of({5, 0}));
  expect_near(norm.forward(input), {2, 2, 2}, {4, 6, -3, 3, 6, 4, -3, 3});
}

TEST(RmsNorm, DividesByTheRootMeanSquare) {
  const RmsNorm norm = {.gamma = Param(vector_of({1, 2})), .epsilon = 0};
  const double root = std::sqrt(12.5);
  expect_near(norm.forward(tensor_of({2, 2}, {3, 4, -3, 4})), {2, 2},
              {3 / root, 8 / root, -3 / root, 8 / root});
  const RmsNorm large = {.gamma = Param(vector_of({1, 1})), .epsilon = 12.5};
  expect_near(large.forward(vector_of({3, 4})), {2}, {0.6, 0.8});
}

TEST(Norms, KeepDoublesAndWidenSmallFloats) {
  const Tensor input = random_tensor({2, 4, 3}, 1);
  const LayerNorm norm = {.gamma = Param(random_tensor({3}, 2)),
                          .beta = Param(vector_of({1, 2, 3}))};
  const Result<Tensor> exact = norm.forward(cast(input, DType::f64));
  EXPECT_EQ(exact.value().dtype(), DType::f64);
  expect_near(norm.forward(input), exact, 1e-5);
  const Result<Tensor> one_third = RmsNorm{.gamma = Param(vector_of({1})), .epsilon = 0}.forward(
      tensor_of<double>({1}, {1.0 / 3}));
  expect_near(one_third, {1}, {1}, 1e-15);
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Tensor small = cast(random_tensor({3}, 2), dtype).value();
    const LayerNorm stored = {.gamma = Param(small)};
    const LayerNorm widened = {.gamma = Param(cast(small, DType::f32).value())};
    expect_same(stored.forward(input), widened.forward(input));
    EXPECT_EQ(stored.forward(cast(input, dtype)).value().dtype(), DType::f32);
  }
}

TEST(Norms, KeepNanToItsOwnGroup) {
  const Tensor input = tensor_of({2, 2}, {nan, 1, 1, 3});
  const LayerNorm layer = LayerNormConfig(2).with_epsilon(0).init();
  expect_near(layer.forward(input), {2, 2}, {nan, nan, -1, 1});
  expect_near(RmsNorm{.gamma = Param(vector_of({1, 1})), .epsilon = 0}.forward(input), {2, 2},
              {nan, nan, 1 / std::sqrt(5), 3 / std::sqrt(5)});
  const GroupNorm group = GroupNormConfig(1, 2).with_epsilon(0).init();
  expect_near(group.forward(input), {2, 2}, {nan, nan, -1, 1});
}

TEST(Norms, RefuseInputsThatDoNotFit) {
  const Tensor input = counting({2, 3, 4});
  expect_error(BatchNormConfig(4).init().forward(input), ErrorCode::shape_mismatch,
               {"BatchNorm", "[2, 3, 4]", "[batch, 4, ...]"});
  expect_error(BatchNormConfig(4).init().forward(counting({4})), ErrorCode::shape_mismatch,
               {"BatchNorm", "[4]"});
  expect_error(LayerNormConfig(3).init().forward(input), ErrorCode::shape_mismatch,
               {"LayerNorm", "[2, 3, 4]", "[3]"});
  expect_error(LayerNormConfig(Shape{1, 2, 3, 4}).init().forward(input), ErrorCode::shape_mismatch,
               {"LayerNorm", "[1, 2, 3, 4]"});
  expect_error(GroupNormConfig(2, 4).init().forward(input), ErrorCode::shape_mismatch,
               {"GroupNorm", "[2, 3, 4]", "[batch, 4, ...]"});
  expect_error(InstanceNormConfig(4).init().forward(input), ErrorCode::shape_mismatch,
               {"InstanceNorm", "[2, 3, 4]"});
  expect_error(RmsNormConfig(3).init().forward(input), ErrorCode::shape_mismatch,
               {"RmsNorm", "[2, 3, 4]", "[3]"});
  expect_error(RmsNormConfig(1).init().forward(tensor_of({}, {1})), ErrorCode::shape_mismatch);
  expect_error(LayerNormConfig(4).init().forward(Tensor::zeros(DType::i32, {4})),
               ErrorCode::dtype_mismatch, {"i32"});
}

TEST(Norms, RefuseParametersThatDoNotFit) {
  const Tensor input = counting({1, 2});
  BatchNorm batch = batch_norm();
  batch.beta = Param(vector_of({1}));
  expect_error(batch.forward(input), ErrorCode::shape_mismatch,
               {"BatchNorm", "beta", "[1]", "[2]"});
  batch.beta = Param();
  expect_error(batch.forward(input), ErrorCode::missing_tensor);
  expect_error(BatchNorm().forward(input), ErrorCode::missing_tensor);
  expect_error(LayerNorm().forward(input), ErrorCode::missing_tensor);
  expect_error(RmsNorm().forward(input), ErrorCode::missing_tensor);
  const LayerNorm layer = {.gamma = Param(vector_of({1, 1})), .beta = Param(vector_of({1}))};
  expect_error(layer.forward(input), ErrorCode::shape_mismatch,
               {"LayerNorm", "beta", "[1]", "[2]"});
  GroupNorm group = GroupNormConfig(1, 2).init();
  group.gamma = Param(vector_of({1, 2, 3}));
  expect_error(group.forward(input), ErrorCode::shape_mismatch, {"GroupNorm", "gamma", "[3]"});
  group.gamma = Param();
  expect_error(group.forward(input), ErrorCode::missing_tensor);
}

TEST(Norms, RefuseSettingsThatCannotBe) {
  for (const std::uint64_t groups : {std::uint64_t{0}, std::uint64_t{3}, test::huge_size}) {
    for (const bool affine : {false, true}) {
      expect_error(GroupNormConfig(groups, 4).with_affine(affine).init().forward(counting({1, 4})),
                   ErrorCode::invalid_argument, {"groups"});
    }
  }
  expect_error(RmsNormConfig(2).with_epsilon(0).init().forward(counting({2})),
               ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace andiron::nn
