// SPDX-License-Identifier: MIT OR Apache-2.0
// Learning to rename: what rules turn the names of a file into those that a module wants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/proposals/name_pairs.h"
#include "src/proposals/work_budget.h"

namespace andiron::inline v1::detail {

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

// Rules that bring loose names nearer to wanted ones, the most useful first: differences that many
// pairs of names share become rules. Stops when the budget is spent.
std::vector<NameRule> rules_for(const NamesToMatch& names, WorkBudget& budget);

}  // namespace andiron::inline v1::detail
