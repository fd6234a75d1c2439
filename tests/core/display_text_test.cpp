// SPDX-License-Identifier: MIT OR Apache-2.0
// Text from files made safe to show.
#include "andiron/text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace andiron {
namespace {

using namespace std::string_view_literals;

TEST(DisplayText, LeavesPlainTextAlone) {
  for (const std::string_view text : {""sv, "model.layers.0.weight"sv, "a b'c\"d"sv, "~"sv,
                                      "caf\xc3\xa9"sv, "\xe6\xbc\xa2"sv, "\xf0\x9f\x94\xa5"sv}) {
    EXPECT_EQ(display_text(text), text);
  }
}

TEST(DisplayText, EscapesControlCharacters) {
  EXPECT_EQ(display_text("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(display_text("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(display_text("\0"sv), "\\x00");
  EXPECT_EQ(display_text("\x7f"), "\\x7f");
  EXPECT_EQ(display_text("\xc2\x9b"), "\\u009b") << "a terminal may take C1 controls for an escape";
}

TEST(DisplayText, DoublesBackslashesSoThatEscapesAreUnique) {
  EXPECT_EQ(display_text("\\n"), "\\\\n");
  EXPECT_NE(display_text("\\n"), display_text("\n"));
}

TEST(DisplayText, EscapesCharactersThatReorderOrHide) {
  EXPECT_EQ(display_text("\xe2\x80\xae"
                         "abc"),
            "\\u202eabc");                             // right-to-left override
  EXPECT_EQ(display_text("\xe2\x81\xa6"), "\\u2066");  // left-to-right isolate
  EXPECT_EQ(display_text("\xe2\x80\x8f"), "\\u200f");  // right-to-left mark
  EXPECT_EQ(display_text("\xd8\x9c"), "\\u061c");      // Arabic letter mark
  EXPECT_EQ(display_text("a\xe2\x80\x8b"
                         "b"),
            "a\\u200bb");                                      // zero-width space
  EXPECT_EQ(display_text("\xe2\x80\xa8"), "\\u2028");          // line separator
  EXPECT_EQ(display_text("\xef\xbb\xbf"), "\\ufeff");          // byte order mark
  EXPECT_EQ(display_text("\xc2\xad"), "\\u00ad");              // soft hyphen
  EXPECT_EQ(display_text("\xf3\xa0\x81\x81"), "\\U000e0041");  // tag character
}

TEST(DisplayText, EscapesCharactersThatLookLikeABlank) {
  for (const char* blank : {"\u00a0", "\u115f", "\u1160", "\u1680", "\u2000", "\u200a", "\u202f",
                            "\u205f", "\u2800", "\u3000", "\u3164", "\ufe0f", "\uffa0"}) {
    const std::string shown = display_text(std::string("a") + blank + "b");
    EXPECT_EQ(shown.size(), std::string_view("a\\u00a0b").size()) << shown;
    EXPECT_EQ(shown.substr(0, 3), "a\\u");
  }
  EXPECT_EQ(display_text("\U0001d159"), "\\U0001d159");  // a note head that is not there
  EXPECT_EQ(display_text("\U000e0100"), "\\U000e0100");  // a variation selector
}

TEST(DisplayText, ShowsABlankAtEitherEnd) {
  EXPECT_EQ(display_text(" a b "), "\\x20a b\\x20");
  EXPECT_EQ(display_text("  a"), "\\x20 a");
  EXPECT_EQ(display_text(" "), "\\x20");
  EXPECT_EQ(display_line(" a b "), " a b ");
}

TEST(DisplayText, LeavesMarksOnALetterUnlessThereAreTooMany) {
  const std::string acute = "\u0301";
  const std::string escaped = "\\u0301";
  const auto marks = [&](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += acute;
    return text;
  };
  EXPECT_EQ(display_text("e" + marks(4) + "e" + marks(4)), "e" + marks(4) + "e" + marks(4));
  EXPECT_EQ(display_text("e" + marks(6) + "t" + marks(1)),
            "e" + marks(4) + escaped + escaped + "t" + marks(1));
  EXPECT_EQ(display_text(marks(1) + "e"), escaped + "e") << "it would stand on what is before it";
  EXPECT_EQ(display_text("\n" + marks(1)), "\\n" + escaped) << "or on an escape";
  EXPECT_EQ(display_text("\xff" + marks(1)), "\\xff" + escaped);
  // Thai, Hebrew, Tibetan, and Hangul in single letters.
  for (const char* word : {"\u0e17\u0e35\u0e48", "\u05e9\u05c1\u05b8\u0591",
                           "\u0f66\u0f92\u0fb2\u0f74\u0f56", "\u1112\u1161\u11ab"}) {
    EXPECT_EQ(display_text(word), word);
  }
}

TEST(DisplayLine, IsNotChangedByBeingEscapedAgain) {
  for (const std::string_view line : {"a\u0301\u0301\u0301\u0301\u0301\u0301b"sv, "\u0301x"sv,
                                      "\u00a0\xff\u0301 \\d"sv, " a\n "sv}) {
    const std::string once = display_line(line);
    EXPECT_EQ(display_line(once), once);
  }
}

TEST(DisplayText, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(display_text("\xff"), "\\xff");
  EXPECT_EQ(display_text("a\x80"), "a\\x80");
  EXPECT_EQ(display_text("\xc3"), "\\xc3");
  EXPECT_EQ(display_text("\xc3x"), "\\xc3x");
  EXPECT_EQ(display_text("\xc0\xaf"), "\\xc0\\xaf") << "an overlong slash";
  EXPECT_EQ(display_text("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(display_text("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "past U+10FFFF";
}

TEST(DisplayText, GivesPrintableTextForAnyBytes) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      for (const char c : display_text(text)) {
        ASSERT_GE(static_cast<unsigned char>(c), 0x20) << first << " " << second;
        ASSERT_NE(c, '\x7f');
      }
    }
  }
}

}  // namespace
}  // namespace andiron
