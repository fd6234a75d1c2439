// SPDX-License-Identifier: MIT OR Apache-2.0
// From the syntax of an expression to its instructions.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/error.h"
#include "src/core/text/regex/assertions.h"
#include "src/core/text/regex/code_point_ranges.h"
#include "src/core/text/regex/instruction.h"

namespace andiron::inline v1::automaton {

struct Expression {
  std::vector<Instruction> code;      // begins with the save of bound 0
  std::vector<CodePointRanges> sets;  // what Op::take takes; all are normal
  std::size_t group_count = 1;        // with the whole match
  std::map<std::string, std::size_t, std::less<>> group_names;
  Assertions asserted = 0;  // all that occur
};

// Parses `syntax`, which pattern_syntax.h made of `text`. Fails with InvalidPattern for unknown
// classes, for counts above 1000, also as products of nested ones, and for what becomes too large.
Result<Expression> parse(std::string_view text, std::string_view syntax);

// InvalidPattern for what would take too much memory.
Error too_large(std::string_view text);

}  // namespace andiron::inline v1::automaton
