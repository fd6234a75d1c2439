// SPDX-License-Identifier: MIT OR Apache-2.0
// What a program can do at one place of the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/core/text/regex/assertions.h"
#include "src/core/text/regex/instruction.h"

namespace andiron::inline v1::automaton {

struct Reach {
  std::vector<std::uint32_t> takes;  // instructions that wait for a character
  bool match = false;
};

// Answers several questions about the same code.
class ReachFinder {
 public:
  // The code must outlive this.
  explicit ReachFinder(const std::vector<Instruction>& code) : code_(code), seen_in_(code.size()) {}

  // What can be reached from `starts` without taking a character, where `holds` hold.
  Reach reach(std::vector<std::uint32_t> starts, Assertions holds);
  // How many instructions were looked at.
  std::size_t steps() const noexcept { return steps_; }

 private:
  const std::vector<Instruction>& code_;
  std::vector<std::size_t> seen_in_;  // the question in which each was last seen
  std::size_t questions_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace andiron::inline v1::automaton
