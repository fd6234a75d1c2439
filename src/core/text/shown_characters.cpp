// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/display_text_test.cpp
#include "src/core/text/shown_characters.h"

#include "andiron/text.h"
#include "src/core/text/code_point_range.h"

namespace andiron::inline v1::detail {
namespace {

// Controls, format and bidirectional controls, fillers, variation selectors, tags, spaces other
// than ' ', and the blank pattern of Braille.
constexpr CodePointRange hidden[] = {
    {0x00, 0x1f},       {0x7f, 0xa0},       {0xad, 0xad},       {0x34f, 0x34f},
    {0x61c, 0x61c},     {0x115f, 0x1160},   {0x1680, 0x1680},   {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x2000, 0x200f},   {0x2028, 0x202f},   {0x205f, 0x206f},
    {0x2800, 0x2800},   {0x3000, 0x3000},   {0x3164, 0x3164},   {0xfdd0, 0xfdef},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
    {0xfffe, 0xffff},   {0x13430, 0x1345f}, {0x16fe4, 0x16fe4}, {0x1bca0, 0x1bca3},
    {0x1d159, 0x1d159}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

}  // namespace

bool ShownCharacters::must_escape_rare(char32_t character) noexcept {
  if (contains(hidden, character)) return marks_ = most_marks, true;
  if (character_width(character) != 0) return marks_ = 0, false;
  if (marks_ == most_marks) return true;
  return ++marks_, false;
}

}  // namespace andiron::inline v1::detail
