// SPDX-License-Identifier: MIT OR Apache-2.0
// Attention.
//
//   nn::MultiHeadAttention attention = nn::MultiHeadAttentionConfig(512, 8).init();
//   Result<Tensor> y = attention.forward(x, {.causal = true});   // [batch, length, 512]
//
// Everything here returns f32 or f64 as its input (f16 and bf16 are widened to f32). It returns an
// input that is an error, and fails with ShapeMismatch if shapes do not fit, and with the errors of
// val(). Link andiron::nn.
//
// PyTorch keeps the three projections of its MultiheadAttention in one tensor, in_proj_weight. Its
// adapters cut and join them.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "andiron/detail/builder.h"
#include "andiron/error.h"
#include "andiron/module.h"
#include "andiron/nn/initializer.h"
#include "andiron/nn/linear.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {
namespace nn {

/// Which keys a query must not see.
struct AttentionMasks {
  std::optional<Tensor> pad = {};  ///< bool [batch, keys]; true: this key is padding
  std::optional<Tensor> attn =
      {};  ///< bool [batch, queries, keys] or [queries, keys]; true: hidden
  /// A query sees the keys up to its own position. Both are counted from 0, as in PyTorch, also
  /// where there are more keys than queries.
  bool causal = false;
};

/// How attention is computed.
struct AttentionOptions {
  AttentionMasks masks = {};
  std::optional<double> scale = {};  ///< of the scores. Default: 1 / sqrt(d_head)
  double min_float = -1e4;           ///< the score of what is hidden
  bool quiet_softmax = false;        ///< see nn::quiet_softmax()
};

/// softmax(query * key^T * scale) * value, for each head. Takes [batch, heads, queries, d_head] and
/// twice [batch, key heads, keys, d_head]; the heads must be a multiple of the key heads, which
/// then serve several (grouped heads). Returns [batch, heads, queries, d_head].
Result<Tensor> scaled_dot_product_attention(const Result<Tensor>& query, const Result<Tensor>& key,
                                            const Result<Tensor>& value,
                                            const AttentionOptions& options = {});

/// Splits the last dimension of [batch, length, heads * d_head] into heads, and returns
/// [batch, heads, length, d_head].
Result<Tensor> split_heads(const Result<Tensor>& input, std::uint64_t heads);
/// The way back.
Result<Tensor> join_heads(const Result<Tensor>& input);

/// The mask of causal attention, bool [batch, length, length]: true above the diagonal.
Result<Tensor> generate_autoregressive_mask(std::uint64_t batch, std::uint64_t length);

/// Token lists of different lengths in one tensor.
struct PaddedTokens {
  Tensor tensor;  ///< i64 [batch, length]
  Tensor mask;    ///< bool [batch, length]; true: padding
};
/// Fills the lists up with `pad_token`, up to the longest, and cuts them at `max_length`.
Result<PaddedTokens> generate_padding_mask(std::int64_t pad_token,
                                           std::span<const std::vector<std::int64_t>> tokens,
                                           std::optional<std::uint64_t> max_length = {});

/// What MultiHeadAttention takes, where query, key and value differ or its weights are wanted.
struct MhaInput {
  Tensor query;  ///< [batch, queries, d_model]
  Tensor key;    ///< [batch, keys, d_model]
  Tensor value;  ///< [batch, keys, d_model]
  AttentionMasks masks = {};

  static MhaInput self_attn(const Tensor& tensor) { return {tensor, tensor, tensor}; }
};
/// What it returns then.
struct MhaOutput {
  Tensor weights;  ///< [batch, heads, queries, keys]
  Tensor context;  ///< [batch, queries, d_model]
};

/// Attention with several heads.
struct MultiHeadAttention {
  Linear query = {};
  Linear key = {};
  Linear value = {};
  Linear output = {};
  std::uint64_t d_model = 0;
  std::uint64_t n_heads = 1;
  double min_float = -1e4;
  bool quiet_softmax = false;

  /// Attention of a sequence to itself.
  Result<Tensor> forward(const Result<Tensor>& input, const AttentionMasks& masks = {}) const {
    return forward(input, input, input, masks);
  }
  Result<Tensor> forward(const Result<Tensor>& query, const Result<Tensor>& key,
                         const Result<Tensor>& value, const AttentionMasks& masks = {}) const;
  /// The same with the weights, which cost memory.
  Result<MhaOutput> forward(const MhaInput& input) const;
  /// Ours alone: PyTorch's rules must not take a user's struct of this name.
  static constexpr std::string_view module_kind() { return "nn.MultiHeadAttention"; }
  ANDIRON_MODULE(MultiHeadAttention, query, key, value, output)
};

/// Config of MultiHeadAttention. Builders return a named config by reference, a temporary by value.
class MultiHeadAttentionConfig {
 public:
  MultiHeadAttentionConfig(std::uint64_t d_model, std::uint64_t n_heads)
      : d_model_(d_model), n_heads_(n_heads) {}

  /// Of the projections. Default: true.
  ANDIRON_BUILDER(MultiHeadAttentionConfig, with_bias, (bool bias), bias_ = bias)
  /// Only for training, which is not done here. Default: 0.1.
  ANDIRON_BUILDER(MultiHeadAttentionConfig, with_dropout, (double), )
  /// The score of what a mask hides. Default: -1e4.
  ANDIRON_BUILDER(MultiHeadAttentionConfig, with_min_float, (double min), min_float_ = min)
  /// Default: false.
  ANDIRON_BUILDER(MultiHeadAttentionConfig, with_quiet_softmax, (bool quiet), quiet_ = quiet)
  /// For all projections. Default: uniform within 1 / sqrt(d_model).
  ANDIRON_BUILDER(MultiHeadAttentionConfig, with_initializer, (Initializer how), initializer_ = how)

  /// Never fails. If the heads do not divide d_model, forward() fails with InvalidArgument.
  MultiHeadAttention init() const;

 private:
  std::uint64_t d_model_;
  std::uint64_t n_heads_;
  bool bias_ = true;
  double min_float_ = -1e4;
  bool quiet_ = false;
  Initializer initializer_ = Initializer::kaiming_uniform(std::numbers::inv_sqrt3);
};

/// Attention of one sequence to another of another width, with grouped heads.
struct CrossAttention {
  Linear query = {};
  Linear key = {};
  Linear value = {};
  Linear output = {};
  std::uint64_t n_heads = 1;
  std::uint64_t n_heads_kv = 1;
  std::uint64_t d_head = 0;
  double min_float = -1e4;
  bool quiet_softmax = false;

  /// Takes [batch, queries, d_model] and [batch, keys, d_context].
  Result<Tensor> forward(const Result<Tensor>& query, const Result<Tensor>& context,
                         const AttentionMasks& masks = {}) const;
  ANDIRON_MODULE(CrossAttention, query, key, value, output)
};

/// Config of CrossAttention. Builders return a named config by reference, a temporary by value.
class CrossAttentionConfig {
 public:
  CrossAttentionConfig(std::uint64_t d_model, std::uint64_t d_context, std::uint64_t n_heads,
                       std::uint64_t n_heads_kv, std::uint64_t d_head)
      : d_model_(d_model),
        d_context_(d_context),
        n_heads_(n_heads),
        n_heads_kv_(n_heads_kv),
        d_head_(d_head) {}

  /// Of the projections. Default: true.
  ANDIRON_BUILDER(CrossAttentionConfig, with_bias, (bool bias), bias_ = bias)
  /// Only for training, which is not done here. Default: 0.1.
  ANDIRON_BUILDER(CrossAttentionConfig, with_dropout, (double), )
  /// The score of what a mask hides. Default: -1e4.
  ANDIRON_BUILDER(CrossAttentionConfig, with_min_float, (double min), min_float_ = min)
  /// Default: false.
  ANDIRON_BUILDER(CrossAttentionConfig, with_quiet_softmax, (bool quiet), quiet_ = quiet)

  /// Never fails. If n_heads is not a multiple of n_heads_kv, forward() fails with InvalidArgument.
  CrossAttention init() const;

 private:
  std::uint64_t d_model_;
  std::uint64_t d_context_;
  std::uint64_t n_heads_;
  std::uint64_t n_heads_kv_;
  std::uint64_t d_head_;
  bool bias_ = true;
  double min_float_ = -1e4;
  bool quiet_ = false;
};

}  // namespace nn
}  // namespace andiron::inline v1
