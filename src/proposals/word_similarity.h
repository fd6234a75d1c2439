// SPDX-License-Identifier: MIT OR Apache-2.0
// How alike the words of two names are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace andiron::inline v1::detail {

// A segment in lower case, words apart: "self_attn" for selfAttn, "layer_norm" for LayerNorm.
std::string plain_segment(std::string_view segment);

// All segments of a name, in that form.
std::vector<std::string> plain_segments(std::string_view name);

// The words of a name in lower case: "self" and "attn" for both selfAttn and self_attn.
std::vector<std::string> words_in(std::string_view name);

// From 0 (nothing in common) to 1 (the same but for the way of writing).
double word_similarity(std::string_view a, std::string_view b);
// The same for lists, in any order.
double words_similarity(const std::vector<std::string>& a, const std::vector<std::string>& b);

}  // namespace andiron::inline v1::detail
