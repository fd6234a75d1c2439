// SPDX-License-Identifier: MIT OR Apache-2.0
// Which characters of a text a person may see as they are.
#pragma once

namespace andiron::inline v1::detail {

// Asked for each character of a text, in order.
class ShownCharacters {
 public:
  // True for controls, characters that hide, reorder or look like a blank, and marks that have
  // nothing to stand on or too many marks below them.
  bool must_escape(char32_t character) noexcept {
    if (character >= 0x20 && character < 0x7f) return marks_ = 0, false;
    return must_escape_rare(character);
  }
  // For bytes that are not a character.
  void pass_escape() noexcept { marks_ = most_marks; }

 private:
  // Hebrew and Tibetan need up to four on one letter.
  static constexpr unsigned most_marks = 4;

  bool must_escape_rare(char32_t character) noexcept;

  unsigned marks_ = most_marks;  // in a row; none may stand at the start, or on an escape
};

}  // namespace andiron::inline v1::detail
