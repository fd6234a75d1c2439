// SPDX-License-Identifier: MIT OR Apache-2.0
// Every float type as five numbers, and one encoder and decoder for all of them.
// Tested by tests/core/float_types_test.cpp
#include "andiron/dtype.h"

#include <bit>
#include <cmath>
#include <limits>

namespace andiron::inline v1 {
namespace {

enum class Special : std::uint8_t {
  ieee,      // all-ones exponent: infinity, or NaN with a fraction
  nan_only,  // all ones is NaN, there is no infinity
  nan_zero,  // the bits of negative zero are the only NaN
  none,      // every pattern is a number
};

struct FloatFormat {
  unsigned exponent_bits;
  unsigned fraction_bits;
  int bias;
  Special special;
  bool has_sign = true;

  constexpr std::uint64_t sign_bit() const {
    return has_sign ? std::uint64_t{1} << (exponent_bits + fraction_bits) : 0;
  }
  constexpr std::uint64_t magnitude_mask() const {
    return (std::uint64_t{1} << (exponent_bits + fraction_bits)) - 1;
  }
  constexpr std::uint64_t infinity() const {
    return ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  }
  constexpr std::uint64_t largest_finite() const {
    switch (special) {
      case Special::ieee:
        return infinity() - 1;
      case Special::nan_only:
        return magnitude_mask() - 1;
      default:
        return magnitude_mask();
    }
  }
  constexpr std::uint64_t nan() const {
    switch (special) {
      case Special::ieee:
        return infinity() | std::uint64_t{1} << (fraction_bits - 1);
      case Special::nan_only:
        return magnitude_mask();
      default:
        return sign_bit();  // for `none` that is negative zero
    }
  }
};

constexpr FloatFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {5, 10, 15, Special::ieee};
    case DType::bf16:
      return {8, 7, 127, Special::ieee};
    case DType::f32:
      return {8, 23, 127, Special::ieee};
    case DType::f8e4m3fn:
      return {4, 3, 7, Special::nan_only};
    case DType::f8e5m2:
      return {5, 2, 15, Special::ieee};
    case DType::f8e4m3fnuz:
      return {4, 3, 8, Special::nan_zero};
    case DType::f8e5m2fnuz:
      return {5, 2, 16, Special::nan_zero};
    case DType::f8e8m0:
      return {8, 0, 127, Special::nan_only, false};
    case DType::f4e2m1:
      return {2, 1, 1, Special::none};
    case DType::f6e2m3:
      return {2, 3, 1, Special::none};
    case DType::f6e3m2:
      return {3, 2, 3, Special::none};
    default:
      return {11, 52, 1023, Special::ieee};
  }
}

bool is_nan(const FloatFormat& format, std::uint64_t bits) {
  const std::uint64_t magnitude = bits & format.magnitude_mask();
  switch (format.special) {
    case Special::ieee:
      return magnitude > format.infinity();
    case Special::nan_only:
      return magnitude == format.magnitude_mask();
    case Special::nan_zero:
      return magnitude == 0 && (bits & format.sign_bit()) != 0;
    case Special::none:
      return false;
  }
  return false;
}

// `value` shifted right, rounded to nearest, ties to even.
std::uint64_t shift_right_rounding(std::uint64_t value, unsigned shift) {
  if (shift == 0) return value;
  if (shift > 63) return 0;  // less than half of the last place
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const std::uint64_t rest = value & ((half << 1) - 1);
  const std::uint64_t kept = value >> shift;
  return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
}

constexpr unsigned double_fraction_bits = 52;
constexpr int double_bias = 1023;
constexpr std::uint64_t double_fraction_mask = (std::uint64_t{1} << double_fraction_bits) - 1;

// Powers of two without sign, zero or fraction: there is no "even" to round to, so ties go up. What
// lies between the two smallest powers goes to the larger, as in PyTorch and ml_dtypes, which round
// the fraction of a float that is subnormal there.
std::uint64_t encode_power(double value) {
  constexpr std::uint64_t nan = 0xff;
  if (std::isnan(value) || std::isinf(value) || value < 0) return nan;
  if (value <= 0x1p-127) return 0;
  if (value < 0x1p-126) return 1;
  int exponent = 0;
  const double half_open = std::frexp(value, &exponent);  // in [0.5, 1)
  const int code = exponent - 1 + 127 + (half_open >= 0.75 ? 1 : 0);
  return code < static_cast<int>(nan) ? static_cast<std::uint64_t>(code) : nan;
}

}  // namespace

double decode_float(DType dtype, std::uint64_t bits) noexcept {
  if (dtype == DType::f64) return std::bit_cast<double>(bits);
  const FloatFormat format = format_of(dtype);
  if (is_nan(format, bits)) return std::numeric_limits<double>::quiet_NaN();
  const std::uint64_t magnitude = bits & format.magnitude_mask();
  const bool negative = (bits & format.sign_bit()) != 0;
  double value = 0;
  if (format.special == Special::ieee && magnitude == format.infinity()) {
    value = std::numeric_limits<double>::infinity();
  } else {
    const auto exponent = static_cast<int>(magnitude >> format.fraction_bits);
    const std::uint64_t one = std::uint64_t{1} << format.fraction_bits;
    const std::uint64_t fraction = magnitude & (one - 1);
    // A format without a fraction has no subnormals: exponent 0 is a power like the others.
    const bool subnormal = exponent == 0 && format.fraction_bits != 0;
    const int scale =
        (subnormal ? 1 : exponent) - format.bias - static_cast<int>(format.fraction_bits);
    value = std::ldexp(static_cast<double>(subnormal ? fraction : fraction | one), scale);
  }
  return negative ? -value : value;
}

std::uint64_t encode_float(DType dtype, double value) noexcept {
  if (dtype == DType::f64) return std::bit_cast<std::uint64_t>(value);
  if (dtype == DType::f8e8m0) return encode_power(value);
  const FloatFormat format = format_of(dtype);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = bits >> 63 != 0;
  if (std::isnan(value)) return format.nan();
  const std::uint64_t sign = negative ? format.sign_bit() : 0;

  std::uint64_t code = 0;
  if (std::isinf(value)) {
    code = format.largest_finite() + 1;
  } else if (value != 0) {
    int exponent = static_cast<int>(bits >> double_fraction_bits & 0x7ff);
    std::uint64_t fraction = bits & double_fraction_mask;
    if (exponent == 0) {
      // A subnormal double is far below the range of any narrower type; its exact digits do not
      // matter.
      exponent = 1 - static_cast<int>(double_fraction_bits);
      fraction = 0;
    }
    exponent += format.bias - double_bias;
    const unsigned dropped = double_fraction_bits - format.fraction_bits;
    if (exponent >= 1) {
      // Exponent and fraction side by side: a carry out of the fraction moves to the next exponent.
      code = shift_right_rounding(
          static_cast<std::uint64_t>(exponent) << double_fraction_bits | fraction, dropped);
    } else {
      const std::uint64_t significand = fraction | std::uint64_t{1} << double_fraction_bits;
      code = shift_right_rounding(significand, dropped + static_cast<unsigned>(1 - exponent));
    }
  }
  if (code > format.largest_finite()) {
    switch (format.special) {
      case Special::ieee:
        return sign | format.infinity();
      case Special::nan_only:
        return sign | format.nan();
      case Special::nan_zero:
        return format.nan();
      case Special::none:
        return sign | format.largest_finite();
    }
  }
  if (code == 0 && format.special == Special::nan_zero) return 0;
  return sign | code;
}

}  // namespace andiron::inline v1
