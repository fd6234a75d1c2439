// SPDX-License-Identifier: MIT OR Apache-2.0
// Patterns over names, natural order, escaping and measuring for display.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "andiron/error.h"

namespace andiron::inline v1 {

/// A compiled pattern. Immutable, cheap to copy, safe from several threads at once. matches() and
/// replace_all() take time linear in the text, whatever the pattern.
///
/// The dialect is that of Rust's regex crate: Perl-like, Unicode, leftmost-first, without
/// look-around and back-references. \d \w \s are Unicode classes; \b and \B use ASCII words. Not
/// supported, and refused with InvalidPattern: the class operators && -- ~~, nested classes, \W
/// next to others in a negated class, the flag x, a repetition directly after another (a++), and
/// counts above 1000.
class Pattern {
 public:
  /// Fails with InvalidPattern, with the pattern and the position, if it does not parse.
  static Result<Pattern> regex(std::string_view pattern);
  /// Matches whole names. `*` is any text within one dotted segment, `**` any depth, `?` one
  /// character other than a dot. A leading or inner `**.` may also match nothing. Everything else
  /// is literal.
  static Result<Pattern> glob(std::string_view pattern);

  /// The text it was made from.
  const std::string& text() const noexcept;
  /// True if it matches anywhere in `name` (regex) or all of it (glob).
  bool matches(std::string_view name) const;
  /// Returns `name` with every non-overlapping match replaced. In `replacement`, $1, $name and
  /// ${name} are groups, and $$ is a dollar sign. As in Rust, the longest possible name counts:
  /// `$1x` is the group named "1x". Groups that do not exist or did not match are empty.
  std::string replace_all(std::string_view name, std::string_view replacement) const;
  /// Returns a warning if `replacement` names a group that this pattern does not have; otherwise an
  /// empty string.
  std::string check_replacement(std::string_view replacement) const;

  class Engine;

 private:
  explicit Pattern(std::shared_ptr<const Engine> engine) : engine_(std::move(engine)) {}
  std::shared_ptr<const Engine> engine_;
};

/// Compares bytewise, but runs of digits by value: layers.2 before layers.10. Names that differ
/// only in leading zeros are compared bytewise, so this is a strict total order.
bool natural_less(std::string_view a, std::string_view b) noexcept;

/// The same order for std::set and std::map.
struct NaturalLess {
  bool operator()(std::string_view a, std::string_view b) const noexcept {
    return natural_less(a, b);
  }
};

/// Returns `text` on one line, safe for a terminal or a log. Escapes control characters, invalid
/// UTF-8, bidirectional controls, characters that are invisible or look like a blank (\n, \x1b,
/// \u202e, \u00a0), a blank at either end, and combining marks beyond four on one character.
/// Doubles backslashes. Everything else is unchanged.
std::string display_text(std::string_view text);

/// The same for a sentence that quotes a file. Backslashes and blanks at the ends are unchanged, so
/// patterns can be copied, and escaping twice has no effect.
std::string display_line(std::string_view sentence);

/// Returns `text` as one word of a command line, in quotes if it needs them.
std::string shell_word(std::string_view text);

/// The columns of a terminal that a character takes: 0 for combining marks, 2 for East Asian wide
/// ones, else 1.
unsigned character_width(char32_t character) noexcept;

}  // namespace andiron::inline v1
