// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/core/text/regex/prospects.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/core/text/pattern_syntax.h"
#include "src/core/text/regex/matcher.h"
#include "src/core/text/regex/parser.h"
#include "tests/support/pattern_maker.h"
#include "tests/support/regex_program.h"
#include "tests/support/repeated_text.h"

namespace andiron::automaton {
namespace {

using test::PatternMaker;
using test::regex_program;
using test::repeated;

bool is_between_bytes(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

struct AllMatches {
  std::vector<std::vector<const char*>> bounds;
  std::uint64_t steps = 0;
};

// One match after the other, from the end of the one before, as a replacement needs them.
AllMatches all_matches(const Program& program, std::string_view text, Prospects* prospects) {
  Matcher matcher(program, program.group_count);
  AllMatches out;
  for (std::size_t from = 0; from <= text.size() && matcher.find(text, from, prospects);) {
    const auto begin = static_cast<std::size_t>(matcher.bounds()[0] - text.data());
    from = static_cast<std::size_t>(matcher.bounds()[1] - text.data());
    const bool is_empty = begin == from;
    if (!is_empty || !is_between_bytes(text, begin)) {
      out.bounds.emplace_back(matcher.bounds().begin(), matcher.bounds().end());
    }
    if (!is_empty) continue;
    do {
      ++from;
    } while (is_between_bytes(text, from));
  }
  out.steps = matcher.steps();
  return out;
}

TEST(RegexProspects, LeadToTheMatchesThatAreFoundWithoutThem) {
  PatternMaker maker(PatternMaker::usual_seed);
  std::size_t matches = 0;
  for (int i = 0; i < 400; ++i) {
    const std::string pattern = maker.pattern();
    const Result<std::string> syntax = translate_regex(pattern);
    if (!syntax) continue;
    Result<Expression> expression = parse(pattern, *syntax);
    if (!expression) continue;
    const Program program = make_program(*std::move(expression)).value();
    std::string text;
    const std::size_t size = maker.below(4) == 0 ? 1000 : maker.below(30);
    while (text.size() < size) text += maker.name() + "\xc3\xa9\x80";
    Prospects prospects(program, text);
    const AllMatches expected = all_matches(program, text, nullptr);
    ASSERT_EQ(all_matches(program, text, &prospects).bounds, expected.bounds)
        << pattern << " in " << text;
    matches += expected.bounds.size();
  }
  EXPECT_GT(matches, 1000u);
}

TEST(RegexProspects, SaveReadingBehindEachMatch) {
  const std::pair<const char*, std::string> cases[] = {
      {"a(.*b)?", repeated("a", 20000)},
      {"(a|ab)(c|(?:ab)*d)?", repeated("ab", 10000)},
      {"(?:x.*y|x)", repeated("x", 20000)},
      {"a.*b|", repeated("a", 20000)},
  };
  for (const auto& [pattern, text] : cases) {
    const Program program = regex_program(pattern);
    Prospects prospects(program, text);
    EXPECT_LE(all_matches(program, text, &prospects).steps,
              4 * (text.size() + 1) * program.code.size())
        << pattern;
  }
}

}  // namespace
}  // namespace andiron::automaton
