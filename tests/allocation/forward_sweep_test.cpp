// SPDX-License-Identifier: MIT OR Apache-2.0
// Forward passes when memory is short, on this thread: on oneDNN's own nothing fails.
#include <gtest/gtest.h>

#include <string>

#include "andiron/andiron.h"
#include "src/nn/forward/plain_loops.h"
#include "tests/allocation/sweep.h"
#include "tests/support/sample_net.h"

namespace andiron::test {
namespace {

std::string elements_of(const Result<Tensor>& tensor) {
  return tensor->shape().to_string() + std::string(tensor->bytes().text());
}

template <class Layer>
void sweep_layer(const std::string& name, const Layer& layer, const Tensor& input,
                 const Surroundings& around = {}) {
  sweep(name, [&] { return layer.forward(input); }, elements_of, around);
}

TEST(ForwardSweep, LayersOfImages) {
  const nn::plain::Only only;
  const Tensor image = f32({1, 4, 8, 8}, 1);
  sweep_layer("Conv2d", nn::Conv2dConfig({4, 6}, {3, 3}).init(), image);
  sweep_layer("ConvTranspose2d", nn::ConvTranspose2dConfig({4, 6}, {2, 2}).init(), image);
  sweep_layer("BatchNorm", nn::BatchNormConfig(4).init(), image);
  sweep_layer("GroupNorm", nn::GroupNormConfig(2, 4).init(), image);
  sweep_layer("MaxPool2d", nn::MaxPool2dConfig({2, 2}).init(), image);
  sweep_layer("a channel too many", nn::Conv2dConfig({5, 6}, {3, 3}).init(), image);
}

TEST(ForwardSweep, LayersOfSequences) {
  const nn::plain::Only only;
  const Tensor sequence = f32({2, 5, 8}, 1);
  sweep_layer("Linear", nn::LinearConfig(8, 3).init(), sequence);
  sweep_layer("LayerNorm", nn::LayerNormConfig(8).init(), sequence);
  sweep_layer("Lstm", nn::LstmConfig(8, 4).init(), sequence);
  sweep_layer("Gru", nn::GruConfig(8, 4).init(), sequence);
  const auto attention = nn::MultiHeadAttentionConfig(8, 2).init();
  sweep(
      "MultiHeadAttention", [&] { return attention.forward(sequence, sequence, sequence); },
      elements_of);
}

// Where oneDNN has no memory, plain loops take its place. They add in another order, which whole
// numbers hide.
TEST(ForwardSweep, LayersWithOneDnn) {
  const Surroundings around = {.may_leak = true};
  const Tensor image = f32({1, 4, 8, 8}, 1);
  auto convolution = nn::Conv2dConfig({4, 6}, {3, 3}).init();
  convolution.weight = Param(f32({6, 4, 3, 3}, -50));
  convolution.bias = Param(f32({6}, 1));
  sweep_layer("Conv2d", convolution, image, around);
  auto transposed = nn::ConvTranspose2dConfig({4, 6}, {2, 2}).init();
  transposed.weight = Param(f32({4, 6, 2, 2}, -50));
  transposed.bias = Param(f32({6}, 1));
  sweep_layer("ConvTranspose2d", transposed, image, around);
  auto linear = nn::LinearConfig(8, 3).init();
  linear.weight = Param(f32({8, 3}, -10));
  linear.bias = Param(f32({3}, 1));
  sweep_layer("Linear", linear, f32({2, 5, 8}, 1), around);
}

TEST(ForwardSweep, Functions) {
  const nn::plain::Only only;
  const Tensor tensor = f32({2, 6}, 1);
  sweep("softmax", [&] { return nn::softmax(tensor); }, elements_of);
  sweep("add", [&] { return nn::add(tensor, tensor); }, elements_of);
  sweep("concat", [&] { return nn::concat({tensor, tensor}, 0); }, elements_of);
  sweep("permute", [&] { return nn::permute(tensor, {1, 0}); }, elements_of);
}

}  // namespace
}  // namespace andiron::test
