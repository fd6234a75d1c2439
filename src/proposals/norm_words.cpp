// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/norm_words_test.cpp
#include "src/proposals/norm_words.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "src/proposals/word_similarity.h"

namespace andiron::inline v1::detail {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

NormWords norm_words(std::string_view segment) {
  bool is_norm = false;
  bool has_attention = false;
  bool has_cross = false;
  bool has_feed = false;
  NormWords result;
  for (const std::string& word : words_in(segment)) {
    if (is_one_of(word, {"norm", "ln", "layernorm", "rmsnorm", "rms", "layer", "normalization"})) {
      is_norm = is_norm || word != "layer";
    } else if (is_one_of(word, {"attn", "attention", "att", "sa", "mha", "selfattn"})) {
      has_attention = true;
    } else if (is_one_of(word, {"cross", "ca", "encoder", "enc", "src", "inter"})) {
      has_cross = true;
    } else if (is_one_of(word, {"mlp", "ffn", "ff", "ffw", "feedforward", "feed", "forward"})) {
      has_feed = true;
    } else if (is_one_of(word, {"pre", "before", "input"})) {
      result.side = NormSide::before;
    } else if (is_one_of(word, {"post", "after"})) {
      result.side = NormSide::after;
    } else if (word != "self") {
      return {};
    }
  }
  // What stands before or after a part without saying that it is a norm is one all the same.
  if (!is_norm && result.side == NormSide::unknown) return {};
  // An encoder's norm is not beside its attention.
  if (has_feed == has_attention) return {};
  result.beside = has_feed    ? NormBeside::feed_forward
                  : has_cross ? NormBeside::cross_attention
                              : NormBeside::attention;
  return result;
}

}  // namespace andiron::inline v1::detail
