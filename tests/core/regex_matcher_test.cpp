// SPDX-License-Identifier: MIT OR Apache-2.0
// Which match our own engine finds, with which groups, and what work that is.
#include "src/core/text/regex/matcher.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/support/regex_program.h"
#include "tests/support/repeated_text.h"

namespace andiron::automaton {
namespace {

using test::regex_program;
using test::repeated;

// The bounds of the match and of its groups: "0-3 1-2 -".
std::string found(std::string_view pattern, std::string_view text, std::size_t from = 0) {
  const Program program = regex_program(pattern);
  Matcher matcher(program, program.group_count);
  if (!matcher.find(text, from)) return "nothing";
  std::string out;
  for (std::size_t i = 0; i < program.group_count; ++i) {
    const char* const begin = matcher.bounds()[2 * i];
    const char* const end = matcher.bounds()[2 * i + 1];
    if (!out.empty()) out += " ";
    out += begin == nullptr
               ? "-"
               : std::to_string(begin - text.data()) + "-" + std::to_string(end - text.data());
  }
  return out;
}

TEST(RegexMatcher, FindsTheLeftmostMatchAndPrefersFirstAlternatives) {
  EXPECT_EQ(found("b|ab", "cab"), "1-3");
  EXPECT_EQ(found("a|ab", "cab"), "1-2");
  EXPECT_EQ(found("(a|ab)(c|bcd)(d*)", "abcd"), "0-4 0-1 1-4 4-4");
  EXPECT_EQ(found("(?:a|ab)(?:c|bcd)$", "abcd"), "0-4");
  EXPECT_EQ(found("x", "abc"), "nothing");
  EXPECT_EQ(found("", "abc"), "0-0");
}

TEST(RegexMatcher, TakesMuchOrLittleAsAsked) {
  EXPECT_EQ(found("(a+)(a*)", "aaa"), "0-3 0-3 3-3");
  EXPECT_EQ(found("(a+?)(a*)", "aaa"), "0-3 0-1 1-3");
  EXPECT_EQ(found("(a{0,1}?)(a?)", "aa"), "0-1 0-0 0-1");
  EXPECT_EQ(found("(a{2,3})(a*)", "aaaaa"), "0-5 0-3 3-5");
  EXPECT_EQ(found("(a{2,3}?)(a*)", "aaaaa"), "0-5 0-2 2-5");
  EXPECT_EQ(found("(?U)(a+)(a+?)", "aaa"), "0-3 0-1 1-3");
  EXPECT_EQ(found("^(.*?)\\.attn\\.(\\d+)\\.", "h.7.attn.12.bias"), "0-12 0-3 9-11");
}

TEST(RegexMatcher, KeepsGroupsOfTheLastPass) {
  EXPECT_EQ(found("(a|b)*", "abab"), "0-4 3-4");
  EXPECT_EQ(found("(?:(a)|(b))*", "ab"), "0-2 0-1 1-2");
  EXPECT_EQ(found("(a)|(b)", "b"), "0-1 - 0-1");
  EXPECT_EQ(found("((a)|b)+", "ab"), "0-2 1-2 0-1");
  EXPECT_EQ(found("(a){3}", "aaa"), "0-3 2-3");
  EXPECT_EQ(found("(?:(a)x|ab)c", "abc"), "0-3 -") << "a way that failed leaves no bounds";
}

TEST(RegexMatcher, EndsLoopsOverTheEmptyText) {
  EXPECT_EQ(found("(a*)*", "b"), "0-0 0-0");
  EXPECT_EQ(found("(a*)+", "aab"), "0-2 0-2");
  EXPECT_EQ(found("(|a)*", "aa"), "0-0 0-0");
  EXPECT_EQ(found("(|a)+", "aa"), "0-0 0-0");
  EXPECT_EQ(found("(a|)+", "aa"), "0-2 1-2");
  EXPECT_EQ(found("(?:|a+)*b", "aab"), "0-3");
  EXPECT_EQ(found("(a*?)*?b", "aab"), "0-3 0-2");
  EXPECT_EQ(found("(.*?)+K", "kK-K"), "0-2 0-1");
  EXPECT_EQ(found("(?:^)*a", "ba"), "1-2");
}

TEST(RegexMatcher, StartsWhereItIsToldAndLooksBack) {
  EXPECT_EQ(found("a", "aba", 1), "2-3");
  EXPECT_EQ(found("^a", "aa", 1), "nothing");
  EXPECT_EQ(found("(?m)^a", "b\na", 1), "2-3");
  EXPECT_EQ(found("(?m)^", "b\na", 2), "2-2");
  EXPECT_EQ(found("\\ba", "aa a", 1), "3-4");
  EXPECT_EQ(found("\\b", "aa", 1), "2-2");
  EXPECT_EQ(found("$", "aa", 2), "2-2");
  EXPECT_EQ(found("a", "aa", 2), "nothing");
}

TEST(RegexMatcher, SeesLinesAndWords) {
  EXPECT_EQ(found("a$", "a\na"), "2-3");
  EXPECT_EQ(found("(?m)a$", "a\na"), "0-1");
  EXPECT_EQ(found("(?m)^$", "a\n\nb"), "2-2");
  EXPECT_EQ(found(R"(\bb\b)", "ab b"), "3-4");
  EXPECT_EQ(found(R"(\Bb)", "b ab"), "3-4");
  EXPECT_EQ(found(R"(\bb)",
                  "\xc3\xa9"
                  "b"),
            "2-3")
      << "words are ASCII";
}

TEST(RegexMatcher, FindsEmptyMatchesBetweenTheBytesOfACharacterAsRe2Does) {
  EXPECT_EQ(found(R"(\B)",
                  "a\xc3\xa9"
                  "b"),
            "2-2");
  EXPECT_EQ(found(R"((\B)|b)",
                  "a\xc3\xa9"
                  "b"),
            "2-2 2-2");
  EXPECT_EQ(found(R"(\xe9b|\B)",
                  "a\xc3\xa9"
                  "b"),
            "1-4")
      << "what began before is preferred";
  EXPECT_EQ(found(R"(\B.)",
                  "a\xc3\xa9"
                  "b"),
            "nothing");
}

TEST(RegexMatcher, PassesOverBytesThatAreNotUtf8) {
  EXPECT_EQ(found(".",
                  "\xff\x80"
                  "a"),
            "2-3");
  EXPECT_EQ(found("[^a]", "a\xc3"), "nothing");
  EXPECT_EQ(found("a.b",
                  "a\xff"
                  "b"),
            "nothing");
  EXPECT_EQ(found("", "\xff", 1), "1-1");
}

TEST(RegexMatcher, CanBeUsedAgain) {
  const Program program = regex_program("(a)|b");
  Matcher matcher(program, 2);
  EXPECT_TRUE(matcher.find("a", 0));
  EXPECT_NE(matcher.bounds()[2], nullptr);
  EXPECT_TRUE(matcher.find("b", 0));
  EXPECT_EQ(matcher.bounds()[2], nullptr);
  EXPECT_FALSE(matcher.find("c", 0));
}

TEST(RegexMatcher, DoesWorkInProportionToTextAndProgram) {
  const std::string many_a(1000, 'a');
  const struct {
    std::string pattern, text;
  } cases[] = {
      {"(a*)*b", many_a},
      {"(a|aa)+$", many_a + "b"},
      {"^(a+)+$", many_a + "b"},
      {"(?:(?:(?:a*)*)*)*b", many_a},
      {"(a?){50}a{50}", many_a},
      {"(?:a?){500}a{500}b", many_a},
      {"(.*)(.*)(.*)(.*)(.*)x", many_a},
      {"(?:x{100}){10}", repeated("x", 1500)},
      {"(a|b|ab)*c", repeated("ab", 500)},
      {"(?i)(?:\\w+\\s?)*!", repeated("word ", 200)},
      {repeated("(", 250) + "a*" + repeated(")*", 250) + "b", many_a},
      {"a|b|(?:c|d|(?:e|f)*)*g", repeated("abcdef", 200)},
  };
  for (const auto& each : cases) {
    const Program program = regex_program(each.pattern);
    for (const std::size_t groups : {std::size_t{0}, program.group_count}) {
      Matcher matcher(program, groups);
      matcher.find(each.text, 0);
      // Each instruction is run once at a place, and each way takes or does not take what is there.
      EXPECT_LE(matcher.steps(), 2 * (each.text.size() + 1) * program.code.size()) << each.pattern;
    }
  }
}

TEST(RegexMatcher, StopsWhereTheAnswerIsKnown) {
  const std::string text(100000, 'a');
  const auto steps = [&](std::string_view pattern) {
    const Program program = regex_program(pattern);
    Matcher matcher(program, 1);
    matcher.find(text, 0);
    return matcher.steps();
  };
  EXPECT_LT(steps("^b"), 100u);
  EXPECT_LT(steps("^ab"), 100u);
  EXPECT_LT(steps("a+?"), 100u);
  EXPECT_LT(steps("b"), 100u) << "what no match begins with is passed over";
}

}  // namespace
}  // namespace andiron::automaton
