// SPDX-License-Identifier: MIT OR Apache-2.0
// Element types. Freestanding.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "andiron/error_code.h"

namespace andiron::inline v1 {

/// The type of a tensor's elements. All data is little-endian.
enum class DType : std::uint8_t {
  boolean,
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f16,
  bf16,
  f32,
  f64,
  c32,         ///< two f16
  c64,         ///< two f32
  c128,        ///< two f64
  f8e4m3fn,    ///< no infinity, max 448
  f8e5m2,      ///< IEEE-like, max 57344
  f8e4m3fnuz,  ///< no infinity, no negative zero, max 240
  f8e5m2fnuz,  ///< no infinity, no negative zero, max 57344
  f8e8m0,      ///< a power of two
  f4e2m1,      ///< two to a byte, the first in the low four bits
  f6e2m3,      ///< packed; handed on as bytes
  f6e3m2,      ///< packed; handed on as bytes
  qfloat,      ///< a quantized Burnpack payload; its size does not follow from the shape
  raw,         ///< a type we do not know, carried as bytes under the file's own name
};

inline constexpr unsigned dtype_count = static_cast<unsigned>(DType::raw) + 1;

/// Bits per element; 0 for the opaque types.
constexpr unsigned bit_width(DType dtype) noexcept {
  constexpr unsigned char widths[dtype_count] = {
      8, 8, 8, 16, 16, 32, 32, 64, 64, 16, 16, 32, 64, 32, 64, 128, 8, 8, 8, 8, 8, 4, 6, 6, 0, 0};
  return widths[static_cast<unsigned>(dtype)];
}

/// The name in the tool's JSON: "bool", "f32", "f8e4m3fn". `raw` is followed there by ":NAME".
constexpr std::string_view dtype_name(DType dtype) noexcept {
  constexpr std::string_view names[dtype_count] = {
      "bool",   "u8",     "i8",       "u16",    "i16",        "u32",        "i32",
      "u64",    "i64",    "f16",      "bf16",   "f32",        "f64",        "c32",
      "c64",    "c128",   "f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0",
      "f4e2m1", "f6e2m3", "f6e3m2",   "qfloat", "raw"};
  return names[static_cast<unsigned>(dtype)];
}

/// Quantized and unknown types: the byte count is the file's word, not shape times width.
constexpr bool is_opaque(DType dtype) noexcept { return bit_width(dtype) == 0; }

/// Several elements share a byte.
constexpr bool is_sub_byte(DType dtype) noexcept {
  return !is_opaque(dtype) && bit_width(dtype) < 8;
}

constexpr bool is_float(DType dtype) noexcept {
  return (dtype >= DType::f16 && dtype <= DType::f64) ||
         (dtype >= DType::f8e4m3fn && dtype <= DType::f6e3m2);
}

constexpr bool is_complex(DType dtype) noexcept {
  return dtype >= DType::c32 && dtype <= DType::c128;
}

constexpr bool is_integer(DType dtype) noexcept {
  return dtype >= DType::u8 && dtype <= DType::i64;
}

/// Product of the dimensions, left to right. False when it does not fit 64 bits.
constexpr bool element_count(std::span<const std::uint64_t> shape, std::uint64_t& count) noexcept {
  count = 1;
  for (std::uint64_t dim : shape) {
    if (__builtin_mul_overflow(count, dim, &count)) return false;
  }
  return true;
}

/// What became of a byte count.
enum class SizeCheck : std::uint8_t { ok, overflow, partial_byte };

/// Bytes that a row-major tensor takes. `partial_byte`: a sub-byte type whose bits do not fill the
/// last byte. The dtype must not be opaque.
constexpr SizeCheck byte_count(DType dtype, std::span<const std::uint64_t> shape,
                               std::uint64_t& bytes) noexcept {
  std::uint64_t bits = 0;
  if (!element_count(shape, bits) || __builtin_mul_overflow(bits, bit_width(dtype), &bits)) {
    return SizeCheck::overflow;
  }
  bytes = bits / 8;
  return bits % 8 == 0 ? SizeCheck::ok : SizeCheck::partial_byte;
}

}  // namespace andiron::inline v1
