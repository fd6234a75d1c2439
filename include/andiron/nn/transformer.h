// SPDX-License-Identifier: MIT OR Apache-2.0
// Transformers.
//
//   nn::TransformerEncoder encoder = nn::TransformerEncoderConfig(512, 2048, 8, 6)
//                                        .with_activation(nn::Activation::relu)  // PyTorch's
//                                        .init();
//   Result<Tensor> y = encoder.forward(x);   // [batch, length, 512]; link andiron::nn
//
// Parameters have Burn's names; the adapters for PyTorch know its own (self_attn.in_proj_weight,
// linear1, norm1 ...). Burn's activation is gelu by default, PyTorch's relu.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstdint>
#include <numbers>
#include <optional>
#include <string_view>
#include <vector>

#include "andiron/detail/builder.h"
#include "andiron/error.h"
#include "andiron/module.h"
#include "andiron/nn/activation.h"
#include "andiron/nn/attention.h"
#include "andiron/nn/initializer.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {
namespace nn {

/// linear_outer(activation(linear_inner(x)))
struct PositionWiseFeedForward {
  Linear linear_inner = {};
  Linear linear_outer = {};
  Activation activation = Activation::gelu;

  Result<Tensor> forward(const Result<Tensor>& input) const;
  /// Ours alone: PyTorch's rules must not take a user's struct of this name.
  static constexpr std::string_view module_kind() { return "nn.PositionWiseFeedForward"; }
  ANDIRON_MODULE(PositionWiseFeedForward, linear_inner, linear_outer)
};

/// Config of PositionWiseFeedForward. Builders return a named config by reference, a temporary by
/// value.
class PositionWiseFeedForwardConfig {
 public:
  PositionWiseFeedForwardConfig(std::uint64_t d_model, std::uint64_t d_ff)
      : d_model_(d_model), d_ff_(d_ff) {}

  /// Default: gelu.
  ANDIRON_BUILDER(PositionWiseFeedForwardConfig, with_activation, (Activation how),
                  activation_ = how)
  /// Default: uniform within 1 / sqrt(inputs).
  ANDIRON_BUILDER(PositionWiseFeedForwardConfig, with_initializer, (Initializer how),
                  initializer_ = how)

  PositionWiseFeedForward init() const;

 private:
  std::uint64_t d_model_;
  std::uint64_t d_ff_;
  Activation activation_ = Activation::gelu;
  Initializer initializer_ = Initializer::kaiming_uniform(std::numbers::inv_sqrt3);
};

/// One layer of an encoder. Norms come after attention and after the feed-forward layers, or before
/// them if norm_first.
///
/// As in Burn, norm_1 comes before the feed-forward layers and norm_2 before attention if
/// norm_first, which is the other way round in PyTorch. Its adapters exchange them.
struct TransformerEncoderLayer {
  MultiHeadAttention mha = {};
  PositionWiseFeedForward pwff = {};
  LayerNorm norm_1 = {};
  LayerNorm norm_2 = {};
  bool norm_first = false;

  Result<Tensor> forward(const Result<Tensor>& input, const AttentionMasks& masks = {}) const;
  /// The kind of module. Ours alone: PyTorch's rules must not take a user's struct of this name.
  std::string_view module_kind() const noexcept {
    return norm_first ? "nn.PreNormTransformerEncoderLayer" : "nn.TransformerEncoderLayer";
  }
  ANDIRON_MODULE(TransformerEncoderLayer, mha, pwff, norm_1, norm_2)
};

/// Layers in a row.
struct TransformerEncoder {
  std::vector<TransformerEncoderLayer> layers = {};
  std::optional<LayerNorm> norm = {};  ///< at the end; PyTorch has it on request, Burn never

  Result<Tensor> forward(const Result<Tensor>& input, const AttentionMasks& masks = {}) const;
  ANDIRON_MODULE(TransformerEncoder, layers, norm)
};

/// One layer of a decoder: attention to itself, then to the memory, then the feed-forward layers.
///
/// As in Burn, norm_3 comes before attention to itself, norm_1 before attention to the memory and
/// norm_2 before the feed-forward layers if norm_first. PyTorch's adapters exchange them.
struct TransformerDecoderLayer {
  MultiHeadAttention cross_attn = {};
  MultiHeadAttention self_attn = {};
  PositionWiseFeedForward pwff = {};
  LayerNorm norm_1 = {};
  LayerNorm norm_2 = {};
  LayerNorm norm_3 = {};
  bool norm_first = false;

  Result<Tensor> forward(const Result<Tensor>& target, const Result<Tensor>& memory,
                         const AttentionMasks& target_masks = {},
                         const AttentionMasks& memory_masks = {}) const;
  /// The same for a decoder.
  std::string_view module_kind() const noexcept {
    return norm_first ? "nn.PreNormTransformerDecoderLayer" : "nn.TransformerDecoderLayer";
  }
  ANDIRON_MODULE(TransformerDecoderLayer, cross_attn, self_attn, pwff, norm_1, norm_2, norm_3)
};

/// Layers in a row, all of which see the memory.
struct TransformerDecoder {
  std::vector<TransformerDecoderLayer> layers = {};
  std::optional<LayerNorm> norm = {};  ///< at the end

  Result<Tensor> forward(const Result<Tensor>& target, const Result<Tensor>& memory,
                         const AttentionMasks& target_masks = {},
                         const AttentionMasks& memory_masks = {}) const;
  ANDIRON_MODULE(TransformerDecoder, layers, norm)
};

/// The settings of both. Builders return a named config by reference, a temporary by value.
template <class Self>
class TransformerBuilder {
 public:
  /// Only for training, which is not done here. Default: 0.1.
  ANDIRON_BUILDER(Self, with_dropout, (double), )
  /// Whether norms come before attention and feed-forward layers. Default: false.
  ANDIRON_BUILDER(Self, with_norm_first, (bool first), norm_first_ = first)
  /// Whether there is a norm at the end. Default: false.
  ANDIRON_BUILDER(Self, with_final_norm, (bool norm), final_norm_ = norm)
  /// Default: false.
  ANDIRON_BUILDER(Self, with_quiet_softmax, (bool quiet), quiet_softmax_ = quiet)
  /// Default: uniform within 1 / sqrt(inputs).
  ANDIRON_BUILDER(Self, with_initializer, (Initializer initializer), initializer_ = initializer)
  /// Between the feed-forward layers. Default: gelu.
  ANDIRON_BUILDER(Self, with_activation, (Activation activation), activation_ = activation)
  /// Default: 1e-5.
  ANDIRON_BUILDER(Self, with_layer_norm_eps, (double epsilon), layer_norm_eps_ = epsilon)

 private:
  friend Self;
  TransformerBuilder(std::uint64_t d_model, std::uint64_t d_ff, std::uint64_t n_heads,
                     std::uint64_t n_layers)
      : d_model_(d_model), d_ff_(d_ff), n_heads_(n_heads), n_layers_(n_layers) {}
  MultiHeadAttention attention() const;
  PositionWiseFeedForward feed_forward() const;
  LayerNorm norm() const;

  std::uint64_t d_model_;
  std::uint64_t d_ff_;
  std::uint64_t n_heads_;
  std::uint64_t n_layers_;
  bool norm_first_ = false;
  bool final_norm_ = false;
  bool quiet_softmax_ = false;
  Initializer initializer_ = Initializer::kaiming_uniform(std::numbers::inv_sqrt3);
  Activation activation_ = Activation::gelu;
  double layer_norm_eps_ = 1e-5;
};

/// Config of TransformerEncoder.
class TransformerEncoderConfig : public TransformerBuilder<TransformerEncoderConfig> {
 public:
  TransformerEncoderConfig(std::uint64_t d_model, std::uint64_t d_ff, std::uint64_t n_heads,
                           std::uint64_t n_layers)
      : TransformerBuilder(d_model, d_ff, n_heads, n_layers) {}

  TransformerEncoder init() const;
};

/// Config of TransformerDecoder.
class TransformerDecoderConfig : public TransformerBuilder<TransformerDecoderConfig> {
 public:
  TransformerDecoderConfig(std::uint64_t d_model, std::uint64_t d_ff, std::uint64_t n_heads,
                           std::uint64_t n_layers)
      : TransformerBuilder(d_model, d_ff, n_heads, n_layers) {}

  TransformerDecoder init() const;
};

}  // namespace nn
}  // namespace andiron::inline v1
