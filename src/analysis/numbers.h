// SPDX-License-Identifier: MIT OR Apache-2.0
// The numbers that the elements of a tensor are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1::detail {

// The tensor itself, or what a quantized one stands for. Fails with UnsupportedDType or Unsupported
// if the elements are not known as numbers, and with the errors of dequantize().
Result<TensorSnapshot> numbers_of(const TensorSnapshot& snapshot);

// A double does not hold all of these numbers.
constexpr bool is_wide_integer(DType dtype) noexcept {
  return dtype == DType::u64 || dtype == DType::i64;
}

// How many numbers an element has: two if it is complex.
constexpr std::size_t parts_of(DType dtype) noexcept { return is_complex(dtype) ? 2 : 1; }

// Reads elements as doubles, both parts of a complex one. Wide integers are rounded.
// REQUIRES: numbers_of() succeeds; `out` has room for parts_of(dtype) * count.
void read_numbers(DType dtype, const std::byte* elements, std::size_t count, double* out) noexcept;

// Replaces pairs of parts by magnitudes: NaN if a part is NaN, else infinite if a part is.
// REQUIRES: `numbers` has 2 * count, of the parts of this dtype.
void to_magnitudes(DType dtype, double* numbers, std::size_t count) noexcept;

}  // namespace andiron::inline v1::detail
