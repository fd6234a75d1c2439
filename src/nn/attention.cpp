// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/attention_test.cpp
#include "andiron/nn/attention.h"

#include <cmath>

namespace andiron::inline v1 {
namespace nn {

MultiHeadAttention MultiHeadAttentionConfig::init() const {
  const LinearConfig linear =
      LinearConfig(d_model_, d_model_).with_bias(bias_).with_initializer(initializer_);
  return {.query = linear.init(),
          .key = linear.init(),
          .value = linear.init(),
          .output = linear.init(),
          .d_model = d_model_,
          .n_heads = n_heads_,
          .min_float = min_float_,
          .quiet_softmax = quiet_};
}

CrossAttention CrossAttentionConfig::init() const {
  const auto linear = [&](std::uint64_t in, std::uint64_t out) {
    const double gain = 1 / std::sqrt(static_cast<double>(d_head_));
    return LinearConfig(in, out)
        .with_bias(bias_)
        .with_initializer(Initializer::kaiming_uniform(gain))
        .init();
  };
  return {.query = linear(d_model_, n_heads_ * d_head_),
          .key = linear(d_context_, n_heads_kv_ * d_head_),
          .value = linear(d_context_, n_heads_kv_ * d_head_),
          .output = linear(n_heads_ * d_head_, d_model_),
          .n_heads = n_heads_,
          .n_heads_kv = n_heads_kv_,
          .d_head = d_head_,
          .min_float = min_float_,
          .quiet_softmax = quiet_};
}

}  // namespace nn
}  // namespace andiron::inline v1
