// SPDX-License-Identifier: MIT OR Apache-2.0
// Sets of characters as patterns write them: a, \x{41}, [^\p{L}[:digit:]a-f].
#pragma once

#include <string_view>

#include "andiron/error.h"
#include "src/core/text/regex/code_point_ranges.h"

namespace andiron::inline v1::automaton {

// The characters of `set`, with those that differ in case if `folds_case`. The result is normal.
// InvalidPattern if there is no class of such a name; `text` is the user's pattern.
Result<CodePointRanges> characters_of(std::string_view set, bool folds_case, std::string_view text);

}  // namespace andiron::inline v1::automaton
