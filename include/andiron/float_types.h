// SPDX-License-Identifier: MIT OR Apache-2.0
// Floating-point types that C++ does not have, as bit patterns with exact conversions.
#pragma once

#include <cstdint>

#include "andiron/dtype.h"

namespace andiron::inline v1 {

/// The bits of an IEEE half.
struct Float16 {
  std::uint16_t bits = 0;
  friend bool operator==(Float16, Float16) = default;
};

/// The upper half of a float.
struct BFloat16 {
  std::uint16_t bits = 0;
  friend bool operator==(BFloat16, BFloat16) = default;
};

/// Value of one element given by its bits, exactly (every float type here fits a double). `dtype`
/// is a float type; unused high bits are ignored.
double decode_float(DType dtype, std::uint64_t bits) noexcept;

/// Bits of the nearest element, ties to even, rounding once from the double. Beyond the largest
/// finite value: infinity where the type has one, else NaN where it has one, else the largest
/// value. NaN in a type without NaN becomes negative zero. f8e8m0 holds powers of two alone: ties
/// go up, zero becomes the smallest power, negative numbers, infinity and NaN become NaN.
std::uint64_t encode_float(DType dtype, double value) noexcept;

inline float to_float(Float16 value) noexcept {
  return static_cast<float>(decode_float(DType::f16, value.bits));
}
inline float to_float(BFloat16 value) noexcept {
  return static_cast<float>(decode_float(DType::bf16, value.bits));
}
inline Float16 to_float16(double value) noexcept {
  return {static_cast<std::uint16_t>(encode_float(DType::f16, value))};
}
inline BFloat16 to_bfloat16(double value) noexcept {
  return {static_cast<std::uint16_t>(encode_float(DType::bf16, value))};
}

}  // namespace andiron::inline v1
