// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/regex_search_table_test.cpp
#include "src/core/text/regex/reach.h"

#include <utility>

namespace andiron::inline v1::automaton {

Reach ReachFinder::reach(std::vector<std::uint32_t> starts, Assertions holds) {
  Reach out;
  ++questions_;
  for (std::vector<std::uint32_t>& later = starts; !later.empty();) {
    const std::uint32_t at = later.back();
    later.pop_back();
    if (std::exchange(seen_in_[at], questions_) == questions_) continue;
    ++steps_;
    const Instruction instruction = code_[at];
    switch (instruction.op) {
      case Op::take:
        out.takes.push_back(at);
        break;
      case Op::match:
        out.match = true;
        break;
      case Op::assert_that:
        if ((instruction.argument & holds) != 0) later.push_back(at + 1);
        break;
      case Op::save:
        later.push_back(at + 1);
        break;
      case Op::jump:
        later.push_back(target(instruction, at));
        break;
      case Op::next_or_jump:
      case Op::jump_or_next:
        later.push_back(at + 1);
        later.push_back(target(instruction, at));
    }
  }
  return out;
}

}  // namespace andiron::inline v1::automaton
