// SPDX-License-Identifier: MIT OR Apache-2.0
// Learning to rename: which names of a file and of a module mean the same, and what rules turn the
// first into the second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace andiron {
inline namespace v1 {
namespace detail {

// As KeyRemapper takes it.
struct NameRule {
  std::string pattern;
  std::string replacement;
  // Names a number or a whole name, so that it serves few names.
  bool is_narrow = false;
  // Turns words into others that have nothing in common with them: shapes and order speak for it.
  bool is_guess = false;

  friend bool operator==(const NameRule&, const NameRule&) = default;
};

// A name with nothing in it that needs care in C++ source or on a terminal.
bool is_plain_name(std::string_view name);
// `text` for a regular expression that matches it alone.
std::string escaped_for_regex(std::string_view text);

// A tensor of the file that feeds nothing yet.
struct LooseName {
  std::string_view name;    // as rules see it
  std::string_view closed;  // after index gaps are closed, where they are
  std::size_t shape;        // equal for equal shapes
};

// A name that an adapter asks for in vain.
struct WantedName {
  std::string_view name;
  std::size_t place;                // of the parameter that it would feed
  std::vector<std::size_t> shapes;  // of tensors that would fit, sorted
};

struct NamesToMatch {
  std::vector<LooseName> loose;
  std::vector<WantedName> wanted;
  std::vector<std::string_view> settled;  // names that feed something and are best left alone
  bool closes_gaps = false;
};

// Rules that bring loose names nearer to wanted ones, the most useful first. Names are paired by
// shape, words, numbers and order; differences that many pairs share become rules. Takes from
// `budget` about one for each pair of names compared, and stops when it is spent.
std::vector<NameRule> rules_for(const NamesToMatch& names, std::uint64_t& budget);

}  // namespace detail
}  // namespace v1
}  // namespace andiron
