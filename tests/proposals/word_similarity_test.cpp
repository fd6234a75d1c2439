// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/word_similarity.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace andiron {
namespace {

using detail::plain_segment;
using detail::plain_segments;
using detail::word_similarity;
using detail::words_in;
using detail::words_similarity;
using Words = std::vector<std::string>;

TEST(PlainSegments, AreAllOfAName) {
  EXPECT_EQ(plain_segments("encoder/layerNorm.weight"), (Words{"encoder", "layer_norm", "weight"}));
  EXPECT_TRUE(plain_segments("").empty());
}

TEST(PlainSegment, IsInLowerCaseWithWordsApart) {
  EXPECT_EQ(plain_segment("selfAttn"), "self_attn");
  EXPECT_EQ(plain_segment("LayerNorm"), "layer_norm");
  EXPECT_EQ(plain_segment("SelfAttention"), "self_attention");
  EXPECT_EQ(plain_segment("DenseReluDense"), "dense_relu_dense");
  EXPECT_EQ(plain_segment("self-attn"), "self_attn");
  EXPECT_EQ(plain_segment("Self_Attn"), "self_attn");
  EXPECT_EQ(plain_segment("_conv_stem"), "conv_stem");
}

TEST(PlainSegment, KeepsAbbreviationsTogether) {
  EXPECT_EQ(plain_segment("MLP"), "mlp");
  EXPECT_EQ(plain_segment("Wqkv"), "wqkv");
  EXPECT_EQ(plain_segment("MLPBlock"), "mlp_block");
}

TEST(PlainSegment, LeavesPlainOnesAlone) {
  for (const char* segment : {"", "_", "q", "q_proj", "layer_norm_1", "fc1", "12", "w_qkv"}) {
    EXPECT_EQ(plain_segment(segment), segment);
  }
}

TEST(WordsIn, AreSplitAtSeparatorsAndCapitals) {
  EXPECT_EQ(words_in("selfAttn"), (Words{"self", "attn"}));
  EXPECT_EQ(words_in("self_attn"), (Words{"self", "attn"}));
  EXPECT_EQ(words_in("layers.0.mlp-in"), (Words{"layers", "0", "mlp", "in"}));
  EXPECT_EQ(words_in("MLP"), Words{"mlp"});
  EXPECT_TRUE(words_in("").empty());
  EXPECT_TRUE(words_in("__.").empty());
}

TEST(WordSimilarity, OfTheSameWordIsOneAndOfNothingZero) {
  EXPECT_EQ(word_similarity("query", "query"), 1);
  EXPECT_EQ(word_similarity("", "query"), 0);
  EXPECT_EQ(word_similarity("", ""), 0);
  EXPECT_EQ(word_similarity("gate", "norm"), 0);
}

TEST(WordSimilarity, IsTheSameBothWays) {
  const Words words = {"q", "query", "wq", "attn", "attention", "norm", "ln", "layernorm", "conv"};
  for (const std::string& a : words) {
    for (const std::string& b : words) EXPECT_EQ(word_similarity(a, b), word_similarity(b, a));
  }
}

TEST(WordSimilarity, SeesAbbreviationsAndSynonyms) {
  EXPECT_GT(word_similarity("q", "query"), 0.5);
  EXPECT_LT(word_similarity("a", "attn"), 0.6);  // and of many others
  EXPECT_GT(word_similarity("wq", "q"), 0.5);
  EXPECT_GT(word_similarity("attn", "attention"), 0.5);
  EXPECT_GT(word_similarity("ln", "layernorm"), 0.5);
  EXPECT_GT(word_similarity("gamma", "weight"), 0.5);
  EXPECT_GT(word_similarity("beta", "bias"), 0.5);
  EXPECT_GT(word_similarity("norm", "layernorm"), 0.5);
  EXPECT_LT(word_similarity("q", "key"), 0.5);
  EXPECT_LT(word_similarity("gamma", "bias"), 0.5);
}

TEST(WordsSimilarity, DoesNotGoByOrder) {
  EXPECT_EQ(words_similarity({"self", "attn"}, {"self", "attn"}), 1);
  EXPECT_EQ(words_similarity({"self", "attn"}, {"attn", "self"}), 1);
  EXPECT_EQ(words_similarity({}, {"attn"}), 0);
  EXPECT_EQ(words_similarity({"attn"}, {}), 0);
}

TEST(WordsSimilarity, IsLessWhereOneSideHasMoreWords) {
  const double alike = words_similarity({"attn"}, {"attn"});
  const double more = words_similarity({"attn"}, {"cross", "attn"});
  EXPECT_GT(alike, more);
  EXPECT_GT(more, words_similarity({"attn"}, {"cross", "mlp"}));
}

}  // namespace
}  // namespace andiron
