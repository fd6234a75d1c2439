// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/trade_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/proposals/word_similarity.h"

namespace andiron {
namespace {

using detail::fused_parts;
using detail::is_common_word;
using detail::Meaning;
using detail::meaning_of;
using detail::place_of_norm;
using detail::plain_segment;
using detail::Question;
using detail::role_of;
using detail::TensorRole;
using Segments = std::vector<std::string>;

// What a dotted name answers, from the segment `begin` on.
std::uint16_t answer_of(std::string_view name, Question question, std::size_t begin = 0) {
  Segments segments;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    segments.push_back(plain_segment(name.substr(at, end - at)));
    at = end + 1;
  }
  return meaning_of(segments, begin)[static_cast<std::size_t>(question)];
}

// Expects one answer to a question from all names, which is returned.
std::uint16_t common_answer(Question question, const Segments& names) {
  std::uint16_t common = 0xffff;
  for (const std::string& name : names) {
    const std::uint16_t answer = answer_of(name, question);
    EXPECT_NE(answer, 0) << name;
    common &= answer;
  }
  EXPECT_NE(common, 0) << names.front();
  return common;
}

// Expects that names in one row agree, and that those of different rows do not.
void expect_told_apart(Question question, const std::vector<Segments>& rows) {
  for (const Segments& row : rows) common_answer(question, row);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      for (const std::string& a : rows[i]) {
        for (const std::string& b : rows[j]) {
          EXPECT_EQ(answer_of(a, question) & answer_of(b, question), 0) << a << " and " << b;
        }
      }
    }
  }
}

TEST(TradeWords, TellTheProjectionsOfAttentionApart) {
  expect_told_apart(Question::projection,
                    {{"q", "wq", "q_proj", "to_q", "query", "q_lin", "linear_q", "Wquery"},
                     {"k", "wk", "k_proj", "to_k", "key", "k_lin", "linear_k", "Wkey"},
                     {"v", "wv", "v_proj", "to_v", "value", "v_lin", "linear_v", "Wvalue"},
                     {"o_proj", "out_proj", "to_out", "out_lin", "attn.wo", "attn.proj"},
                     {"qkv", "Wqkv", "c_attn", "in_proj", "query_key_value", "to_kv"}});
}

TEST(TradeWords, TellWhatAModelTakesIn) {
  const auto input = [](std::string_view name, std::size_t rank) {
    return detail::input_told_by(detail::plain_segments(name), rank);
  };
  EXPECT_EQ(input("bert.embeddings.word_embeddings.weight", 2), "text");
  EXPECT_EQ(input("embedder.embedder.convolution.weight", 4), "") << "a table has two dimensions";
  EXPECT_EQ(input("patch_embed.proj.weight", 4), "images");
  EXPECT_EQ(input("vision_model.encoder.layers.0.mlp.fc1.weight", 2), "images");
  EXPECT_EQ(input("audio_encoder.conv1.weight", 3), "sound");
  EXPECT_EQ(input("encoder.layers.0.mlp.fc1.weight", 2), "");
}

TEST(TradeWords, TellTheNormsOfABlockApart) {
  expect_told_apart(Question::norm,
                    {{"0.ln_1", "attention_norm", "input_layernorm", "0.norm1", "layernorm_before"},
                     {"ffn_norm", "pre_feedforward_layernorm", "layernorm_after", "0.norm3"},
                     {"ln_f", "norm_f", "ln_post", "norm.weight"},
                     {"encoder_attn_layer_norm", "cross_attn_ln"}});
}

TEST(TradeWords, TheSecondNormMayBeThatOfCrossAttentionOrOfTheMlp) {
  common_answer(Question::norm, {"ln_2", "norm2", "ffn_norm"});
  common_answer(Question::norm, {"ln_2", "norm2", "cross_attn_ln"});
  EXPECT_EQ(answer_of("h.0.ln_2", Question::norm) & answer_of("h.0.ln_1", Question::norm), 0);
}

TEST(TradeWords, ANumberedNormInNoBlockMayBeThatOfTheModel) {
  common_answer(Question::norm, {"backbone.ln1", "norm.weight", "ln_f"});
  common_answer(Question::norm, {"norm3", "vit.layernorm"});
  EXPECT_EQ(answer_of("blocks.0.norm3", Question::norm) & answer_of("ln_f", Question::norm), 0);
}

TEST(TradeWords, ANormBelowAnEmbeddingIsTheFirst) {
  common_answer(Question::norm, {"embeddings.LayerNorm", "emb_ln"});
}

TEST(TradeWords, TellNormsByThePartsThatTheyAreBeside) {
  expect_told_apart(Question::norm, {{"0.input_layernorm", "0.pre_attn_ln", "0.preAttention"},
                                     {"0.norm_before_ffn", "0.preFeedForward", "0.ffn_norm"},
                                     {"0.post_ff_ln", "0.post_feedforward_layernorm"}});
}

TEST(TradeWords, SayInWhichOrderNormsAreUsed) {
  const auto place = [](const char* name) {
    const Segments segments = {"0", name};
    return place_of_norm(meaning_of(segments, 0));
  };
  EXPECT_LT(place("input_layernorm"), place("post_attention_layernorm"));
  EXPECT_LT(place("post_attention_layernorm"), place("pre_feedforward_layernorm"));
  EXPECT_LT(place("pre_feedforward_layernorm"), place("post_feedforward_layernorm"));
  EXPECT_EQ(place("conv"), std::nullopt);
}

TEST(TradeWords, TheFirstNormMayBeBeforeOrAfterAttention) {
  common_answer(Question::norm, {"norm1", "input_layernorm"});
  common_answer(Question::norm, {"norm1", "post_attention_layernorm"});
  common_answer(Question::norm, {"norm2", "post_attention_layernorm"});
  common_answer(Question::norm, {"norm2", "post_mlp_layernorm"});
}

TEST(TradeWords, TellTheLayersOfAnMlpApart) {
  expect_told_apart(Question::feed, {{"up_proj", "c_fc", "dense_h_to_4h", "wi", "lin1"},
                                     {"down_proj", "mlp.c_proj", "dense_4h_to_h", "lin2"},
                                     {"gate_proj", "wi_0", "w_gate"}});
  // With three layers it is the gate, with two the first.
  common_answer(Question::feed, {"w1", "gate_proj"});
  common_answer(Question::feed, {"w1", "fc1", "up_proj"});
  common_answer(Question::feed, {"fc1", "gate_proj"});
  common_answer(Question::feed, {"fc2", "down_proj"});
}

TEST(TradeWords, TellPartsOfABlockApart) {
  expect_told_apart(Question::part, {{"attn", "self_attn", "SelfAttention", "attention"},
                                     {"mlp", "ffn", "feed_forward", "DenseReluDense"},
                                     {"embed", "wte", "embed_tokens", "word_embeddings"},
                                     {"lm_head", "classifier", "score"}});
}

TEST(TradeWords, TellPlacesInAModelApart) {
  expect_told_apart(Question::attention,
                    {{"self_attn", "attn1"}, {"cross_attn", "encoder_attn", "cross"}});
  expect_told_apart(Question::coder, {{"encoder", "enc"}, {"decoder", "dec"}});
  expect_told_apart(Question::medium, {{"text_model", "text"}, {"visual", "vision_model"}});
  expect_told_apart(Question::embedding, {{"wte", "embed_tokens", "tok_embeddings"},
                                          {"wpe", "position_embeddings", "pos_embed"},
                                          {"token_type_embeddings", "segment_embeddings"},
                                          {"cls_token", "class_embedding"},
                                          {"patch_embed", "conv_proj"}});
  expect_told_apart(Question::slope, {{"down_blocks", "input_blocks"},
                                      {"mid_block", "middle_block"},
                                      {"up_blocks", "output_blocks"}});
  expect_told_apart(
      Question::recurrence,
      {{"weight_ih", "bias_ih", "w_input", "w_x", "input_transform", "input_weight"},
       {"weight_hh", "bias_hh", "b_state", "w_h", "hidden_transform", "w_recurrent"}});
  expect_told_apart(Question::player, {{"actor", "policy"}, {"critic", "vf"}});
}

TEST(TradeWords, MeanWhatTheSegmentsAboveThemSay) {
  EXPECT_EQ(answer_of("attn.c_proj", Question::projection),
            answer_of("out_proj", Question::projection));
  EXPECT_EQ(answer_of("attn.c_proj", Question::feed), 0);
  EXPECT_EQ(answer_of("mlp.c_proj", Question::feed), answer_of("down_proj", Question::feed));
  EXPECT_EQ(answer_of("mlp.c_proj", Question::projection), 0);
  EXPECT_EQ(answer_of("c_proj", Question::projection), 0);
  // The last part that was named is the context.
  EXPECT_NE(answer_of("attn.x.mlp.wo", Question::feed), 0);
  EXPECT_EQ(answer_of("attn.x.mlp.wo", Question::projection), 0);
}

TEST(TradeWords, AreReadFromWhereTheyAreAskedFor) {
  // What comes before is the context only.
  EXPECT_EQ(answer_of("attn.c_proj", Question::part, 1), 0);
  EXPECT_NE(answer_of("attn.c_proj", Question::projection, 1), 0);
  EXPECT_EQ(answer_of("q_proj.weight", Question::projection, 1), 0);
}

TEST(TradeWords, AtTheTopMayMeanMoreThanBelow) {
  EXPECT_NE(answer_of("fc.weight", Question::part), 0);
  EXPECT_NE(answer_of("fc.weight", Question::task), 0);
  EXPECT_EQ(answer_of("layers.fc.weight", Question::part), 0);
  EXPECT_NE(answer_of("backbone.norm.weight", Question::norm), 0);
  EXPECT_EQ(answer_of("layers.0.norm.weight", Question::norm), 0);
}

TEST(TradeWords, AreFoundWithNumbersAndInLongerSegments) {
  EXPECT_EQ(answer_of("conv12", Question::part), answer_of("conv", Question::part));
  EXPECT_EQ(answer_of("encoder_7", Question::coder), answer_of("encoder", Question::coder));
  EXPECT_EQ(answer_of("encoder_norm", Question::coder), answer_of("encoder", Question::coder));
  EXPECT_EQ(answer_of("encoder_norm", Question::part), answer_of("norm", Question::part));
}

TEST(TradeWords, ThatAreNotKnownMeanNothing) {
  const Segments segments = {"zorg", "7", "weight"};
  EXPECT_EQ(meaning_of(segments, 0), Meaning());
  EXPECT_EQ(meaning_of({}, 0), Meaning());
}

TEST(TradeWords, AreWrittenAsPlainSegmentsAre) {
  // Names as frameworks write them find the table's rows.
  for (const char* name : {"SelfAttention", "EncDecAttention", "DenseReluDense", "LayerNorm",
                           "BatchNorm", "netG", "netD", "self-attn", "Wqkv", "W_pack"}) {
    const Segments segments = {plain_segment(name)};
    EXPECT_NE(meaning_of(segments, 0), Meaning()) << name;
  }
}

TEST(RoleOf, GoesByTheLastSegment) {
  for (const char* name : {"weight", "gamma", "kernel", "scale", "weight_ih", "embedding", ""}) {
    EXPECT_EQ(role_of(name), TensorRole::weight) << name;
  }
  for (const char* name : {"bias", "beta", "shift", "bias_hh", "in_proj_bias", "pos_bias_u", "b",
                           "b_input", "b_2", "numbers_shift"}) {
    EXPECT_EQ(role_of(name), TensorRole::bias) << name;
  }
  EXPECT_EQ(role_of("b", false), TensorRole::weight);
  EXPECT_EQ(role_of("running_mean"), TensorRole::mean);
  EXPECT_EQ(role_of("moving_mean"), TensorRole::mean);
  EXPECT_EQ(role_of("running_var"), TensorRole::variance);
  EXPECT_EQ(role_of("moving_variance"), TensorRole::variance);
  EXPECT_EQ(role_of("num_batches_tracked"), TensorRole::counter);
}

TEST(FusedParts, AreListedInOrder) {
  using Parts = std::vector<std::string_view>;
  for (const char* name :
       {"qkv", "Wqkv", "to_qkv", "qkv_proj", "c_attn", "in_proj", "W_pack", "in_proj_weight",
        "in_proj_bias", "attn_qkv", "qkv_linear", "att_proj"}) {
    EXPECT_EQ(fused_parts(name), (Parts{"q", "k", "v"})) << name;
  }
  for (const char* name : {"kv", "to_kv", "kv_proj", "Wkv"}) {
    EXPECT_EQ(fused_parts(name), (Parts{"k", "v"})) << name;
  }
  for (const char* name : {"gate_up_proj", "w12", "gate_and_up_proj", "gateup"}) {
    EXPECT_EQ(fused_parts(name), (Parts{"gate", "up"})) << name;
  }
  EXPECT_EQ(fused_parts("ff_proj"), (Parts{"up", "gate"}));  // as OLMo has them
}

TEST(FusedParts, OfOtherSegmentsAreNone) {
  // GPT-NeoX, BLOOM and Falcon keep the heads of query_key_value by turns, others do not.
  for (const char* name :
       {"", "q", "q_proj", "query_key_value", "weight", "bias", "proj", "attn"}) {
    EXPECT_TRUE(fused_parts(name).empty()) << name;
  }
}

TEST(FusedParts, OfQueryKeyValueAreInOrderInSomeModels) {
  using detail::is_order_doubtful;
  using detail::may_hold_projections_in_order;
  for (const char* name :
       {"encoder.layers.0.self_attention.query_key_value.weight",
        "layers.12.self_attention.query_key_value.bias",
        "language_model.transformer.layers.3.attention.query_key_value.weight"}) {
    EXPECT_TRUE(may_hold_projections_in_order(name)) << name;
    EXPECT_TRUE(is_order_doubtful(name)) << name;
  }
  for (const char* name : {"gpt_neox.layers.0.attention.query_key_value.weight",
                           "h.0.self_attention.query_key_value.weight", "query_key_value.weight",
                           "layers.x.self_attention.query_key_value.weight", ""}) {
    EXPECT_FALSE(may_hold_projections_in_order(name)) << name;
  }
}

TEST(CommonWords, SayNothing) {
  for (const char* word : {"layer", "layers", "module", "weight", "h"}) {
    EXPECT_TRUE(is_common_word(word)) << word;
  }
  for (const char* word : {"attn", "query", "norm", ""}) EXPECT_FALSE(is_common_word(word)) << word;
}

}  // namespace
}  // namespace andiron
