// SPDX-License-Identifier: MIT OR Apache-2.0
// Learns the rules that turn the names of a file into those that a module wants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/proposals/name_pairs.h"
#include "src/proposals/work_budget.h"

namespace andiron::inline v1::detail {

// A rule for KeyRemapper.
struct NameRule {
  std::string pattern;
  std::string replacement;
  // Contains a number or a whole name, so it applies to few names.
  bool is_narrow = false;
  // Replaces words with unrelated words; only shapes and order support it.
  bool is_guess = false;

  friend bool operator==(const NameRule&, const NameRule&) = default;
};

// Whether a name needs no escaping in C++ source or on a terminal.
bool is_plain_name(std::string_view name);
// A regular expression that matches only `text`.
std::string escaped_for_regex(std::string_view text);

// Returns rules that bring loose names closer to wanted ones, the most useful first. A difference
// that many pairs share becomes a rule. Stops when the budget is spent.
std::vector<NameRule> rules_for(const NamesToMatch& names, WorkBudget& budget);

}  // namespace andiron::inline v1::detail
