// SPDX-License-Identifier: MIT OR Apache-2.0
// Forward passes when memory is short. With plain loops: oneDNN allocates on its own threads, where
// a failure ends the process.
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
void sweep_layer(const std::string& name, const Layer& layer, const Tensor& input) {
  sweep(name, [&] { return layer.forward(input); }, elements_of);
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
