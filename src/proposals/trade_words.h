// SPDX-License-Identifier: MIT OR Apache-2.0
// What the words in names of tensors mean, whoever wrote them: "wq", "q_proj" and "to_q" are the
// query of attention. The table is in trade_words.cpp; add to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace andiron::inline v1::detail {

// A question that words answer. Two names with different answers to one question do not mean the
// same tensor.
enum class Question : std::uint8_t {
  part,        // attention, feed-forward, norm, embedding ...
  projection,  // query, key, value, output
  feed,        // the layers of a feed-forward part
  norm,        // which norm of a block
  attention,   // to itself or to another sequence
  coder,       // encoder or decoder
  medium,      // text, images, sound
  embedding,   // of tokens, positions, patches ...
  slope,       // of a U-Net: down, middle, up
  recurrence,  // from the input or from the state
  direction,   // of a recurrent layer
  squeeze,     // of squeeze-and-excitation
  filter,      // depthwise, pointwise
  task,        // of a head: words, classes, boxes, a summary
  branch,      // of a residual block: the layers, or the way around them
  mixing,      // of tokens or of channels
  player,      // actor or critic, generator or discriminator
  count
};

// For each question a set of possible answers, as bits; none where the words do not tell.
using Meaning = std::array<std::uint16_t, static_cast<std::size_t>(Question::count)>;

// What is told by the segments of a name from `begin` on; the ones before it are their context.
Meaning meaning_of(std::span<const std::string> segments, std::size_t begin);

// Where a norm stands on the way through a model or a block, as a number that grows; nothing if its
// words do not tell.
std::optional<double> place_of_norm(const Meaning& meaning);

// What the model takes in by a tensor: "text" by a table of words, "images" by a kernel of patches;
// empty for most tensors.
std::string_view input_told_by(std::span<const std::string> segments, std::size_t rank);

// What the last segment of a name says a tensor is in its module.
enum class TensorRole : std::uint8_t { weight, bias, mean, variance, counter };
TensorRole role_of(std::string_view last_segment, bool is_in_module = true);

// The parts that a tensor holds whose name is this segment, in order: "q", "k" and "v" for "qkv",
// "in_proj" or "c_attn". Empty if it is not known to hold several.
std::vector<std::string_view> fused_parts(std::string_view segment);

// Whether a "query_key_value" of this name may hold them one after the other: ChatGLM's do, and
// those of Megatron's first versions. GPT-NeoX, BLOOM and Falcon keep their heads by turns.
bool may_hold_projections_in_order(std::string_view name);

// Whether well-known models with such a name keep the parts in another order, or by turns.
bool is_order_doubtful(std::string_view name);

// Whether a name says that a tensor holds embeddings.
bool is_embedding(std::string_view name);

// Whether a list whose members are called this counts from the output of the model to its input.
bool counts_backwards(std::string_view segment);

// Words that say nothing about a tensor: "layer", "module", "weight".
bool is_common_word(std::string_view word);

}  // namespace andiron::inline v1::detail
