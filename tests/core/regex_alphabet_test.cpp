// SPDX-License-Identifier: MIT OR Apache-2.0
// Characters that the sets of an expression cannot tell apart are one symbol.
#include "src/core/text/regex/alphabet.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "src/core/text/regex/unicode_classes.h"

namespace andiron::automaton {
namespace {

using namespace std::literals;

std::vector<Alphabet::Symbol> symbols_of(const Alphabet& alphabet, std::string_view text) {
  std::vector<Alphabet::Symbol> out;
  const char* at = text.data();
  while (at != text.data() + text.size())
    out.push_back(alphabet.take(at, text.data() + text.size()));
  return out;
}

TEST(RegexAlphabet, HasOneSymbolForAllThatNoSetTellsApart) {
  const std::vector<CodePointRanges> sets = {
      {{'a', 'f'}}, {{'d', 'k'}}, {{'e', 'e'}, {0xe9, 0xe9}}};
  const Alphabet alphabet = Alphabet::make(sets).value();
  const auto symbols = symbols_of(alphabet, "abcdefgkz\xc3\xa9");
  EXPECT_EQ(symbols[0], symbols[1]);
  EXPECT_EQ(symbols[0], symbols[2]);
  EXPECT_EQ(symbols[3], symbols[5]) << "d and f are in the first two sets";
  EXPECT_NE(symbols[3], symbols[4]);
  EXPECT_EQ(symbols[6], symbols[7]);
  EXPECT_NE(symbols[9], symbols[8]);
  EXPECT_EQ(alphabet.size(), 6u) << "abc, df, e, g-k, U+00E9, and the rest";
  for (std::uint32_t set = 0; set < sets.size(); ++set) {
    for (char32_t c = 0; c < 0x80; ++c) {
      const std::string text(1, static_cast<char>(c));
      EXPECT_EQ(alphabet.is_in(symbols_of(alphabet, text)[0], set), meets(sets[set], {c, c}));
    }
  }
}

TEST(RegexAlphabet, StaysSmallWithLargeClasses) {
  EXPECT_EQ(Alphabet::make({})->size(), 1u);
  const std::vector<CodePointRanges> letters = {*unicode_class("L")};
  EXPECT_EQ(Alphabet::make(letters)->size(), 2u);
  const std::vector<CodePointRanges> some = {*unicode_class("L"), *unicode_class("Lu"),
                                             *unicode_class("Greek"), *unicode_class("Nd")};
  EXPECT_EQ(Alphabet::make(some)->size(), 7u);
}

TEST(RegexAlphabet, TakesWholeCharactersAndSingleWrongBytes) {
  const std::vector<CodePointRanges> sets = {{{0, last_code_point}}, {{0x20ac, 0x20ac}}};
  const Alphabet alphabet = Alphabet::make(sets).value();
  const auto symbols = symbols_of(alphabet, "a\xe2\x82\xac\xff\xe2\x82\xf0\x9f\x98\x80");
  ASSERT_EQ(symbols.size(), 6u);
  EXPECT_TRUE(alphabet.is_in(symbols[1], 1));
  EXPECT_EQ(alphabet.example(symbols[1]), 0x20acu);
  for (const std::size_t wrong : {2u, 3u, 4u}) EXPECT_FALSE(alphabet.is_in(symbols[wrong], 0));
  EXPECT_TRUE(alphabet.is_in(symbols[5], 0));
  for (const std::string_view wrong : {"\xc0\xaf"sv, "\xed\xa0\x80"sv, "\xf4\x90\x80\x80"sv}) {
    EXPECT_EQ(symbols_of(alphabet, wrong).size(), wrong.size()) << "overlong, surrogate, too large";
  }
}

TEST(RegexAlphabet, RefusesWhatTakesTooMuchMemoryOrTime) {
  // Every set cuts every class in two, more or less.
  std::vector<CodePointRanges> sets;
  for (char32_t c = 0; c < 20000; ++c) sets.push_back(complement({{0x4e00 + c, 0x4e00 + c}}));
  EXPECT_FALSE(Alphabet::make(sets).has_value());
  sets.resize(1000);
  EXPECT_EQ(Alphabet::make(sets)->size(), 1002u);
}

}  // namespace
}  // namespace andiron::automaton
