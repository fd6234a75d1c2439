// SPDX-License-Identifier: MIT OR Apache-2.0
// The machine that runs an expression.
#pragma once

#include <cstddef>
#include <cstdint>

namespace andiron::inline v1::automaton {

// Where nothing else is said, the next instruction follows.
enum class Op : std::uint8_t {
  take,          // takes a character of set `argument`
  save,          // remembers the place as bound `argument`: of group n, 2n is the begin
  assert_that,   // goes on if the assertion `argument` holds
  jump,          // goes on at the target
  next_or_jump,  // goes on at the next instruction, or else at the target
  jump_or_next,  // goes on at the target, or else at the next instruction
  match
};

struct Instruction {
  Op op;
  // The target of a jump is so far away, modulo 2^32, so that code can be moved and copied.
  std::uint32_t argument = 0;
};

constexpr std::uint32_t target(const Instruction& jump, std::uint32_t at) noexcept {
  return at + jump.argument;
}

}  // namespace andiron::inline v1::automaton
