// SPDX-License-Identifier: MIT OR Apache-2.0
// What \p{...} and the flag i mean.
#pragma once

#include <optional>
#include <string_view>

#include "src/core/text/regex/code_point_ranges.h"

namespace andiron::inline v1::automaton {

// The characters of a general category (L, Nd), of a script (Greek), or all ("Any"). None if there
// is no such name.
std::optional<CodePointRanges> unicode_class(std::string_view name);

// Adds every character that differs from one of `ranges` in case only, by Unicode's simple folding.
// REQUIRES: `ranges` is normal, and stays so.
void add_case_variants(CodePointRanges& ranges);

}  // namespace andiron::inline v1::automaton
