// SPDX-License-Identifier: MIT OR Apache-2.0
// From patterns to the instructions of our own engine.
#include "src/core/text/regex/parser.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "src/core/text/pattern_syntax.h"
#include "src/core/text/regex/code_builder.h"
#include "tests/support/repeated_text.h"

namespace andiron::automaton {
namespace {

using namespace std::literals;
using test::repeated;

Result<Expression> parsed(std::string_view pattern) {
  return parse(pattern, translate_regex(pattern).value());
}

// The instructions, with the places that jumps lead to: "save 0; take 0; ..."
std::string code_of(std::string_view pattern) {
  constexpr const char* names[] = {"take",         "save",         "assert", "jump",
                                   "next_or_jump", "jump_or_next", "match"};
  const Expression expression = parsed(pattern).value();
  std::string out;
  for (std::uint32_t at = 0; at < expression.code.size(); ++at) {
    const Instruction instruction = expression.code[at];
    if (!out.empty()) out += "; ";
    out += names[static_cast<std::size_t>(instruction.op)];
    const bool jumps = instruction.op == Op::jump || instruction.op == Op::next_or_jump ||
                       instruction.op == Op::jump_or_next;
    if (instruction.op == Op::match) continue;
    out += " " + std::to_string(jumps ? target(instruction, at) : instruction.argument);
  }
  return out;
}

// Without the save of the whole match and what follows it, which all have.
std::string inner_code_of(std::string_view pattern) {
  std::string code = code_of(pattern);
  EXPECT_TRUE(code.starts_with("save 0; ") && code.ends_with("; save 1; match")) << code;
  code.erase(0, "save 0; "sv.size());
  code.erase(code.size() - "; save 1; match"sv.size());
  return code;
}

// The first set of a pattern, as it could stand between brackets.
std::string set_of(std::string_view pattern) {
  const Expression expression = parsed(pattern).value();
  std::string out;
  const auto add = [&](char32_t c) {
    char text[16];
    std::snprintf(text, sizeof text, c > 0x20 && c < 0x7f ? "%c" : "{%X}", static_cast<int>(c));
    out += text;
  };
  for (const auto& range : expression.sets.at(0)) {
    add(range.first);
    if (range.last == range.first) continue;
    out += "-";
    add(range.last);
  }
  return out;
}

std::string refusal(std::string_view pattern) {
  const Result<Expression> result = parsed(pattern);
  if (result) return "(accepted)";
  EXPECT_EQ(result.error().code, ErrorCode::invalid_pattern);
  return result.error().message;
}

// ---- instructions

TEST(RegexParser, WritesInstructionsInTheOrderOfThePattern) {
  EXPECT_EQ(code_of(""), "save 0; save 1; match");
  EXPECT_EQ(code_of("ab"), "save 0; take 0; take 1; save 1; match");
  EXPECT_EQ(inner_code_of("(a)(?:b)(?<n>c)"),
            "save 2; take 0; save 3; take 1; save 4; take 2; save 5");
}

TEST(RegexParser, TriesAlternativesInTheirOrder) {
  EXPECT_EQ(inner_code_of("a|b"), "next_or_jump 4; take 0; jump 5; take 1");
  EXPECT_EQ(inner_code_of("a|b|c"),
            "next_or_jump 4; take 0; jump 8; next_or_jump 7; take 1; jump 8; take 2");
  EXPECT_EQ(inner_code_of("a(|b)"), "take 0; save 2; next_or_jump 5; jump 6; take 1; save 3");
  EXPECT_EQ(inner_code_of("(?:a|b)|c"),
            "next_or_jump 7; next_or_jump 5; take 0; jump 6; take 1; jump 8; take 2");
}

TEST(RegexParser, TurnsRepetitionIntoForks) {
  EXPECT_EQ(inner_code_of("a*"), "next_or_jump 4; take 0; jump 1");
  EXPECT_EQ(inner_code_of("a*?"), "jump_or_next 4; take 0; jump 1");
  EXPECT_EQ(inner_code_of("a+"), "take 0; jump_or_next 1");
  EXPECT_EQ(inner_code_of("a+?"), "take 0; next_or_jump 1");
  EXPECT_EQ(inner_code_of("a?"), "next_or_jump 3; take 0");
  EXPECT_EQ(inner_code_of("a{0,1}?"), "jump_or_next 3; take 0");
  EXPECT_EQ(inner_code_of("a{2}"), "take 0; take 0");
  EXPECT_EQ(inner_code_of("a{1,3}"), "take 0; next_or_jump 6; take 0; next_or_jump 6; take 0");
  EXPECT_EQ(inner_code_of("a{2,}"), "take 0; take 0; jump_or_next 2");
  EXPECT_EQ(code_of("a{0}"), code_of(""));
  EXPECT_EQ(inner_code_of("(?U)a*"), inner_code_of("a*?"));
  EXPECT_EQ(inner_code_of("(?U)a*?"), inner_code_of("a*"));
}

TEST(RegexParser, GivesLoopsOverWhatCanBeEmptyTwoForks) {
  EXPECT_EQ(inner_code_of("(?:a?)*"), "next_or_jump 5; next_or_jump 4; take 0; jump_or_next 2");
  EXPECT_EQ(inner_code_of("(?:^|a)*"),
            "next_or_jump 7; next_or_jump 5; assert 1; jump 6; take 0; jump_or_next 2");
  EXPECT_EQ(inner_code_of("(?:a?b)*"), "next_or_jump 6; next_or_jump 4; take 0; take 1; jump 1");
}

TEST(RegexParser, CopiesWhatIsCountedWithItsInnerJumps) {
  EXPECT_EQ(inner_code_of("(?:a|b){2}"),
            "next_or_jump 4; take 0; jump 5; take 1; next_or_jump 8; take 0; jump 9; take 1");
  EXPECT_EQ(inner_code_of("(a*){2}"),
            "save 2; next_or_jump 5; take 0; jump 2; save 3; "
            "save 2; next_or_jump 10; take 0; jump 7; save 3");
}

TEST(RegexParser, LeavesOutWhatRepeatsNothing) {
  for (const char* pattern : {"(?:)*", "(?:){1000}", "(?:(?:)(?:))+", "(?i)", "(?:a{0}){5}"}) {
    EXPECT_EQ(code_of(pattern), code_of("")) << pattern;
  }
  EXPECT_EQ(inner_code_of("(){0}a"), "take 0");
  EXPECT_EQ(parsed("(){0}(a)")->group_count, 3u);
}

TEST(RegexParser, NumbersAndNamesGroups) {
  const Expression expression = parsed("(?<a>x)(?:y)((?P<b_1>z))").value();
  EXPECT_EQ(expression.group_count, 4u);
  EXPECT_EQ(expression.group_names.size(), 2u);
  EXPECT_EQ(expression.group_names.at("a"), 1u);
  EXPECT_EQ(expression.group_names.at("b_1"), 3u);
}

TEST(RegexParser, KnowsWhatIsAsserted) {
  EXPECT_EQ(parsed("abc")->asserted, 0);
  EXPECT_EQ(parsed("^a$")->asserted, text_begin | text_end);
  EXPECT_EQ(parsed(R"(\Aa\z)")->asserted, text_begin | text_end);
  EXPECT_EQ(parsed("(?m)^a$")->asserted, line_begin | line_end);
  EXPECT_EQ(parsed("(?m:^)a$")->asserted, line_begin | text_end);
  EXPECT_EQ(parsed(R"(\ba\B)")->asserted, word_boundary | no_word_boundary);
}

// ---- sets

TEST(RegexParser, ReadsSets) {
  EXPECT_EQ(set_of("a"), "a");
  EXPECT_EQ(set_of(R"(\x{1F600})"), "{1F600}");
  EXPECT_EQ(set_of("\xe2\x82\xac"), "{20AC}");
  EXPECT_EQ(set_of("[a-cb-fx]"), "a-fx");
  EXPECT_EQ(set_of("[^a]"), "{0}-`b-{10FFFF}");
  EXPECT_EQ(set_of(R"([\]\-\\\^])"), R"(-\-^)");
  EXPECT_EQ(set_of("[\xc3\xa0-\xc3\xbf]"), "{E0}-{FF}");
  EXPECT_EQ(set_of(R"([^\x{0}-\x{10FFFF}])"), "");
  EXPECT_EQ(set_of("."), "{0}-{9}{B}-{10FFFF}");
  EXPECT_EQ(set_of("(?s)."), "{0}-{10FFFF}");
}

TEST(RegexParser, ReadsClasses) {
  const struct {
    const char *name, *set;
  } classes[] = {
      {"alnum", "0-9A-Za-z"},    {"alpha", "A-Za-z"},       {"ascii", "{0}-{7F}"},
      {"blank", "{9}{20}"},      {"cntrl", "{0}-{1F}{7F}"}, {"digit", "0-9"},
      {"graph", "!-~"},          {"lower", "a-z"},          {"print", "{20}-~"},
      {"punct", "!-/:-@[-`{-~"}, {"space", "{9}-{D}{20}"},  {"upper", "A-Z"},
      {"word", "0-9A-Z_a-z"},    {"xdigit", "0-9A-Fa-f"},
  };
  for (const auto& each : classes) {
    EXPECT_EQ(set_of("[[:"s + each.name + ":]]"), each.set);
    EXPECT_EQ(set_of("[^[:^"s + each.name + ":]]"), each.set);
  }
  EXPECT_EQ(set_of(R"(\p{Ogham})"), "{1680}-{169C}");
  EXPECT_EQ(set_of(R"([^\P{Ogham}])"), "{1680}-{169C}");
  EXPECT_EQ(set_of(R"(\P{^Ogham})"), "{1680}-{169C}");
  EXPECT_EQ(set_of(R"([\p{Zl}\p{Zp}x])"), "x{2028}-{2029}");
  EXPECT_EQ(set_of(R"(\pZ)"), set_of(R"(\p{Z})"));
}

TEST(RegexParser, FoldsCase) {
  EXPECT_EQ(set_of("(?i)a"), "Aa");
  EXPECT_EQ(set_of("(?i)k"), "Kk{212A}");
  EXPECT_EQ(set_of("(?i)[^k]"), "{0}-JL-jl-{2129}{212B}-{10FFFF}");
  EXPECT_EQ(set_of("(?i)[[:upper:]]"), "A-Za-z{17F}{212A}");
  EXPECT_EQ(set_of("(?i)[^[:^upper:]]"), "A-Za-z{17F}{212A}");
  EXPECT_EQ(set_of(R"((?i)[^\P{Lu}])"), set_of(R"((?i)\p{Lu})"));
  EXPECT_EQ(parsed("(?i)a(?-i)a")->sets.size(), 2u);
  EXPECT_EQ(parsed("(?i:a)a")->sets.size(), 2u);
  EXPECT_EQ(parsed("(?i:a)(?i)a")->sets.size(), 1u);
  EXPECT_EQ(parsed("((?i)a)a(?i)a")->sets.size(), 2u);
}

// ---- refusals

TEST(RegexParser, SaysWhichClassItDoesNotKnow) {
  const Error unknown = parsed(R"(a[b\p{Klingon}])").error();
  EXPECT_EQ(unknown.message, R"(there is no class \p{Klingon})");
  EXPECT_EQ(unknown.found, R"(pattern 'a[b\p{Klingon}]' at byte 3)");
  EXPECT_NE(unknown.hint.find("Greek"), std::string::npos);
  const Error twice = parsed(R"(\pX\pX)").error();
  EXPECT_EQ(twice.found, R"(pattern '\pX\pX')");
  const Error nonsense = parsed("[[:nonsense:]]").error();
  EXPECT_EQ(nonsense.message, "there is no class [:nonsense:]");
  EXPECT_EQ(nonsense.found, "pattern '[[:nonsense:]]' at byte 1");
  EXPECT_NE(nonsense.hint.find("xdigit"), std::string::npos);
  for (const char* pattern : {R"(\p{})", R"(\p{^})", "[[:^:]]", "[[:ALPHA:]]", R"(\p{L}\p{l})"}) {
    EXPECT_NE(refusal(pattern), "(accepted)") << pattern;
  }
}

TEST(RegexParser, CountsUpToAThousand) {
  EXPECT_EQ(parsed("a{1000}")->code.size(), 1003u);
  EXPECT_EQ(parsed("(?:a{10}){100}")->code.size(), 1003u);
  EXPECT_EQ(parsed("(?:a{10}|b{100}){10}")->group_count, 1u);
  const Error large = parsed("a{1001}").error();
  EXPECT_EQ(large.message, "the count of a repetition is too large");
  EXPECT_EQ(large.found, "pattern 'a{1001}' at byte 1");
  EXPECT_EQ(large.hint, "repetitions count up to 1000");
  EXPECT_EQ(refusal("a{0,1001}"), large.message);
  EXPECT_EQ(refusal("a{1001,}"), large.message);
  EXPECT_EQ(refusal("a{99999999999999999999999}"), large.message);
  EXPECT_EQ(refusal("a{3,2}"), "the counts of a repetition run backwards");
  const std::string nested = "nested repetitions multiply to more than 1000";
  EXPECT_EQ(refusal("(?:a{2}){501}"), nested);
  EXPECT_EQ(refusal("(?:x(a{11}|b)*){91}"), nested);
  EXPECT_EQ(refusal("(?:(?:a{10}){10}b){11}"), nested);
  EXPECT_EQ(refusal("(?:a{1000}){0,1}"), "(accepted)");
  EXPECT_EQ(refusal("(?:a{1000})*b{1000}"), "(accepted)");
}

TEST(RegexParser, RefusesWhatTakesTooMuchMemory) {
  const std::string large = "the pattern takes too much memory";
  EXPECT_EQ(refusal(repeated("a{1000}", 500)), "(accepted)");
  EXPECT_EQ(refusal(repeated("a{1000}", 600)), large);
  EXPECT_EQ(refusal("(?:" + repeated("a", 1000) + "){1000}"), large);
  EXPECT_EQ(refusal("(?:" + repeated("a{1000}", 500) + ")*"), "(accepted)");
  EXPECT_EQ(refusal("(?:" + repeated("a{1000}", 500) +
                    ")|a{1000}b{1000}(?:" + repeated("a{1000}", 50) + ")"),
            large);
  std::string many_sets;
  for (int i = 0; i < 3000; ++i) many_sets += R"([\w\x{)" + std::to_string(100000 + i) + "}]";
  EXPECT_EQ(refusal(many_sets), large);
  EXPECT_EQ(refusal(repeated(R"(\w)", 100000)), "(accepted)");
  const Error error = parsed(repeated("a{1000}", 600)).error();
  EXPECT_EQ(error.hint, "split it into several patterns");
}

}  // namespace
}  // namespace andiron::automaton
