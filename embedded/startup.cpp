// SPDX-License-Identifier: MIT OR Apache-2.0
// From reset to main().
#include <cstddef>
#include <cstdint>

#include "semihosting.h"

int main();

extern "C" {
extern std::uint32_t stack_top[], data_begin[], data_end[], data_in_flash[], bss_begin[], bss_end[];
using Constructor = void (*)();
extern const Constructor constructors_begin[], constructors_end[];

[[noreturn]] void reset() {
  // Gives the program the floating-point unit. No float may be touched before.
  *reinterpret_cast<volatile std::uint32_t*>(0xe000ed88) |= 0xfu << 20;
  asm volatile("dsb\n isb" ::: "memory");
  for (std::ptrdiff_t i = 0; i < data_end - data_begin; ++i) data_begin[i] = data_in_flash[i];
  for (std::uint32_t* word = bss_begin; word != bss_end; ++word) *word = 0;
  for (const Constructor* one = constructors_begin; one != constructors_end; ++one) (*one)();
  board::exit(main());
}

[[noreturn]] void fault() {
  board::print("the processor met a fault\n");
  board::exit(99);
}

using Handler = void (*)();
struct VectorTable {
  std::uint32_t* stack;
  Handler handlers[15];
};
extern const VectorTable vector_table;
[[gnu::section(".vectors"), gnu::used]] const VectorTable vector_table = {
    stack_top, {reset, fault, fault, fault, fault, fault}};
}
