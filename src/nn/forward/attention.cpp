// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/attention_test.cpp
#include "andiron/nn/attention.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "andiron/nn/functions.h"
#include "src/nn/forward/operand.h"
#include "src/nn/forward/parallel.h"
#include "src/nn/forward/product.h"
#include "src/nn/forward/softmax.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

// Where the rows of each head are: [batch, heads, length, d_head], or [batch, length, heads,
// d_head].
struct HeadLayout {
  std::size_t batch;
  std::size_t heads;
  std::size_t length;
  std::size_t d_head;
  bool heads_first;

  std::size_t row_stride() const { return heads_first ? d_head : heads * d_head; }
  std::size_t offset(std::size_t item, std::size_t head) const {
    return heads_first ? (item * heads + head) * length * d_head
                       : (item * length * heads + head) * d_head;
  }
};

template <class T>
struct Heads {
  const T* data;
  HeadLayout layout;
};

// A mask of bools, by item, query and key.
class Mask {
 public:
  // Fails with ShapeMismatch or DTypeMismatch.
  static Result<Mask> of(std::string_view layer, const AttentionMasks& masks, std::size_t batch,
                         std::size_t queries, std::size_t keys) {
    Mask mask(masks.causal, queries, keys);
    if (masks.pad) {
      ANDIRON_TRY(check(layer, "pad", *masks.pad, {Shape({batch, keys})}));
      mask.pad_ = *masks.pad;
    }
    if (masks.attn) {
      const Shape shared({queries, keys});
      ANDIRON_TRY(check(layer, "attn", *masks.attn, {Shape({batch, queries, keys}), shared}));
      mask.attn_ = *masks.attn;
      mask.is_shared_ = masks.attn->shape() == shared;
    }
    return mask;
  }

  // Gives what is hidden from a query the score `hidden`.
  template <class T>
  void apply(std::size_t item, std::size_t query, T* scores, T hidden) const {
    if (is_causal_) {
      for (std::size_t key = query + 1; key < keys_; ++key) scores[key] = hidden;
    }
    if (pad_) fill(*pad_, item * keys_, scores, hidden);
    if (attn_) fill(*attn_, ((is_shared_ ? 0 : item) * queries_ + query) * keys_, scores, hidden);
  }

 private:
  Mask(bool is_causal, std::size_t queries, std::size_t keys)
      : is_causal_(is_causal), queries_(queries), keys_(keys) {}

  static Status check(std::string_view layer, std::string_view name, const Tensor& mask,
                      std::initializer_list<Shape> shapes) {
    if (mask.dtype() != DType::boolean) {
      return Error{.code = ErrorCode::dtype_mismatch,
                   .message = std::string(layer) + ": the mask '" + std::string(name) +
                              "' does not have bools",
                   .found = mask.dtype_text(),
                   .expected = "bool; true hides"};
    }
    if (std::find(shapes.begin(), shapes.end(), mask.shape()) != shapes.end()) return {};
    return shape_error(layer, "the mask '" + std::string(name) + "' does not fit the input",
                       mask.shape(), shapes.begin()->to_string());
  }

  template <class T>
  void fill(const Tensor& mask, std::size_t from, T* scores, T hidden) const {
    const std::byte* const flags = mask.bytes().data() + from;
    for (std::size_t key = 0; key < keys_; ++key) {
      if (flags[key] != std::byte{0}) scores[key] = hidden;
    }
  }

  bool is_causal_;
  bool is_shared_ = false;
  std::size_t queries_;
  std::size_t keys_;
  std::optional<Tensor> pad_;
  std::optional<Tensor> attn_;
};

struct Settings {
  double scale;
  double min_float;
  bool quiet_softmax;
};

// Writes the context of each query to `out`, and the weights to `weights` unless that is nullptr.
template <class T>
Status attend(const Heads<T>& query, const Heads<T>& key, const Heads<T>& value, const Mask& mask,
              Settings settings, T* out, T* weights) {
  const std::size_t heads = query.layout.heads;
  const std::size_t queries = query.layout.length;
  const std::size_t d_head = query.layout.d_head;
  const std::size_t keys = key.layout.length;
  const std::size_t served = heads / key.layout.heads;
  HeadLayout out_layout = query.layout;
  out_layout.d_head = value.layout.d_head;
  const SoftmaxKind kind = settings.quiet_softmax ? SoftmaxKind::quiet : SoftmaxKind::plain;
  std::atomic<bool> has_failed = false;
  parallel_for(
      query.layout.batch * heads, row_grain(queries * keys * d_head),
      [&](std::size_t begin, std::size_t end) {
        Result<NewTensor<T>> memory = NewTensor<T>::of({queries, weights == nullptr ? keys : 0});
        if (!memory) {
          has_failed = true;
          return;
        }
        for (std::size_t i = begin; i < end; ++i) {
          const std::size_t item = i / heads;
          const std::size_t head = i % heads;
          T* const scores = weights == nullptr ? memory->data() : weights + i * queries * keys;
          multiply(
              {queries, keys, d_head},
              {query.data + query.layout.offset(item, head), query.layout.row_stride()},
              {key.data + key.layout.offset(item, head / served), key.layout.row_stride(), true},
              {scores, keys});
          for (std::size_t q = 0; q < queries; ++q) {
            T* const row = scores + q * keys;
            apply_to_all(Elementwise::scale,
                         ElementwiseSettings<T>{static_cast<T>(settings.scale), T{0}}, row, row,
                         keys);
            mask.apply(item, q, row, static_cast<T>(settings.min_float));
            softmax_line(kind, row, row, keys);
          }
          multiply(
              {queries, out_layout.d_head, keys}, {scores, keys},
              {value.data + value.layout.offset(item, head / served), value.layout.row_stride()},
              {out + out_layout.offset(item, head), out_layout.row_stride()});
        }
      });
  if (has_failed) return detail::out_of_memory();
  return {};
}

template <class T>
Result<Tensor> attend_to_heads(const Operand<T>& q, const Tensor& key, const Tensor& value,
                               const AttentionOptions& options) {
  constexpr std::string_view name = "scaled_dot_product_attention";
  ANDIRON_ASSIGN(const Operand<T> k, Operand<T>::of(name, key));
  ANDIRON_ASSIGN(const Operand<T> v, Operand<T>::of(name, value));
  if (q.rank() != 4) {
    return shape_error(name, "the query has another rank", q.shape(),
                       "[batch, heads, queries, d_head]");
  }
  if (k.rank() != 4 || k.dim(0) != q.dim(0) || k.dim(3) != q.dim(3) || k.dim(1) == 0 ||
      q.dim(1) % k.dim(1) != 0 || k.dim(2) == 0) {
    return shape_error(name, "the key does not fit the query " + q.shape().to_string(), k.shape(),
                       "[batch, heads or a divisor of them, keys, d_head]");
  }
  if (v.rank() != 4 || v.dim(0) != k.dim(0) || v.dim(1) != k.dim(1) || v.dim(2) != k.dim(2)) {
    return shape_error(name, "the value does not fit the key " + k.shape().to_string(), v.shape(),
                       "as the key, but for the last dimension");
  }
  ANDIRON_ASSIGN(const Mask mask, Mask::of(name, options.masks, q.dim(0), q.dim(2), k.dim(2)));
  ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of({q.dim(0), q.dim(1), q.dim(2), v.dim(3)}));
  const auto heads_of = [](const Operand<T>& x) {
    return Heads<T>{x.data(), {x.dim(0), x.dim(1), x.dim(2), x.dim(3), true}};
  };
  const double scale = options.scale.value_or(
      1 / std::sqrt(static_cast<double>(std::max<std::size_t>(q.dim(3), 1))));
  ANDIRON_TRY(attend<T>(heads_of(q), heads_of(k), heads_of(v), mask,
                        {scale, options.min_float, options.quiet_softmax}, out.data(), nullptr));
  return std::move(out).take();
}

// What MultiHeadAttention and CrossAttention share.
struct Projections {
  std::string_view layer;
  const Linear& query;
  const Linear& key;
  const Linear& value;
  const Linear& output;
  std::uint64_t heads;
  std::uint64_t key_heads;
  double min_float;
  bool quiet_softmax;
};

template <class T>
Result<MhaOutput> attend_after_projection(const Projections& layer, const Operand<T>& q,
                                          const Tensor& key, const Tensor& value,
                                          const AttentionMasks& masks, bool wants_weights) {
  ANDIRON_ASSIGN(const Operand<T> k, Operand<T>::of(layer.layer, key));
  ANDIRON_ASSIGN(const Operand<T> v, Operand<T>::of(layer.layer, value));
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3 || k.dim(0) != q.dim(0) ||
      v.dim(0) != q.dim(0) || v.dim(1) != k.dim(1) || k.dim(1) == 0) {
    return shape_error(layer.layer, "query, key and value do not fit each other", q.shape(),
                       "[batch, length, width], for the key " + k.shape().to_string() +
                           " and the value " + v.shape().to_string());
  }
  // Any number divides a width of 0.
  if (layer.heads == 0 || layer.heads > std::max<std::uint64_t>(q.dim(2), 1) ||
      layer.key_heads == 0 || layer.heads % layer.key_heads != 0 || q.dim(2) % layer.heads != 0 ||
      k.dim(2) % layer.key_heads != 0 || v.dim(2) % layer.key_heads != 0 ||
      q.dim(2) / layer.heads != k.dim(2) / layer.key_heads) {
    return argument_error(layer.layer, "the projections cannot be divided into heads",
                          std::to_string(layer.heads) + " heads and " +
                              std::to_string(layer.key_heads) + " of keys for widths of " +
                              std::to_string(q.dim(2)) + " and " + std::to_string(k.dim(2)),
                          "heads that divide the width, and a multiple of the heads of keys");
  }
  ANDIRON_ASSIGN(const Mask mask, Mask::of(layer.layer, masks, q.dim(0), q.dim(1), k.dim(1)));
  const auto heads_of = [](const Operand<T>& x, std::uint64_t count) {
    const auto heads = static_cast<std::size_t>(count);
    return Heads<T>{x.data(), {x.dim(0), heads, x.dim(1), x.dim(2) / heads, false}};
  };
  const Heads<T> queries = heads_of(q, layer.heads);
  const Heads<T> values = heads_of(v, layer.key_heads);
  ANDIRON_ASSIGN(NewTensor<T> out,
                 NewTensor<T>::of({q.dim(0), q.dim(1), layer.heads * values.layout.d_head}));
  ANDIRON_ASSIGN(NewTensor<T> weights,
                 NewTensor<T>::of({q.dim(0), wants_weights ? layer.heads : 0, q.dim(1), k.dim(1)}));
  const double scale =
      1 / std::sqrt(static_cast<double>(std::max<std::size_t>(queries.layout.d_head, 1)));
  ANDIRON_TRY(attend<T>(queries, heads_of(k, layer.key_heads), values, mask,
                        {scale, layer.min_float, layer.quiet_softmax}, out.data(),
                        wants_weights ? weights.data() : nullptr));
  ANDIRON_ASSIGN(Tensor context, layer.output.forward(std::move(out).take()));
  return MhaOutput{std::move(weights).take(), std::move(context)};
}

Result<MhaOutput> project_and_attend(const Projections& layer, const Result<Tensor>& query,
                                     const Result<Tensor>& key, const Result<Tensor>& value,
                                     const AttentionMasks& masks, bool wants_weights) {
  for (const Result<Tensor>* input : {&query, &key, &value}) {
    if (!*input) return input->error();
  }
  for (const Result<Tensor>* input : {&query, &key, &value}) {
    if ((*input)->shape().rank() != 3) {
      return shape_error(layer.layer, "an input has another rank", (*input)->shape(),
                         "[batch, length, width]");
    }
  }
  const Result<Tensor> q = layer.query.forward(query);
  if (!q) return q.error();
  ANDIRON_ASSIGN(const Tensor k, layer.key.forward(key));
  ANDIRON_ASSIGN(const Tensor v, layer.value.forward(value));
  return compute_with(layer.layer, q, [&](const auto& operand) {
    return attend_after_projection(layer, operand, k, v, masks, wants_weights);
  });
}

Projections projections_of(const MultiHeadAttention& layer) {
  return {"MultiHeadAttention", layer.query,   layer.key,       layer.value,        layer.output,
          layer.n_heads,        layer.n_heads, layer.min_float, layer.quiet_softmax};
}

}  // namespace

Result<Tensor> scaled_dot_product_attention(const Result<Tensor>& query, const Result<Tensor>& key,
                                            const Result<Tensor>& value,
                                            const AttentionOptions& options) ANDIRON_NO_THROW {
  for (const Result<Tensor>* input : {&query, &key, &value}) {
    if (!*input) return input->error();
  }
  return compute_with("scaled_dot_product_attention", query,
                      [&](const auto& q) { return attend_to_heads(q, *key, *value, options); });
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> split_heads(const Result<Tensor>& input, std::uint64_t heads) ANDIRON_NO_THROW {
  if (!input) return input.error();
  const Shape& shape = input->shape();
  if (shape.rank() != 3 || heads == 0 || shape[2] % heads != 0) {
    return shape_error("split_heads", "the input cannot be divided into heads", shape,
                       "[batch, length, a multiple of " + std::to_string(heads) + "]");
  }
  const auto as_signed = [](std::uint64_t size) { return static_cast<std::int64_t>(size); };
  return swap_dims(reshape(input, {as_signed(shape[0]), as_signed(shape[1]), as_signed(heads),
                                   as_signed(shape[2] / heads)}),
                   1, 2);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> join_heads(const Result<Tensor>& input) ANDIRON_NO_THROW {
  if (!input) return input.error();
  if (input->shape().rank() != 4) {
    return shape_error("join_heads", "the input has another rank", input->shape(),
                       "[batch, heads, length, d_head]");
  }
  return flatten(swap_dims(input, 1, 2), 2);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> generate_autoregressive_mask(std::uint64_t batch, std::uint64_t length)
    ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(Tensor mask, Tensor::zeros(DType::boolean, {batch, length, length}));
  ANDIRON_ASSIGN(const std::span<std::byte> flags, mask.mutable_bytes());
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (i % length > i / length % length) flags[i] = std::byte{1};
  }
  return mask;
}
ANDIRON_OR_OUT_OF_MEMORY

Result<PaddedTokens> generate_padding_mask(std::int64_t pad_token,
                                           std::span<const std::vector<std::int64_t>> tokens,
                                           std::optional<std::uint64_t> max_length)
    ANDIRON_NO_THROW {
  std::size_t length = 0;
  for (const std::vector<std::int64_t>& list : tokens) length = std::max(length, list.size());
  if (max_length) length = std::min(length, static_cast<std::size_t>(*max_length));
  ANDIRON_ASSIGN(NewTensor<std::int64_t> padded,
                 NewTensor<std::int64_t>::of({tokens.size(), length}));
  ANDIRON_ASSIGN(Tensor mask, Tensor::zeros(DType::boolean, {tokens.size(), length}));
  ANDIRON_ASSIGN(const std::span<std::byte> flags, mask.mutable_bytes());
  std::size_t at = 0;
  for (const std::vector<std::int64_t>& list : tokens) {
    for (std::size_t i = 0; i < length; ++i, ++at) {
      padded.data()[at] = i < list.size() ? list[i] : pad_token;
      // A token that looks like padding is hidden, as in Burn.
      if (padded.data()[at] == pad_token) flags[at] = std::byte{1};
    }
  }
  return PaddedTokens{std::move(padded).take(), std::move(mask)};
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> MultiHeadAttention::forward(const Result<Tensor>& query_input,
                                           const Result<Tensor>& key_input,
                                           const Result<Tensor>& value_input,
                                           const AttentionMasks& masks) const ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(MhaOutput result, project_and_attend(projections_of(*this), query_input, key_input,
                                                      value_input, masks, false));
  return std::move(result.context);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<MhaOutput> MultiHeadAttention::forward(const MhaInput& input) const ANDIRON_NO_THROW {
  return project_and_attend(projections_of(*this), input.query, input.key, input.value, input.masks,
                            true);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> CrossAttention::forward(const Result<Tensor>& query_input,
                                       const Result<Tensor>& context,
                                       const AttentionMasks& masks) const ANDIRON_NO_THROW {
  const Projections projections = {"CrossAttention", query,      key,       value,        output,
                                   n_heads,          n_heads_kv, min_float, quiet_softmax};
  ANDIRON_ASSIGN(MhaOutput result,
                 project_and_attend(projections, query_input, context, context, masks, false));
  return std::move(result.context);
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace nn
}  // namespace andiron::inline v1
