// SPDX-License-Identifier: MIT OR Apache-2.0
// Elements turned into what a program wants to see. Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "andiron/dtype.h"

namespace andiron::inline v1::detail {

// The bits of the float with the same value.
constexpr std::uint32_t f32_bits_of_f16(std::uint32_t bits) noexcept {
  const std::uint32_t sign = (bits & 0x8000) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1f;
  std::uint32_t fraction = bits & 0x3ff;
  if (exponent == 0x1f) return sign | 0x7f800000 | fraction << 13;
  if (exponent != 0) return sign | (exponent + 112) << 23 | fraction << 13;
  if (fraction == 0) return sign;
  // A number without the leading one, which a float can have.
  std::uint32_t shifted = 113;
  for (; (fraction & 0x400) == 0; fraction <<= 1) --shifted;
  return sign | shifted << 23 | (fraction & 0x3ff) << 13;
}

// Copies a matrix into `out`, transposed; one row stays as it is. `widen` makes f32 of f16 and
// bf16. `in` need not be aligned. REQUIRES: elements of whole bytes.
void copy_elements(const std::byte* in, DType dtype, bool widen, std::size_t rows,
                   std::size_t columns, std::byte* out) noexcept;

}  // namespace andiron::inline v1::detail
