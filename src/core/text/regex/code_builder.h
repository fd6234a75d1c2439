// SPDX-License-Identifier: MIT OR Apache-2.0
// Puts instructions together in the order in which an expression is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "src/core/text/regex/instruction.h"

namespace andiron::inline v1::automaton {

// The unit that a repetition repeats is what was added last: one instruction, or a group.
class CodeBuilder {
 public:
  // 4 MiB.
  static constexpr std::size_t most_instructions = std::size_t{1} << 19;

  void add(Op op, std::uint32_t argument = 0);
  // A numbered group saves its bounds.
  void open_group(std::optional<std::uint32_t> number);
  void close_group();
  // What was added to the group since its beginning or the last call is one of its alternatives.
  void end_alternative();
  // Without `most`, there is no end.
  void repeat(std::size_t least, std::optional<std::size_t> most, bool greedy);

  // To be asked after each call: from then on the code is of no use.
  bool is_too_large() const noexcept { return is_too_large_ || code_.size() > most_instructions; }
  std::vector<Instruction> finish() { return std::move(code_); }

 private:
  struct Group {
    std::size_t begin;
    std::size_t alternative;  // where the current one begins
    std::size_t last_jump;    // at the end of the alternative before; 0 for none
    std::optional<std::uint32_t> number;
  };

  void emit(Op op, std::size_t argument);

  std::vector<Instruction> code_;
  std::vector<Group> groups_;
  std::size_t unit_ = 0;  // where it begins; it ends where the code does
  bool is_too_large_ = false;
};

}  // namespace andiron::inline v1::automaton
