// SPDX-License-Identifier: MIT OR Apache-2.0
// The linear layer: its parameters and how it sits in a module.
#include "andiron/nn/linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/nn/module_places.h"
#include "tests/support/param_numbers.h"

namespace andiron::nn {
namespace {

using test::numbers;
using Places = std::vector<std::string>;

static_assert(std::is_aggregate_v<Linear>);

TEST(Linear, HasBurnsNamesAndLayout) {
  EXPECT_EQ(places_of(LinearConfig(3, 2).init()),
            (Places{"weight f32 [3, 2] in Struct:Linear", "bias f32 [2] in Struct:Linear"}));
}

TEST(Linear, HasNoBiasUnlessAskedFor) {
  const Linear linear = LinearConfig(3, 2).with_bias(false).init();
  EXPECT_FALSE(linear.bias.has_value());
  EXPECT_EQ(places_of(linear), Places{"weight f32 [3, 2] in Struct:Linear"});
}

TEST(Linear, DrawsNothingBeforeItIsNeeded) {
  const Linear linear = LinearConfig(3, 2).init();
  EXPECT_EQ(linear.weight.shape(), Shape({3, 2}));
  EXPECT_FALSE(places_of(linear).empty());
  EXPECT_FALSE(linear.weight.is_initialized());
  EXPECT_FALSE(linear.bias->is_initialized());
}

TEST(Linear, StartsUniformWithinTheRootOfItsInputs) {
  seed(42);
  const Linear linear = LinearConfig(16, 400).init();
  for (const Param* param : {&linear.weight, &*linear.bias}) {
    const std::vector<float> values = numbers(*param);
    const auto [min, max] = std::minmax_element(values.begin(), values.end());
    EXPECT_GE(*min, -0.25F);
    EXPECT_LT(*min, -0.24F);
    EXPECT_LE(*max, 0.25F);
    EXPECT_GT(*max, 0.24F);
  }
}

TEST(Linear, TakesAnInitializer) {
  const Linear linear = LinearConfig(1, 2).with_initializer(Initializer::constant(7)).init();
  EXPECT_EQ(linear.weight.at<float>({0, 1}).value(), 7.0F);
  EXPECT_EQ(linear.bias->at<float>({1}).value(), 7.0F);
}

TEST(Linear, GivesXavierBothFans) {
  seed(42);
  const Linear linear = LinearConfig(20, 4).with_initializer(Initializer::xavier_uniform(2)).init();
  const std::vector<float> values = numbers(linear.weight);
  for (float value : values) EXPECT_LE(std::abs(value), 1.0F);
  EXPECT_GT(*std::max_element(values.begin(), values.end()), 0.9F);
}

TEST(Linear, ReportsSizesThatCannotBeWhenTheNumbersAreNeeded) {
  const std::uint64_t huge = std::uint64_t{1} << 40;
  const Linear linear = LinearConfig(huge, huge).init();
  EXPECT_EQ(linear.weight.val().error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(LinearConfig(0, 2).init().bias->val().error().code, ErrorCode::invalid_argument);
}

TEST(Linear, ConfigsCanBeKeptAndReused) {
  auto config = LinearConfig(3, 2).with_bias(false);
  const Linear first = config.init();
  const Linear second = config.with_bias(true).init();
  EXPECT_FALSE(first.bias.has_value());
  EXPECT_TRUE(second.bias.has_value());
  EXPECT_NE(first.weight.id(), second.weight.id());
}

TEST(Linear, TakesAnyTensorWhenItWasNotConfigured) {
  const Linear linear;
  EXPECT_FALSE(linear.weight.is_set());
  EXPECT_FALSE(linear.bias.has_value());
}

struct Encoder {
  std::vector<Linear> layers;
  ANDIRON_MODULE(Encoder, layers)
};

struct LinearNet {
  Encoder encoder;
  Linear output;
  ANDIRON_MODULE(LinearNet, encoder, output)

  static LinearNet init() {
    return {{{LinearConfig(2, 3).init(), LinearConfig(3, 3).with_bias(false).init()}},
            LinearConfig(3, 1).init()};
  }
};

TEST(Linear, IsAFieldOfAModule) {
  EXPECT_EQ(
      places_of(LinearNet::init()),
      (Places{
          "encoder.layers.0.weight f32 [2, 3] in Struct:LinearNet.Struct:Encoder.Vec.Struct:Linear",
          "encoder.layers.0.bias f32 [3] in Struct:LinearNet.Struct:Encoder.Vec.Struct:Linear",
          "encoder.layers.1.weight f32 [3, 3] in Struct:LinearNet.Struct:Encoder.Vec.Struct:Linear",
          "output.weight f32 [3, 1] in Struct:LinearNet.Struct:Linear",
          "output.bias f32 [1] in Struct:LinearNet.Struct:Linear"}));
}

TEST(Linear, GivesTheSameModelForTheSameSeed) {
  seed(5);
  const LinearNet first = LinearNet::init();
  seed(5);
  const LinearNet second = LinearNet::init();
  EXPECT_EQ(numbers(first.output.weight), numbers(second.output.weight));
}

}  // namespace
}  // namespace andiron::nn
