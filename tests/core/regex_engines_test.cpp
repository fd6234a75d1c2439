// SPDX-License-Identifier: MIT OR Apache-2.0
// Our own engine does what RE2 does. ANDIRON_LONG_TESTS=1 compares more.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/text/regex/unicode_classes.h"
#include "src/core/text/regex/unicode_tables.h"
#include "src/core/text/utf8.h"
#include "tests/support/engines_side_by_side.h"
#include "tests/support/long_tests.h"
#include "tests/support/pattern_maker.h"

namespace andiron {
namespace {

using test::EnginesSideBySide;
using test::is_long_run;
using test::PatternMaker;

TEST(RegexEngines, AgreeOnRandomPatterns) {
  const int patterns = is_long_run() ? 500000 : 2000;
  std::size_t compiled = 0;
  PatternMaker maker(PatternMaker::usual_seed);
  for (int i = 0; i < patterns; ++i) {
    const std::string text = maker.pattern();
    const Result<std::string> syntax = translate_regex(text);
    if (!syntax) continue;
    const EnginesSideBySide engines(text, *syntax);
    ASSERT_EQ(engines.difference(), "");
    if (!engines.both_compiled()) continue;
    ++compiled;
    for (int names = 0; names < 5; ++names) {
      const std::string name = maker.name();
      const std::size_t from = maker.below(2) == 0 ? 0 : maker.below(name.size() + 1);
      ASSERT_EQ(engines.difference(name, from, "<$0|$1>"), "");
    }
  }
  EXPECT_GT(compiled, static_cast<std::size_t>(patterns) / 2);
}

TEST(RegexEngines, AgreeOnRandomGlobs) {
  PatternMaker maker(7);
  for (int i = 0; i < (is_long_run() ? 100000 : 500); ++i) {
    std::string text;
    for (std::size_t count = maker.below(6); count > 0; --count) {
      const char* const parts[] = {"*", "**", "?", ".", "**.", "a", "k", "\xc3\xa9"};
      text += parts[maker.below(std::size(parts))];
    }
    const EnginesSideBySide engines(text, translate_glob(text).value());
    ASSERT_EQ(engines.difference(), "");
    for (int names = 0; names < 5; ++names) {
      ASSERT_EQ(engines.difference(maker.name(), 0, "<$0>"), "");
    }
  }
}

TEST(RegexEngines, AgreeOnPatternsThatUsersWrite) {
  const std::string_view patterns[] = {
      R"(^model\.)",
      R"(\.weight$)",
      R"(^(.*?)\.attn\.(\d+)\.)",
      R"(^(?:module\.)?(.*)\.(gamma|beta)$)",
      R"(layers\.(\d+)\.self_attn\.([qkv])_proj)",
      R"(^transformer\.h\.(?<layer>[0-9]+)\.(?P<rest>.+)$)",
      R"(encoder\.layer\.\d{1,3}\.(?:attention|output)\.)",
      R"((?i)layer_?norm)",
      R"(\bbias\b)",
      R"([^.]+\.[^.]+$)",
      R"(^((?:\w+\.)*)(\w+)$)",
      R"(conv(\d)?d?_(?:in|out))",
      R"((\d+)\.(\d+))",
      R"(_(?:ih|hh)_l(\d+)(_reverse)?)",
      R"(^$|weight)",
      R"(.*)",
  };
  const std::string_view names[] = {
      "",
      "model.layers.0.self_attn.q_proj.weight",
      "model.layers.31.self_attn.v_proj.bias",
      "transformer.h.11.attn.12.c_attn.weight",
      "module.encoder.layer.3.attention.self.query.weight",
      "encoder.layer.10.output.LayerNorm.gamma",
      "bert.embeddings.layer_norm.beta",
      "lstm.weight_ih_l0_reverse",
      "unet.conv_in.bias",
      "features.0.1.2.running_mean",
      "\xe6\xa8\xa1\xe5\x9e\x8b.\xe5\xb1\x82.\xd9\xa3.weight",
      "line\nbreak.bias",
      "not UTF-8 \xff.weight",
  };
  for (const std::string_view pattern : patterns) {
    const EnginesSideBySide engines(pattern, translate_regex(pattern).value());
    ASSERT_TRUE(engines.both_compiled()) << pattern;
    for (const std::string_view name : names) {
      EXPECT_EQ(engines.difference(name, 0, "${1}[$0]$layer"), "");
    }
  }
}

TEST(RegexEngines, AcceptAndRefuseTheSame) {
  for (const char* pattern : {"a{1000}",
                              "a{1001}",
                              "a{0,1001}",
                              "a{2,1}",
                              "(?:a{2}){500}",
                              "(?:a{2}){501}",
                              "(?:a{1000}){0,1}",
                              "(?:a{1000})*",
                              "((a{10}|b{100}){10})",
                              "((a{10}|b{101}){10})",
                              R"(\p{Klingon})",
                              R"(\p{^Greek})",
                              R"(\P{^Greek})",
                              R"(\p{Any})",
                              R"(\pX)",
                              R"(\p{})",
                              R"(\p{LC})",
                              R"(\p{Cn})",
                              R"(\p{Cs})",
                              "[[:nonsense:]]",
                              "[[:^word:]]",
                              "[[:ALPHA:]]",
                              R"([^\x{0}-\x{10FFFF}])",
                              "()",
                              "(|)",
                              "^*",
                              "$+",
                              R"(\b?)",
                              "(?:)*",
                              "a{0}",
                              "(?i-s:a)"}) {
    const EnginesSideBySide engines(pattern, translate_regex(pattern).value());
    EXPECT_EQ(engines.difference(), "");
  }
}

// ---- Unicode

std::string utf8_of_all_code_points() {
  std::string text;
  for (char32_t c = 0; c <= automaton::last_code_point; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    char bytes[4];
    text.append(bytes, encode_utf8(c, bytes));
  }
  return text;
}

// The tables are those of Unicode 15; another version knows other characters.
bool re2_has_unicode_15() {
  const auto engine = compile_with_re2("", R"(^[\p{Kawi}\x{1E030}][\x{2EBF0}\PL]$)");
  return engine && (*engine)->matches("\xf0\x91\xbc\x80\xf0\xae\xaf\xb0");
}

// The runs of characters that a set has: where each begins and how long it is.
std::vector<std::string_view> runs(const Pattern::Engine& engine, std::string_view text) {
  std::vector<std::string_view> out;
  std::string_view run;
  for (std::size_t from = 0; engine.find(text, from, {&run, 1}); from += run.size()) {
    out.push_back(run);
    from = static_cast<std::size_t>(run.data() - text.data());
  }
  return out;
}

TEST(RegexEngines, HaveTheSameClassesAndCases) {
  if (!re2_has_unicode_15()) GTEST_SKIP() << "RE2 was built with another version of Unicode";
  std::vector<std::string> sets = {R"(\p{Lu})", R"(\p{Greek})", R"((?i)\p{Lu})",
                                   R"((?i)[^k-\x{1ff}])"};
  if (is_long_run()) {
    for (std::string_view names : {automaton::category_names, automaton::script_names}) {
      while (!names.empty()) {
        const std::string name(names.substr(0, names.find(' ')));
        names.remove_prefix(name.size() + 1);
        sets.push_back("\\p{" + name + "}");
        sets.push_back("(?i)\\P{" + name + "}");
      }
    }
    for (const char* name : {"C", "L", "M", "N", "P", "S", "Z"})
      sets.push_back(std::string("\\p") + name);
  }
  const std::string text = utf8_of_all_code_points();
  for (const std::string& set : sets) {
    const std::string syntax = translate_regex(set + "+").value();
    const auto of_re2 = runs(**compile_with_re2(set, syntax), text);
    const auto of_ours = runs(**compile_with_automaton(set, syntax), text);
    ASSERT_EQ(of_re2.size(), of_ours.size()) << set;
    for (std::size_t i = 0; i < of_re2.size(); ++i) {
      ASSERT_EQ(of_re2[i].data() - text.data(), of_ours[i].data() - text.data()) << set;
      ASSERT_EQ(of_re2[i].size(), of_ours[i].size()) << set;
    }
  }
}

TEST(RegexEngines, FoldEveryLetterAlike) {
  if (!re2_has_unicode_15()) GTEST_SKIP() << "RE2 was built with another version of Unicode";
  automaton::CodePointRanges cased = *automaton::unicode_class("L");
  std::size_t compared = 0;
  for (const auto& range : cased) {
    for (char32_t c = range.first; c <= range.last; ++c) {
      automaton::CodePointRanges variants = {{c, c}};
      automaton::add_case_variants(variants);
      if (variants == automaton::CodePointRanges{{c, c}}) continue;
      // One in forty will do, as the rest is folded by the same runs.
      if (++compared % (is_long_run() ? 1 : 40) != 0) continue;
      char bytes[4];
      const std::string letter(bytes, encode_utf8(c, bytes));
      const EnginesSideBySide engines(letter, "(?i)" + letter);
      for (const auto& variant : variants) {
        for (char32_t v = variant.first; v <= variant.last; ++v) {
          const std::string name(bytes, encode_utf8(v, bytes));
          ASSERT_EQ(engines.difference(name, 0, "<$0>"), "");
        }
      }
    }
  }
  EXPECT_GT(compared, 2000u);
}

}  // namespace
}  // namespace andiron
