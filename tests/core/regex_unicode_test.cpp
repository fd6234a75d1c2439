// SPDX-License-Identifier: MIT OR Apache-2.0
// Sets of code points, Unicode's classes and case folding.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "src/core/text/regex/code_point_ranges.h"
#include "src/core/text/regex/unicode_classes.h"
#include "src/core/text/regex/unicode_tables.h"

namespace andiron::automaton {
namespace {

bool has(const CodePointRanges& ranges, char32_t c) { return meets(ranges, {c, c}); }

std::size_t size_of(const CodePointRanges& ranges) {
  std::size_t size = 0;
  for (const auto& range : ranges) size += range.last - range.first + 1;
  return size;
}

bool is_normal(const CodePointRanges& ranges) {
  CodePointRanges again = ranges;
  normalize(again);
  return again == ranges;
}

std::u32string variants(char32_t c) {
  CodePointRanges ranges = {{c, c}};
  add_case_variants(ranges);
  EXPECT_TRUE(is_normal(ranges));
  std::u32string out;
  for (const auto& range : ranges) {
    for (char32_t each = range.first; each <= range.last; ++each) out += each;
  }
  return out;
}

TEST(RegexCodePointRanges, AreNormalWhenSortedAndJoined) {
  CodePointRanges ranges = {{'x', 'z'}, {'a', 'c'}, {'d', 'f'}, {'b', 'b'}, {'h', 'h'}};
  normalize(ranges);
  EXPECT_EQ(ranges, (CodePointRanges{{'a', 'f'}, {'h', 'h'}, {'x', 'z'}}));
  EXPECT_TRUE(meets(ranges, {'f', 'g'}));
  EXPECT_TRUE(meets(ranges, {'i', 'x'}));
  EXPECT_FALSE(meets(ranges, {'g', 'g'}));
  EXPECT_FALSE(meets(ranges, {'i', 'w'}));
  EXPECT_FALSE(meets({}, {0, last_code_point}));
}

TEST(RegexCodePointRanges, HaveAComplement) {
  EXPECT_EQ(complement({}), (CodePointRanges{{0, last_code_point}}));
  EXPECT_EQ(complement({{0, last_code_point}}), CodePointRanges{});
  EXPECT_EQ(complement({{0, 'a'}, {'c', 'c'}}), (CodePointRanges{{'b', 'b'}, {'d', 0x10ffff}}));
  EXPECT_EQ(complement({{'b', last_code_point}}), (CodePointRanges{{0, 'a'}}));
}

TEST(RegexUnicodeClasses, AreGeneralCategoriesAndScripts) {
  EXPECT_TRUE(has(*unicode_class("Lu"), 'A'));
  EXPECT_FALSE(has(*unicode_class("Lu"), 'a'));
  EXPECT_TRUE(has(*unicode_class("L"), 0x4e2d));
  EXPECT_TRUE(has(*unicode_class("Nd"), 0x663));
  EXPECT_FALSE(has(*unicode_class("Nd"), 0xb2));
  EXPECT_TRUE(has(*unicode_class("Greek"), 0x3b1));
  EXPECT_TRUE(has(*unicode_class("Han"), 0x323af));
  EXPECT_TRUE(has(*unicode_class("Cs"), 0xd800));
  EXPECT_TRUE(has(*unicode_class("Co"), 0x10fffd));
  EXPECT_EQ(*unicode_class("Any"), (CodePointRanges{{0, last_code_point}}));
  for (const char* unknown :
       {"", "l", "LL", "greek", "Gree", "Greek ", "Cn", "LC", "Klingon", " "}) {
    EXPECT_FALSE(unicode_class(unknown).has_value()) << unknown;
  }
}

TEST(RegexUnicodeClasses, HaveEveryNameOnce) {
  for (const std::string_view names : {category_names, script_names}) {
    CodePointRanges all;
    std::size_t sum = 0;
    for (std::string_view left = names; !left.empty();) {
      const std::string_view name = left.substr(0, left.find(' '));
      left.remove_prefix(name.size() + 1);
      const auto ranges = unicode_class(name);
      ASSERT_TRUE(ranges.has_value()) << name;
      EXPECT_TRUE(is_normal(*ranges)) << name;
      sum += size_of(*ranges);
      all.insert(all.end(), ranges->begin(), ranges->end());
    }
    normalize(all);
    EXPECT_EQ(size_of(all), sum) << "a character has two of " << names;
    EXPECT_LE(all.back().last, last_code_point);
  }
}

TEST(RegexUnicodeClasses, OfOneLetterAreTheirParts) {
  const struct {
    const char* whole;
    std::vector<const char*> parts;
  } classes[] = {{"L", {"Ll", "Lm", "Lo", "Lt", "Lu"}},
                 {"M", {"Mc", "Me", "Mn"}},
                 {"N", {"Nd", "Nl", "No"}},
                 {"Z", {"Zl", "Zp", "Zs"}},
                 {"C", {"Cc", "Cf", "Co", "Cs"}}};
  for (const auto& [whole, parts] : classes) {
    CodePointRanges joined;
    for (const char* part : parts) {
      const CodePointRanges ranges = unicode_class(part).value();
      joined.insert(joined.end(), ranges.begin(), ranges.end());
    }
    normalize(joined);
    EXPECT_EQ(unicode_class(whole), joined) << whole;
  }
}

TEST(RegexCaseVariants, FollowSimpleFolding) {
  EXPECT_EQ(variants('a'), U"Aa");
  EXPECT_EQ(variants('Z'), U"Zz");
  EXPECT_EQ(variants('1'), U"1");
  EXPECT_EQ(variants('k'), U"Kk\u212a");
  EXPECT_EQ(variants(0x212a), U"Kk\u212a");
  EXPECT_EQ(variants('s'), U"Ss\u017f");
  EXPECT_EQ(variants(0x3c2), U"\u03a3\u03c2\u03c3");
  EXPECT_EQ(variants(0xdf), U"\u00df\u1e9e");
  EXPECT_EQ(variants(0x131), U"\u0131") << "Turkish letters fold to themselves";
  EXPECT_EQ(variants(0x10400), U"\U00010400\U00010428");
  EXPECT_EQ(variants(0x1e921), U"\U0001e921\U0001e943");
  EXPECT_EQ(variants(0x13a0), U"\u13a0\uab70");
}

TEST(RegexCaseVariants, OfAllLettersAddNothingTheSecondTime) {
  for (const char* name : {"L", "Lu", "Ll", "Lt", "Latin", "Cherokee"}) {
    CodePointRanges once = *unicode_class(name);
    add_case_variants(once);
    CodePointRanges twice = once;
    add_case_variants(twice);
    EXPECT_EQ(once, twice) << name;
    EXPECT_GE(size_of(once), size_of(*unicode_class(name)));
  }
}

}  // namespace
}  // namespace andiron::automaton
