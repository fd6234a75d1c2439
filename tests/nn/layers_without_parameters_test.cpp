// SPDX-License-Identifier: MIT OR Apache-2.0
// Layers that save nothing: dropout and activations.
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "andiron/nn/activation.h"
#include "andiron/nn/linear.h"
#include "tests/nn/module_places.h"

namespace andiron::nn {
namespace {

static_assert(std::is_same_v<Relu, ReLU>);

TEST(Dropout, KeepsItsProbability) { EXPECT_EQ(DropoutConfig(0.3).init().prob, 0.3); }

struct Block {
  Linear linear;
  Relu activation;
  Dropout dropout;
  ANDIRON_MODULE(Block, linear, activation, dropout)
};

TEST(LayersWithoutParameters, CanBeListedAndSaveNothing) {
  const Block block = {LinearConfig(2, 3).with_bias(false).init(), {}, DropoutConfig(0.1).init()};
  EXPECT_EQ(places_of(block),
            std::vector<std::string>{"linear.weight f32 [2, 3] in Struct:Block.Struct:Linear"});
  EXPECT_EQ(places_of(Relu{}), std::vector<std::string>{});
}

}  // namespace
}  // namespace andiron::nn
