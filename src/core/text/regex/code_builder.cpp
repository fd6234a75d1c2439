// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/regex_parser_test.cpp
#include "src/core/text/regex/code_builder.h"

#include <algorithm>
#include <utility>

namespace andiron::inline v1::automaton {
namespace {

// Whether a way leads through without taking a character.
bool can_be_empty(const std::vector<Instruction>& unit) {
  std::vector<bool> reached(unit.size() + 1);
  reached[0] = true;
  for (std::uint32_t at = 0; at < unit.size(); ++at) {
    const Op op = unit[at].op;
    if (!reached[at] || op == Op::take) continue;
    if (op != Op::jump) reached[at + 1] = true;
    if (op == Op::jump || op == Op::next_or_jump || op == Op::jump_or_next) {
      reached[target(unit[at], at)] = true;
    }
  }
  return reached[unit.size()];
}

}  // namespace

void CodeBuilder::emit(Op op, std::size_t argument) {
  code_.push_back({op, static_cast<std::uint32_t>(argument)});
}

void CodeBuilder::add(Op op, std::uint32_t argument) {
  unit_ = code_.size();
  emit(op, argument);
}

void CodeBuilder::open_group(std::optional<std::uint32_t> number) {
  const std::size_t begin = code_.size();
  if (number) emit(Op::save, 2 * *number);
  groups_.push_back({begin, code_.size(), 0, number});
}

void CodeBuilder::close_group() {
  const Group group = groups_.back();
  groups_.pop_back();
  // Until here, the argument of such a jump was the place of the one before it.
  for (std::size_t at = group.last_jump; at != 0;) {
    at = std::exchange(code_[at].argument, static_cast<std::uint32_t>(code_.size() - at));
  }
  if (group.number) emit(Op::save, 2 * *group.number + 1);
  unit_ = group.begin;
}

void CodeBuilder::end_alternative() {
  Group& group = groups_.back();
  const std::size_t length = code_.size() - group.alternative;
  emit(Op::next_or_jump, length + 2);
  std::rotate(code_.begin() + static_cast<std::ptrdiff_t>(group.alternative), code_.end() - 1,
              code_.end());
  emit(Op::jump, std::exchange(group.last_jump, code_.size()));
  group.alternative = code_.size();
}

void CodeBuilder::repeat(std::size_t least, std::optional<std::size_t> most, bool greedy) {
  const std::vector<Instruction> unit(code_.begin() + static_cast<std::ptrdiff_t>(unit_),
                                      code_.end());
  const std::size_t copies = most.value_or(std::max<std::size_t>(least, 1));
  if (unit.empty()) return;
  if (copies > most_instructions / unit.size()) {
    is_too_large_ = true;
    return;
  }
  const Op again = greedy ? Op::jump_or_next : Op::next_or_jump;
  const Op if_wanted = greedy ? Op::next_or_jump : Op::jump_or_next;
  code_.resize(unit_);
  if (!most && least == 0) emit(if_wanted, unit.size() + 2);
  for (std::size_t copy = 0; copy < copies; ++copy) {
    // One that is left out leaves out all that follow.
    if (most && copy >= least) emit(if_wanted, (copies - copy) * (unit.size() + 1));
    code_.insert(code_.end(), unit.begin(), unit.end());
  }
  if (most) return;
  // A way meets an instruction once at one place. One that took the unit as the empty text has met
  // the fork at its begin, and goes on by another at its end. Else there is one fork, so that a
  // loop in the unit is not met anew.
  if (least == 0 && !can_be_empty(unit)) {
    emit(Op::jump, 0 - (unit.size() + 1));
  } else {
    emit(again, 0 - unit.size());
  }
}

}  // namespace andiron::inline v1::automaton
