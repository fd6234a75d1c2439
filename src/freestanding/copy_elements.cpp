// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/freestanding/bind_test.cpp
#include "src/freestanding/copy_elements.h"

#include "src/core/little_endian.h"

namespace andiron::inline v1::detail {

void copy_elements(const std::byte* in, DType dtype, bool widen, std::size_t rows,
                   std::size_t columns, std::byte* out) noexcept {
  const std::size_t in_width = bit_width(dtype) / 8;
  const std::size_t out_width = widen ? 4 : in_width;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      std::byte* const to = out + (column * rows + row) * out_width;
      if (widen) {
        const std::uint32_t bits = load_u16(in);
        const std::uint32_t wide = dtype == DType::f16 ? f32_bits_of_f16(bits) : bits << 16;
        __builtin_memcpy(to, &wide, sizeof wide);
      } else {
        __builtin_memcpy(to, in, in_width);
      }
      in += in_width;
    }
  }
}

}  // namespace andiron::inline v1::detail
