// SPDX-License-Identifier: MIT OR Apache-2.0
// Names of norms that say beside which part of a block they stand: "pre_attn_ln",
// "norm_before_ffn".
#pragma once

#include <cstdint>
#include <string_view>

namespace andiron::inline v1::detail {

enum class NormBeside : std::uint8_t { nothing, attention, cross_attention, feed_forward };
enum class NormSide : std::uint8_t { unknown, before, after };

struct NormWords {
  NormBeside beside = NormBeside::nothing;
  NormSide side = NormSide::unknown;
};

// `segment`: as plain_segment() writes it. Beside nothing unless every word is one of a norm's.
NormWords norm_words(std::string_view segment);

}  // namespace andiron::inline v1::detail
