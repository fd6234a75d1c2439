// SPDX-License-Identifier: MIT OR Apache-2.0
// The network of train.py as a C++ struct, and how PyTorch's checkpoint becomes one.
#pragma once

#include <andiron/andiron.h>

#include <cstdint>
#include <string>

struct Digits {
  andiron::nn::Conv2d conv1 = convolution(1, 16);
  andiron::nn::BatchNorm norm1 = andiron::nn::BatchNormConfig(16).init();
  andiron::nn::Conv2d conv2 = convolution(16, 32);
  andiron::nn::BatchNorm norm2 = andiron::nn::BatchNormConfig(32).init();
  andiron::nn::MaxPool2d pool = andiron::nn::MaxPool2dConfig({2, 2}).init();
  andiron::nn::Linear hidden = andiron::nn::LinearConfig(128, 32).init();
  andiron::nn::Linear output = andiron::nn::LinearConfig(32, 10).init();
  ANDIRON_MODULE(Digits, conv1, norm1, conv2, norm2, hidden, output)

  // [count, 1, 8, 8] becomes [count, 10]: one number for each digit, the largest for the likeliest.
  andiron::Result<andiron::Tensor> forward(const andiron::Result<andiron::Tensor>& images) const {
    using andiron::nn::relu;
    auto x = pool.forward(relu(norm1.forward(conv1.forward(images))));
    x = pool.forward(relu(norm2.forward(conv2.forward(x))));
    return output.forward(relu(hidden.forward(andiron::nn::flatten(x))));
  }

  static andiron::nn::Conv2d convolution(std::uint64_t in, std::uint64_t out) {
    return andiron::nn::Conv2dConfig({in, out}, {3, 3})
        .with_padding(andiron::nn::PaddingConfig2d::explicit_(1, 1))
        .with_bias(false)
        .init();
  }
};

// The settings that turn the file's names into those above. The rest PytorchStore does by itself:
// it transposes Linear weights, and the weight and bias of norms become gamma and beta.
inline andiron::PytorchStore checkpoint_store(const std::string& path) {
  return andiron::PytorchStore::from_file(path)
      .with_top_level_key("state_dict")        // beside it are an optimizer, a config, an epoch
      .with_key_remapping(R"(^module\.)", "")  // the prefix that DataParallel adds
      .with_key_remapping(R"(^features\.0)", "conv1")
      .with_key_remapping(R"(^features\.1)", "norm1")
      .with_key_remapping(R"(^features\.4)", "conv2")
      .with_key_remapping(R"(^features\.5)", "norm2")
      .with_key_remapping(R"(^classifier\.0)", "hidden")
      .with_key_remapping(R"(^classifier\.3)", "output");
}
