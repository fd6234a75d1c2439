// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" std::uint32_t stack_bottom[];  // the linker's

/// Runs a function, and returns how many bytes of stack it took: those that it wrote to.
template <class Function>
[[gnu::noinline]] std::size_t stack_used_by(const Function& function) {
  constexpr std::uint32_t paint = 0xa5c35a3c;
  volatile std::uint32_t* here = nullptr;
  asm volatile("mov %0, sp" : "=r"(here));
  for (volatile std::uint32_t* word = stack_bottom; word != here; ++word) *word = paint;
  function();
  volatile std::uint32_t* word = stack_bottom;
  while (word != here && *word == paint) ++word;
  return static_cast<std::size_t>(here - word) * 4;
}
