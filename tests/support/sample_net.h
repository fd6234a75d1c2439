// SPDX-License-Identifier: MIT OR Apache-2.0
// A small model for tests.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/apply.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "tests/support/module_fingerprint.h"

namespace andiron::test {

struct SampleBlock {
  nn::Linear linear;
  nn::LayerNorm norm;
  ANDIRON_MODULE(SampleBlock, linear, norm)
};

struct SampleNet {
  std::vector<SampleBlock> blocks;
  nn::Linear head;
  Param scale;
  Param steps;
  ANDIRON_MODULE(SampleNet, blocks, head, scale, steps)
};

// A leaf of its own type, which refuses numbers above 9999.
struct SampleBuffer {
  std::vector<float> values;
};

}  // namespace andiron::test

template <>
struct andiron::Leaf<andiron::test::SampleBuffer> {
  using Buffer = andiron::test::SampleBuffer;
  static LeafInfo info(const Buffer& buffer) { return {DType::f32, {buffer.values.size()}}; }
  static Result<Tensor> get(const Buffer& buffer) {
    return Tensor::from_values<float>({buffer.values.size()}, buffer.values);
  }
  static Result<Buffer> make(const Buffer&, const Tensor& tensor) {
    Result<std::vector<float>> values = tensor.to_vector<float>();
    if (!values) return std::move(values).error();
    for (const float value : *values) {
      if (value > 9999) return Error{.code = ErrorCode::invalid_argument, .message = "too large"};
    }
    return Buffer{*std::move(values)};
  }
};

namespace andiron::test {

// Everything else that can hold a tensor.
struct SampleHolders {
  std::variant<nn::Linear, SampleBlock> choice;
  Tensor plain;
  Param tied;
  Param tied_too;
  SampleBuffer buffer;
  ANDIRON_MODULE(SampleHolders, choice, plain, tied, tied_too, buffer)
};

inline Tensor f32(Shape shape, float first) {
  std::vector<float> values(shape.element_count().value());
  for (float& value : values) value = first++;
  return Tensor::from_values<float>(std::move(shape), values).value();
}

// Two blocks of 4 -> 4, a head of 4 -> 2 without bias, a float and an integer parameter. The
// numbers count up from `first`.
inline SampleNet sample_net(float first) {
  SampleNet net;
  for (int i = 0; i < 2; ++i) {
    SampleBlock& block = net.blocks.emplace_back();
    block.linear.weight = Param(f32({4, 4}, first));
    block.linear.bias = Param(f32({4}, first + 20));
    block.norm.gamma = Param(f32({4}, first + 30));
    block.norm.beta = Param(f32({4}, first + 40));
    first += 100;
  }
  net.head.weight = Param(f32({4, 2}, first));
  net.scale = Param(f32({}, first + 10));
  net.scale.set_requires_grad(false);
  net.steps = Param(Tensor::from_values<std::int64_t>({1}, {7}).value());
  return net;
}

inline SampleHolders sample_holders(float first) {
  SampleHolders holders;
  std::get<nn::Linear>(holders.choice).weight = Param(f32({2, 2}, first));
  holders.plain = f32({2}, first + 10);
  holders.tied = Param(f32({3}, first + 20));
  holders.buffer.values = {first + 30, first + 31};
  tie(holders.tied, holders.tied_too);
  return holders;
}

}  // namespace andiron::test
