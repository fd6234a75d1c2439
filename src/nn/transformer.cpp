// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/transformer_test.cpp
#include "andiron/nn/transformer.h"

namespace andiron::inline v1 {
namespace nn {

PositionWiseFeedForward PositionWiseFeedForwardConfig::init() const {
  return {.linear_inner = LinearConfig(d_model_, d_ff_).with_initializer(initializer_).init(),
          .linear_outer = LinearConfig(d_ff_, d_model_).with_initializer(initializer_).init(),
          .activation = activation_};
}

template <class Self>
MultiHeadAttention TransformerBuilder<Self>::attention() const {
  return MultiHeadAttentionConfig(d_model_, n_heads_)
      .with_initializer(initializer_)
      .with_quiet_softmax(quiet_softmax_)
      .init();
}

template <class Self>
PositionWiseFeedForward TransformerBuilder<Self>::feed_forward() const {
  return PositionWiseFeedForwardConfig(d_model_, d_ff_)
      .with_initializer(initializer_)
      .with_activation(activation_)
      .init();
}

template <class Self>
LayerNorm TransformerBuilder<Self>::norm() const {
  return LayerNormConfig(d_model_).with_epsilon(layer_norm_eps_).init();
}

TransformerEncoder TransformerEncoderConfig::init() const {
  TransformerEncoder encoder;
  for (std::uint64_t i = 0; i < n_layers_; ++i) {
    encoder.layers.push_back({.mha = attention(),
                              .pwff = feed_forward(),
                              .norm_1 = norm(),
                              .norm_2 = norm(),
                              .norm_first = norm_first_});
  }
  if (final_norm_) encoder.norm = norm();
  return encoder;
}

TransformerDecoder TransformerDecoderConfig::init() const {
  TransformerDecoder decoder;
  for (std::uint64_t i = 0; i < n_layers_; ++i) {
    decoder.layers.push_back({.cross_attn = attention(),
                              .self_attn = attention(),
                              .pwff = feed_forward(),
                              .norm_1 = norm(),
                              .norm_2 = norm(),
                              .norm_3 = norm(),
                              .norm_first = norm_first_});
  }
  if (final_norm_) decoder.norm = norm();
  return decoder;
}

}  // namespace nn
}  // namespace andiron::inline v1
