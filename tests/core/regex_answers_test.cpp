// SPDX-License-Identifier: MIT OR Apache-2.0
// Answers of RE2's that every engine gives, also where there is no RE2 to ask.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "andiron/text.h"
#include "tests/support/pattern_engines.h"
#include "tests/support/pattern_maker.h"

namespace andiron {
namespace {

class RegexAnswers : public testing::TestWithParam<test::PatternEngine> {};

INSTANTIATE_TEST_SUITE_P(Engine, RegexAnswers, testing::ValuesIn(test::pattern_engines()),
                         testing::PrintToStringParamName());

TEST_P(RegexAnswers, ToPatternsThatUsersWrite) {
  const struct {
    std::string_view pattern, name, replaced;
  } answers[] = {
      {R"(^model\.)", "model.layers.0.self_attn.q_proj.weight",
       "[model.]layers.0.self_attn.q_proj.weight"},
      {R"(^model\.)", "model.layers.31.self_attn.v_proj.bias",
       "[model.]layers.31.self_attn.v_proj.bias"},
      {R"(\.weight$)", "model.layers.0.self_attn.q_proj.weight",
       "model.layers.0.self_attn.q_proj[.weight]"},
      {R"(\.weight$)", "transformer.h.11.attn.12.c_attn.weight",
       "transformer.h.11.attn.12.c_attn[.weight]"},
      {R"(\.weight$)", "\xe6\xa8\xa1\xe5\x9e\x8b.\xe5\xb1\x82.\xd9\xa3.weight",
       "\xe6\xa8\xa1\xe5\x9e\x8b.\xe5\xb1\x82.\xd9\xa3[.weight]"},
      {R"(^(.*?)\.attn\.(\d+)\.)", "transformer.h.11.attn.12.c_attn.weight",
       "transformer.h.11[transformer.h.11.attn.12.]c_attn.weight"},
      {R"(^(?:module\.)?(.*)\.(gamma|beta)$)", "encoder.layer.10.output.LayerNorm.gamma",
       "encoder.layer.10.output.LayerNorm[encoder.layer.10.output.LayerNorm.gamma]"},
      {R"(^(?:module\.)?(.*)\.(gamma|beta)$)", "bert.embeddings.layer_norm.beta",
       "bert.embeddings.layer_norm[bert.embeddings.layer_norm.beta]"},
      {R"(layers\.(\d+)\.self_attn\.([qkv])_proj)", "model.layers.0.self_attn.q_proj.weight",
       "model.0[layers.0.self_attn.q_proj].weight"},
      {R"(layers\.(\d+)\.self_attn\.([qkv])_proj)", "model.layers.31.self_attn.v_proj.bias",
       "model.31[layers.31.self_attn.v_proj].bias"},
      {R"(^transformer\.h\.(?<layer>[0-9]+)\.(?P<rest>.+)$)",
       "transformer.h.11.attn.12.c_attn.weight", "11[transformer.h.11.attn.12.c_attn.weight]11"},
      {R"(encoder\.layer\.\d{1,3}\.(?:attention|output)\.)",
       "module.encoder.layer.3.attention.self.query.weight",
       "module.[encoder.layer.3.attention.]self.query.weight"},
      {R"(encoder\.layer\.\d{1,3}\.(?:attention|output)\.)",
       "encoder.layer.10.output.LayerNorm.gamma", "[encoder.layer.10.output.]LayerNorm.gamma"},
      {R"((?i)layer_?norm)", "encoder.layer.10.output.LayerNorm.gamma",
       "encoder.layer.10.output.[LayerNorm].gamma"},
      {R"((?i)layer_?norm)", "bert.embeddings.layer_norm.beta",
       "bert.embeddings.[layer_norm].beta"},
      {R"(\bbias\b)", "model.layers.31.self_attn.v_proj.bias",
       "model.layers.31.self_attn.v_proj.[bias]"},
      {R"(\bbias\b)", "unet.conv_in.bias", "unet.conv_in.[bias]"},
      {R"(\bbias\b)", "line\nbreak.bias", "line\nbreak.[bias]"},
      {R"([^.]+\.[^.]+$)", "model.layers.0.self_attn.q_proj.weight",
       "model.layers.0.self_attn.[q_proj.weight]"},
      {R"([^.]+\.[^.]+$)", "model.layers.31.self_attn.v_proj.bias",
       "model.layers.31.self_attn.[v_proj.bias]"},
      {R"([^.]+\.[^.]+$)", "\xe6\xa8\xa1\xe5\x9e\x8b.\xe5\xb1\x82.\xd9\xa3.weight",
       "\xe6\xa8\xa1\xe5\x9e\x8b.\xe5\xb1\x82.[\xd9\xa3.weight]"},
      {R"([^.]+\.[^.]+$)", "line\nbreak.bias", "[line\nbreak.bias]"},
      {R"(^((?:\w+\.)*)(\w+)$)", "model.layers.0.self_attn.q_proj.weight",
       "model.layers.0.self_attn.q_proj.[model.layers.0.self_attn.q_proj.weight]"},
      {R"(^((?:\w+\.)*)(\w+)$)", "model.layers.31.self_attn.v_proj.bias",
       "model.layers.31.self_attn.v_proj.[model.layers.31.self_attn.v_proj.bias]"},
      {R"(^((?:\w+\.)*)(\w+)$)", "\xe6\xa8\xa1\xe5\x9e\x8b.\xe5\xb1\x82.\xd9\xa3.weight",
       "\xe6\xa8\xa1\xe5\x9e\x8b.\xe5\xb1\x82.\xd9\xa3.[\xe6\xa8\xa1\xe5\x9e\x8b.\xe5\xb1\x82."
       "\xd9\xa3.weight]"},
      {R"(conv(\d)?d?_(?:in|out))", "unet.conv_in.bias", "unet.[conv_in].bias"},
      {R"((\d+)\.(\d+))", "features.0.1.2.running_mean", "features.0[0.1].2.running_mean"},
      {R"(_(?:ih|hh)_l(\d+)(_reverse)?)", "lstm.weight_ih_l0_reverse",
       "lstm.weight0[_ih_l0_reverse]"},
      {R"(^$|weight)", "", "[]"},
      {R"(^$|weight)", "model.layers.0.self_attn.q_proj.weight",
       "model.layers.0.self_attn.q_proj.[weight]"},
      {R"(^$|weight)", "\xe6\xa8\xa1\xe5\x9e\x8b.\xe5\xb1\x82.\xd9\xa3.weight",
       "\xe6\xa8\xa1\xe5\x9e\x8b.\xe5\xb1\x82.\xd9\xa3.[weight]"},
      {R"(.*)", "", "[]"},
      {R"(.*)", "model.layers.0.self_attn.q_proj.weight",
       "[model.layers.0.self_attn.q_proj.weight]"},
      {R"(.*)", "\xe6\xa8\xa1\xe5\x9e\x8b.\xe5\xb1\x82.\xd9\xa3.weight",
       "[\xe6\xa8\xa1\xe5\x9e\x8b.\xe5\xb1\x82.\xd9\xa3.weight]"},
      {R"(.*)", "line\nbreak.bias", "[line]\n[break.bias]"},
  };
  for (const auto& [pattern, name, replaced] : answers) {
    EXPECT_EQ(GetParam().regex(pattern).value().replace_all(name, "${1}[$0]$layer"), replaced)
        << pattern << " on " << name;
  }
}

TEST_P(RegexAnswers, AcceptAndRefuse) {
  for (const char* pattern :
       {R"(a{1000})", R"((?:a{2}){500})", R"((?:a{1000}){0,1})", R"((?:a{1000})*)",
        R"(((a{10}|b{100}){10}))", R"(\p{^Greek})", R"(\P{^Greek})", R"(\p{Any})", R"(\p{Cs})",
        R"([[:^word:]])", R"([^\x{0}-\x{10FFFF}])", R"(())", R"((|))", R"(^*)", R"($+)", R"(\b?)",
        R"((?:)*)", R"(a{0})", R"((?i-s:a))"}) {
    EXPECT_TRUE(GetParam().regex(pattern)) << pattern;
  }
  for (const char* pattern : {R"(a{1001})", R"(a{0,1001})", R"(a{2,1})", R"((?:a{2}){501})",
                              R"(((a{10}|b{101}){10}))", R"(\p{Klingon})", R"(\pX)", R"(\p{})",
                              R"(\p{LC})", R"(\p{Cn})", R"([[:nonsense:]])", R"([[:ALPHA:]])"}) {
    EXPECT_FALSE(GetParam().regex(pattern)) << pattern;
  }
}

// RegexEngines compares such answers with RE2's. This is their sum, which a machine whose sizes
// have other widths must come to as well.
TEST(RegexAnswersOfOurs, ToRandomPatternsAreTheSameEverywhere) {
  const test::PatternEngine ours = test::pattern_engines().back();
  test::PatternMaker maker(test::PatternMaker::usual_seed);
  std::uint64_t sum = 14695981039346656037U;
  const auto add = [&](std::string_view text) {
    for (const char byte : text) sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211U;
  };
  for (int i = 0; i < 2000; ++i) {
    const Result<Pattern> pattern = ours.regex(maker.pattern());
    add(pattern ? "accepted" : "refused");
    for (int names = 0; names < 5; ++names) {
      const std::string name = maker.name();
      if (pattern) add(pattern->matches(name) ? pattern->replace_all(name, "<$0|$1>") : "no");
    }
  }
  EXPECT_EQ(sum, 12848350902159672085U);
}

}  // namespace
}  // namespace andiron
