// SPDX-License-Identifier: MIT OR Apache-2.0
// Tables that tell whether there is a match.
#include "src/core/text/regex/search_table.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "src/core/text/regex/matcher.h"
#include "tests/support/regex_program.h"
#include "tests/support/repeated_text.h"

namespace andiron::automaton {
namespace {

using test::regex_program;
using test::repeated;

bool matches(std::string_view pattern, std::string_view text) {
  const Program program = regex_program(pattern);
  return SearchTable::make(program).value().matches(program.alphabet, text);
}

std::size_t states_of(std::string_view pattern) {
  const Program program = regex_program(pattern);
  const auto table = SearchTable::make(program);
  return table ? table->state_count() : 0;
}

TEST(RegexSearchTable, FindsAMatchAnywhere) {
  EXPECT_TRUE(matches("ab", "xxab"));
  EXPECT_TRUE(matches("ab", "aab"));
  EXPECT_FALSE(matches("ab", "a-b"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_TRUE(matches("a*", "b"));
  EXPECT_FALSE(matches("a", ""));
  EXPECT_TRUE(matches("\xc3\xa9+$", "a\xc3\xa9\xc3\xa9"));
  EXPECT_FALSE(matches("^.$", "\xff"));
}

TEST(RegexSearchTable, SeesWhatIsAsserted) {
  EXPECT_TRUE(matches("^a", "ab"));
  EXPECT_FALSE(matches("^a", "ba"));
  EXPECT_TRUE(matches("a$", "ba"));
  EXPECT_FALSE(matches("a$", "ab"));
  EXPECT_FALSE(matches("a$", "a\n"));
  EXPECT_TRUE(matches("(?m)a$", "a\n"));
  EXPECT_TRUE(matches("(?m)^b", "a\nb"));
  EXPECT_TRUE(matches(R"(\bb\b)", "a b-"));
  EXPECT_FALSE(matches(R"(\bb\b)", "ab bb"));
  EXPECT_TRUE(matches(R"(\Bb)", "ab"));
  EXPECT_FALSE(matches(R"(\Bb)", "b"));
  EXPECT_TRUE(matches("^$", ""));
  EXPECT_FALSE(matches("^$", "a"));
  EXPECT_FALSE(matches("b^", "b"));
  EXPECT_TRUE(matches("(?m)b\\n^", "ab\n"));
  EXPECT_TRUE(matches(R"(\B)",
                      "a\xc3\xa9"
                      "b"));
  EXPECT_FALSE(matches(R"(\B.)",
                       "a\xc3\xa9"
                       "b"));
}

TEST(RegexSearchTable, IsSmallForPatternsOfNames) {
  for (const char* pattern :
       {R"(^model\.)", R"(\.weight$)", R"(^(.*?)\.attn\.(\d+)\.)", R"((\w+)\.(\w+)\.weight)",
        R"(layers\.(\d+)\.self_attn\.([qkv])_proj)", R"(\bnorm\b|(?i)LayerNorm)",
        R"(^encoder\.(?:layer|block)s?\.\d{1,3}\.)"}) {
    EXPECT_GT(states_of(pattern), 2u) << pattern;
    EXPECT_LT(states_of(pattern), 60u) << pattern;
  }
}

TEST(RegexSearchTable, IsLeftOutWhereItWouldBeLarge) {
  EXPECT_EQ(states_of("(?:a|b)*a(?:a|b){20}"), 0u);
  EXPECT_EQ(states_of(R"(a.{100}b.{100}c)"), 0u);
  EXPECT_EQ(states_of(repeated("(?:a?b{1000})", 200)), 0u);
  std::string many_symbols;
  for (int i = 0; i < 4000; ++i) many_symbols += R"(\x{)" + std::to_string(10000 + i) + "}";
  EXPECT_EQ(states_of(many_symbols), 0u);
}

TEST(RegexSearchTable, AgreesWithTheMatcher) {
  const char* const patterns[] = {
      "a|b$",   R"(\ba)",       R"(a\b)",   "(?m)^a|b$", "(?:a?b)*c$",  "a{2,3}b",
      R"(\B-)", R"((?i)aB)",    "[^a]b",    R"(\w\W\w)", "(?s)a.b",     "a.b",
      "^a*b*$", "^(?:ab|ba)+$", R"(\b\b-)", R"(-\B$)",   "(?m)^-$|^a$",
  };
  const std::string_view characters = "ab-\n";
  for (const char* pattern : patterns) {
    const Program program = regex_program(pattern);
    const SearchTable table = SearchTable::make(program).value();
    Matcher matcher(program, 0);
    std::string text;
    for (std::size_t n = 0; n < 1365; ++n) {  // all texts of up to five characters
      text.clear();
      for (std::size_t rest = n; rest != 0; rest = (rest - 1) / 4) {
        text += characters[(rest - 1) % 4];
      }
      EXPECT_EQ(table.matches(program.alphabet, text), matcher.find(text, 0))
          << pattern << " over '" << text << "'";
    }
  }
}

}  // namespace
}  // namespace andiron::automaton
