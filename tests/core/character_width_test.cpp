// SPDX-License-Identifier: MIT OR Apache-2.0
// Columns of a character on a terminal.
#include <gtest/gtest.h>

#include "andiron/text.h"

namespace andiron {
namespace {

TEST(CharacterWidth, IsOneForMostLetters) {
  for (const char32_t c : {U'a', U' ', U'\u00e9', U'\u03b1', U'\u0416', U'\u05d0', U'\uff71'}) {
    EXPECT_EQ(character_width(c), 1u) << static_cast<unsigned>(c);
  }
}

TEST(CharacterWidth, IsTwoForEastAsianWideCharacters) {
  for (const char32_t c : {U'\u5c42', U'\u3042', U'\uac00', U'\u1112', U'\uff21', U'\U0001f525',
                           U'\U00020000', U'\U00031350'}) {
    EXPECT_EQ(character_width(c), 2u) << static_cast<unsigned>(c);
  }
}

TEST(CharacterWidth, IsNoneForCharactersThatJoinTheOneBefore) {
  for (const char32_t c : {U'\u0301', U'\u20dd', U'\u0e48', U'\u1161', U'\u11ab', U'\u200d'}) {
    EXPECT_EQ(character_width(c), 0u) << static_cast<unsigned>(c);
  }
}

}  // namespace
}  // namespace andiron
