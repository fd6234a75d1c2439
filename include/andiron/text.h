// SPDX-License-Identifier: MIT OR Apache-2.0
// Names as text: patterns over them, the order to list them in, and how to show them safely.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "andiron/error.h"

namespace andiron::inline v1 {

/// A compiled pattern. matches() takes time linear in the text, whatever the pattern; replace_all()
/// starts anew after each match. Immutable, cheap to copy, safe from several threads.
///
/// The dialect is that of Rust's regex crate: Perl-like, Unicode, leftmost-first; no look-around
/// and no back-references. \d \w \s are Unicode classes. Not supported, and refused with
/// InvalidPattern: the class operators && -- ~~, classes within classes, \W beside others in a
/// negated class, the flag x, a repetition right after another (a++) and counts above 1000. \b and
/// \B go by ASCII words.
class Pattern {
 public:
  /// InvalidPattern with the pattern and the position when it does not parse.
  static Result<Pattern> regex(std::string_view pattern);
  /// Matches whole names, where a leading or inner `**.` may stand for nothing: `*` stands for text
  /// within one dotted segment, `**` for any depth, `?` for one character other than a dot; all
  /// else is literal.
  static Result<Pattern> glob(std::string_view pattern);

  /// The text it was made from.
  const std::string& text() const noexcept;
  /// Whether it matches anywhere in `name` (regex) or all of it (glob).
  bool matches(std::string_view name) const;
  /// `name` with every non-overlapping match replaced. In `replacement`, $1, $name and ${name}
  /// stand for groups, $$ for a dollar. As in Rust the longest possible name counts: `$1x` is the
  /// group named "1x". Groups that do not exist or did not match are empty.
  std::string replace_all(std::string_view name, std::string_view replacement) const;
  /// A warning when `replacement` names a group that this pattern lacks; empty otherwise.
  std::string check_replacement(std::string_view replacement) const;

  class Engine;

 private:
  explicit Pattern(std::shared_ptr<const Engine> engine) : engine_(std::move(engine)) {}
  std::shared_ptr<const Engine> engine_;
};

/// Compares text bytewise but runs of digits by value: layers.2 before layers.10. Names that differ
/// only in leading zeros fall back to bytewise order, so it is a strict total order.
bool natural_less(std::string_view a, std::string_view b) noexcept;

/// The same order for std::set and std::map.
struct NaturalLess {
  bool operator()(std::string_view a, std::string_view b) const noexcept {
    return natural_less(a, b);
  }
};

/// `text` on one line and without surprises for a terminal or a log: control characters, bytes that
/// are not UTF-8, bidirectional controls and invisible characters become escapes (\n, \x1b,
/// \u202e), a backslash becomes two. All else stays as it is.
std::string display_text(std::string_view text);

/// The same for a sentence that has text from a file in it: a backslash stays as it is, so that
/// patterns can be copied, and showing it twice changes nothing.
std::string display_line(std::string_view sentence);

}  // namespace andiron::inline v1
