// SPDX-License-Identifier: MIT OR Apache-2.0
// Element types, and the floating-point types that C++ does not have. Freestanding.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

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
  f8e5m2,      ///< as IEEE, max 57344
  f8e4m3fnuz,  ///< no infinity, no negative zero, max 240
  f8e5m2fnuz,  ///< no infinity, no negative zero, max 57344
  f8e8m0,      ///< a power of two
  f4e2m1,      ///< two per byte, the first in the low four bits
  f6e2m3,      ///< packed; kept as bytes
  f6e3m2,      ///< packed; kept as bytes
  qfloat,      ///< a quantized Burnpack payload; its size does not follow from the shape alone
  raw,         ///< an unknown type, kept as bytes under the file's own name for it
};

inline constexpr unsigned dtype_count = static_cast<unsigned>(DType::raw) + 1;

namespace detail {
enum class ElementKind : std::uint8_t { boolean, integer, floating, complex, opaque };

// The properties of each dtype, in the order of the enum.
struct DTypeRow {
  DType dtype;
  unsigned char bits;
  ElementKind kind;
  std::string_view name;
  std::string_view usual_name;  // of PyTorch and NumPy
};
inline constexpr DTypeRow dtype_rows[] = {
    {DType::boolean, 8, ElementKind::boolean, "bool", "bool"},
    {DType::u8, 8, ElementKind::integer, "u8", "uint8"},
    {DType::i8, 8, ElementKind::integer, "i8", "int8"},
    {DType::u16, 16, ElementKind::integer, "u16", "uint16"},
    {DType::i16, 16, ElementKind::integer, "i16", "int16"},
    {DType::u32, 32, ElementKind::integer, "u32", "uint32"},
    {DType::i32, 32, ElementKind::integer, "i32", "int32"},
    {DType::u64, 64, ElementKind::integer, "u64", "uint64"},
    {DType::i64, 64, ElementKind::integer, "i64", "int64"},
    {DType::f16, 16, ElementKind::floating, "f16", "float16"},
    {DType::bf16, 16, ElementKind::floating, "bf16", "bfloat16"},
    {DType::f32, 32, ElementKind::floating, "f32", "float32"},
    {DType::f64, 64, ElementKind::floating, "f64", "float64"},
    {DType::c32, 32, ElementKind::complex, "c32", "complex32"},
    {DType::c64, 64, ElementKind::complex, "c64", "complex64"},
    {DType::c128, 128, ElementKind::complex, "c128", "complex128"},
    {DType::f8e4m3fn, 8, ElementKind::floating, "f8e4m3fn", "float8_e4m3fn"},
    {DType::f8e5m2, 8, ElementKind::floating, "f8e5m2", "float8_e5m2"},
    {DType::f8e4m3fnuz, 8, ElementKind::floating, "f8e4m3fnuz", "float8_e4m3fnuz"},
    {DType::f8e5m2fnuz, 8, ElementKind::floating, "f8e5m2fnuz", "float8_e5m2fnuz"},
    {DType::f8e8m0, 8, ElementKind::floating, "f8e8m0", "float8_e8m0fnu"},
    {DType::f4e2m1, 4, ElementKind::floating, "f4e2m1", "float4_e2m1fn"},
    {DType::f6e2m3, 6, ElementKind::floating, "f6e2m3", "float6_e2m3fn"},
    {DType::f6e3m2, 6, ElementKind::floating, "f6e3m2", "float6_e3m2fn"},
    {DType::qfloat, 0, ElementKind::opaque, "qfloat", {}},
    {DType::raw, 0, ElementKind::opaque, "raw", {}},
};
constexpr const DTypeRow& row_of(DType dtype) noexcept {
  return dtype_rows[static_cast<unsigned>(dtype)];
}
// The same without names, so that firmware that prints none has none.
struct DTypeNumbers {
  unsigned char bits[dtype_count];
  ElementKind kinds[dtype_count];
};
inline constexpr DTypeNumbers dtype_numbers = [] {
  DTypeNumbers numbers = {};
  for (unsigned i = 0; i < dtype_count; ++i) {
    numbers.bits[i] = dtype_rows[i].bits;
    numbers.kinds[i] = dtype_rows[i].kind;
  }
  return numbers;
}();
constexpr ElementKind element_kind(DType dtype) noexcept {
  return dtype_numbers.kinds[static_cast<unsigned>(dtype)];
}
static_assert([] {
  unsigned next = 0;
  for (const DTypeRow& row : dtype_rows) {
    if (static_cast<unsigned>(row.dtype) != next++) return false;
    if ((row.kind == ElementKind::opaque) != (row.bits == 0)) return false;
  }
  return next == dtype_count;
}());
// "BF16" for "bf16".
constexpr bool is_upper_case_of(std::string_view upper, std::string_view lower) noexcept {
  if (upper.size() != lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    const char c = lower[i];
    if (upper[i] != (c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c)) return false;
  }
  return true;
}
}  // namespace detail

/// Bits per element; 0 for opaque types.
constexpr unsigned bit_width(DType dtype) noexcept {
  return detail::dtype_numbers.bits[static_cast<unsigned>(dtype)];
}

/// The name in JSON output: "bool", "f32", "f8e4m3fn". The tool writes "raw:NAME" for raw.
constexpr std::string_view dtype_name(DType dtype) noexcept { return detail::row_of(dtype).name; }

/// Parses a name: "f32", or "float32" and "torch.float32" as PyTorch and NumPy write it, or "BF16"
/// as SafeTensors does. Returns false for any other text and for opaque types.
constexpr bool dtype_from_name(std::string_view name, DType& dtype) noexcept {
  constexpr std::string_view torch = "torch.";
  const bool is_torch = name.substr(0, torch.size()) == torch;
  if (is_torch) name.remove_prefix(torch.size());
  for (const detail::DTypeRow& row : detail::dtype_rows) {
    if (row.kind == detail::ElementKind::opaque) continue;
    const bool is_ours =
        !is_torch && (name == row.name || detail::is_upper_case_of(name, row.name));
    if (!is_ours && name != row.usual_name) continue;
    dtype = row.dtype;
    return true;
  }
  return false;
}

/// True for quantized and unknown types. Their byte count is stated by the file; it is not shape
/// times width.
constexpr bool is_opaque(DType dtype) noexcept {
  return detail::element_kind(dtype) == detail::ElementKind::opaque;
}

/// True if several elements share a byte.
constexpr bool is_sub_byte(DType dtype) noexcept {
  return !is_opaque(dtype) && bit_width(dtype) < 8;
}

constexpr bool is_float(DType dtype) noexcept {
  return detail::element_kind(dtype) == detail::ElementKind::floating;
}

constexpr bool is_complex(DType dtype) noexcept {
  return detail::element_kind(dtype) == detail::ElementKind::complex;
}

constexpr bool is_integer(DType dtype) noexcept {
  return detail::element_kind(dtype) == detail::ElementKind::integer;
}

/// Computes the number of elements. Returns false if it does not fit in 64 bits.
constexpr bool element_count(std::span<const std::uint64_t> shape, std::uint64_t& count) noexcept {
  count = 1;
  for (std::uint64_t dim : shape) {
    if (__builtin_mul_overflow(count, dim, &count)) return false;
  }
  return true;
}

/// The outcome of byte_count().
enum class SizeCheck : std::uint8_t { ok, overflow, partial_byte };

/// Computes the bytes of a row-major tensor. `partial_byte`: the bits of a sub-byte type do not
/// fill the last byte. REQUIRES: the dtype is not opaque.
constexpr SizeCheck byte_count(DType dtype, std::span<const std::uint64_t> shape,
                               std::uint64_t& bytes) noexcept {
  std::uint64_t bits = 0;
  if (!element_count(shape, bits) || __builtin_mul_overflow(bits, bit_width(dtype), &bits)) {
    return SizeCheck::overflow;
  }
  bytes = bits / 8;
  return bits % 8 == 0 ? SizeCheck::ok : SizeCheck::partial_byte;
}

/// An IEEE half-precision float, by its bits.
struct Float16 {
  std::uint16_t bits = 0;
  friend bool operator==(Float16, Float16) = default;
};

/// The upper 16 bits of a float.
struct BFloat16 {
  std::uint16_t bits = 0;
  friend bool operator==(BFloat16, BFloat16) = default;
};

/// Maps a C++ type to its dtype. Sub-byte, f8, c32 and opaque dtypes have no C++ type: use the
/// bytes, or cast before you read.
template <class T>
struct ElementOf;
/// A C++ type that is the element type of a dtype.
template <class T>
concept Element = requires { ElementOf<T>::dtype; };

template <>
struct ElementOf<bool> {
  static constexpr DType dtype = DType::boolean;
};
template <>
struct ElementOf<std::uint8_t> {
  static constexpr DType dtype = DType::u8;
};
template <>
struct ElementOf<std::int8_t> {
  static constexpr DType dtype = DType::i8;
};
template <>
struct ElementOf<std::uint16_t> {
  static constexpr DType dtype = DType::u16;
};
template <>
struct ElementOf<std::int16_t> {
  static constexpr DType dtype = DType::i16;
};
template <>
struct ElementOf<std::uint32_t> {
  static constexpr DType dtype = DType::u32;
};
template <>
struct ElementOf<std::int32_t> {
  static constexpr DType dtype = DType::i32;
};
template <>
struct ElementOf<std::uint64_t> {
  static constexpr DType dtype = DType::u64;
};
template <>
struct ElementOf<std::int64_t> {
  static constexpr DType dtype = DType::i64;
};
template <>
struct ElementOf<Float16> {
  static constexpr DType dtype = DType::f16;
};
template <>
struct ElementOf<BFloat16> {
  static constexpr DType dtype = DType::bf16;
};
template <>
struct ElementOf<float> {
  static constexpr DType dtype = DType::f32;
};
template <>
struct ElementOf<double> {
  static constexpr DType dtype = DType::f64;
};
/// std::complex, and types like it: <complex> would cost every user a fifth of a second to compile.
template <class T, class Real>
concept ComplexOf =
    std::same_as<typename T::value_type, Real> && sizeof(T) == 2 * sizeof(Real) &&
    std::is_trivially_copyable_v<T> && !std::is_const_v<T> && requires(const T& number) {
      { number.real() } -> std::convertible_to<Real>;
      { number.imag() } -> std::convertible_to<Real>;
    };
template <ComplexOf<float> T>
struct ElementOf<T> {
  static constexpr DType dtype = DType::c64;
};
template <ComplexOf<double> T>
struct ElementOf<T> {
  static constexpr DType dtype = DType::c128;
};

/// Returns the exact value of an element, given its bits. Every float type here fits in a double.
/// Ignores unused high bits. REQUIRES: `dtype` is a float type.
double decode_float(DType dtype, std::uint64_t bits) noexcept;

/// Returns the bits of the nearest element, rounding once, ties to even. A value beyond the largest
/// finite one becomes infinity if the type has it, else NaN if it has it, else the largest value.
/// NaN becomes negative zero in a type without NaN.
///
/// f8e8m0 contains only powers of two: ties go up, zero becomes the smallest power, and negative
/// values, infinity and NaN become NaN.
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
