// SPDX-License-Identifier: MIT OR Apache-2.0
// Normalization layers: their parameters and how they start.
#include "andiron/nn/norm.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/nn/module_places.h"
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

}  // namespace
}  // namespace andiron::nn
