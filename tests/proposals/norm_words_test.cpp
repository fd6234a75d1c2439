// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/norm_words.h"

#include <gtest/gtest.h>

namespace andiron {
namespace {

using detail::norm_words;
using detail::NormBeside;
using detail::NormSide;

TEST(NormWords, SayBesideWhatANormStands) {
  for (const char* name : {"attn_norm", "norm_before_attention", "pre_attn_ln", "self_attn_norm"}) {
    EXPECT_EQ(norm_words(name).beside, NormBeside::attention) << name;
  }
  for (const char* name : {"mlp_norm", "norm_before_ffn", "pre_ff_ln", "pre_feed_forward"}) {
    EXPECT_EQ(norm_words(name).beside, NormBeside::feed_forward) << name;
  }
  for (const char* name : {"cross_attn_norm", "ln_cross_attention", "encoder_attn_layer_norm"}) {
    EXPECT_EQ(norm_words(name).beside, NormBeside::cross_attention) << name;
  }
}

TEST(NormWords, SayOnWhichSide) {
  EXPECT_EQ(norm_words("pre_attn_ln").side, NormSide::before);
  EXPECT_EQ(norm_words("post_attn_ln").side, NormSide::after);
  EXPECT_EQ(norm_words("attn_ln").side, NormSide::unknown);
}

TEST(NormWords, AreNotFoundInNamesOfOtherThings) {
  for (const char* name : {"", "attn", "mlp", "norm", "encoder_norm", "attn_mlp_norm", "pre_norm",
                           "pre_attn_conv", "q_norm", "attn_drop"}) {
    EXPECT_EQ(norm_words(name).beside, NormBeside::nothing) << name;
  }
}

}  // namespace
}  // namespace andiron
