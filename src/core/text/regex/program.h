// SPDX-License-Identifier: MIT OR Apache-2.0
// A compiled expression.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/core/text/regex/alphabet.h"
#include "src/core/text/regex/assertions.h"
#include "src/core/text/regex/instruction.h"
#include "src/core/text/regex/parser.h"

namespace andiron::inline v1::automaton {

struct Program {
  std::vector<Instruction> code;
  Alphabet alphabet;
  std::size_t group_count = 1;
  std::map<std::string, std::size_t, std::less<>> group_names;
  Assertions asserted = 0;
  bool begins_text = false;          // every match does
  std::vector<bool> begins_a_match;  // for each symbol, whether it may be the first of one

  // What the assertions of this expression see of a symbol. The others cannot tell it from `other`.
  Neighbor neighbor_of(Alphabet::Symbol symbol) const noexcept;
};

// None if it would take too much memory.
std::optional<Program> make_program(Expression expression);

}  // namespace andiron::inline v1::automaton
