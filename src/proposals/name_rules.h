// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes rules for KeyRemapper from names before and after.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/text.h"
#include "src/proposals/tree_alignment.h"
#include "src/proposals/work_budget.h"

namespace andiron::inline v1::detail {

// A rule for KeyRemapper.
struct NameRule {
  std::string pattern;
  std::string replacement;
  // Contains a number or a whole name, so it applies to few names.
  bool is_narrow = false;
  // The weakest reason for a name that it changes, and whether it says what was guessed.
  Evidence evidence = Evidence::name;
  bool is_guess = false;
  std::string reason = {};  // in words, where the evidence does not say it
};

// Whether a name needs no escaping in C++ source or on a terminal.
bool is_plain_name(std::string_view name);
// A regular expression that matches only `text`.
std::string escaped_for_regex(std::string_view text);

// The same for all names of a kind (name_kind).
std::string pattern_for_kind(std::string_view kind);
// A replacement that is only `text`.
std::string escaped_for_replacement(std::string_view text);

// A name that shall become another.
struct Renaming {
  std::string from;
  std::string to;
  Evidence evidence = Evidence::name;
  bool is_guess = false;
  bool is_doubtful = false;  // sure only if a guess beside it is right
};

struct RenamingTask {
  std::span<const Renaming> renamings;
  std::span<const std::string> others;  // names that no rule is for
  bool closes_gaps = false;             // after the rules
  std::span<const Pattern> gap_exceptions = {};
};

// Returns few rules that make all names what they shall be, tried on all of them; nothing if none
// were found. A difference that many names share becomes one rule.
std::optional<std::vector<NameRule>> write_rules(const RenamingTask& task, WorkBudget& budget);

}  // namespace andiron::inline v1::detail
