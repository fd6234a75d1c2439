// SPDX-License-Identifier: MIT OR Apache-2.0
// Common pairs have loops that the compiler vectorises; all others go through the widest type of
// their kind (double, int64, uint64), a tile at a time. Tested by tests/core/convert_test.cpp
#include "src/core/kernels/convert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "andiron/dtype.h"
#include "src/core/kernels/vector_clones.h"

namespace andiron::inline v1 {
namespace {

constexpr std::size_t tile = 512;

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

// Applies `op` to each element; the loop body is small enough to vectorise.
template <class From, class To, class Op>
inline __attribute__((always_inline)) void each(const std::byte* source, std::byte* out,
                                                std::size_t count, Op op) {
  for (std::size_t i = 0; i < count; ++i) {
    store<To>(out + i * sizeof(To), op(load<From>(source + i * sizeof(From))));
  }
}

inline __attribute__((always_inline)) std::uint32_t half_to_single(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  std::uint32_t bits = static_cast<std::uint32_t>(half & 0x7fff) << 13;
  const std::uint32_t exponent = bits & 0x0f800000;
  bits += (127 - 15) << 23;
  // Infinity and NaN keep an all-ones exponent; subnormals are renormalized by one subtraction.
  bits += exponent == 0x0f800000 ? (128u - 16) << 23 : 0;
  const float renormalized = std::bit_cast<float>(bits + (1u << 23)) - 0x1p-14f;
  return sign | (exponent == 0 ? std::bit_cast<std::uint32_t>(renormalized) : bits);
}

std::uint16_t single_to_half(std::uint32_t single) {
  const std::uint32_t sign = single >> 16 & 0x8000;
  const std::uint32_t bits = single & 0x7fffffff;
  // Below 2^-14: adding 0.5 lets the adder align and round the fraction to half's subnormal grid.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) + 0.5f) - 0x3f000000;
  const std::uint32_t normal = (bits - (112u << 23) + 0xfff + (bits >> 13 & 1)) >> 13;
  const std::uint32_t special = bits > 0x7f800000 ? 0x7e00 : 0x7c00;
  const std::uint32_t finite = bits < 0x38800000 ? subnormal : normal;
  return static_cast<std::uint16_t>(sign | (bits >= 0x47800000 ? special : finite));
}

std::uint16_t single_to_brain(std::uint32_t single) {
  const std::uint32_t rounded = (single + 0x7fff + (single >> 16 & 1)) >> 16;
  const bool nan = (single & 0x7fffffff) > 0x7f800000;
  return static_cast<std::uint16_t>(nan ? single >> 16 | 0x40 : rounded);
}

// What layers wait for.
ANDIRON_VECTOR_CLONES("avx512f", "avx2")
void widen_halves(const std::byte* source, std::byte* out, std::size_t count) {
  each<std::uint16_t, std::uint32_t>(source, out, count, half_to_single);
}

ANDIRON_VECTOR_CLONES("avx512f", "avx2")
void widen_brains(const std::byte* source, std::byte* out, std::size_t count) {
  each<std::uint16_t, std::uint32_t>(
      source, out, count, [](std::uint16_t b) { return static_cast<std::uint32_t>(b) << 16; });
}

bool convert_common(DType from, const std::byte* source, DType to, std::byte* out,
                    std::size_t count) {
  using Route = std::pair<DType, DType>;
  const Route route{from, to};
  if (route == Route{DType::f16, DType::f32}) {
    widen_halves(source, out, count);
  } else if (route == Route{DType::f32, DType::f16}) {
    each<std::uint32_t, std::uint16_t>(source, out, count, single_to_half);
  } else if (route == Route{DType::bf16, DType::f32}) {
    widen_brains(source, out, count);
  } else if (route == Route{DType::f32, DType::bf16}) {
    each<std::uint32_t, std::uint16_t>(source, out, count, single_to_brain);
  } else if (route == Route{DType::f16, DType::f64}) {
    each<std::uint16_t, double>(source, out, count, [](std::uint16_t half) {
      return static_cast<double>(std::bit_cast<float>(half_to_single(half)));
    });
  } else if (route == Route{DType::bf16, DType::f64}) {
    each<std::uint16_t, double>(source, out, count, [](std::uint16_t b) {
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16));
    });
  } else if (route == Route{DType::f32, DType::f64}) {
    each<float, double>(source, out, count, [](float f) { return static_cast<double>(f); });
  } else if (route == Route{DType::f64, DType::f32}) {
    each<double, float>(source, out, count, [](double d) { return static_cast<float>(d); });
  } else {
    return false;
  }
  return true;
}

// The eight-bit types decode through a table made on first use.
const std::array<double, 256>& byte_table(DType dtype) {
  static const auto tables = [] {
    std::array<std::array<double, 256>, dtype_count> all{};
    for (unsigned d = 0; d < dtype_count; ++d) {
      if (!is_float(static_cast<DType>(d)) || bit_width(static_cast<DType>(d)) > 8) continue;
      for (unsigned bits = 0; bits < 256; ++bits) {
        all[d][bits] = decode_float(static_cast<DType>(d), bits);
      }
    }
    return all;
  }();
  return tables[static_cast<unsigned>(dtype)];
}

void floats_to_double(DType from, const std::byte* source, double* out, std::size_t count) {
  switch (from) {
    case DType::f64:
      std::memcpy(out, source, count * sizeof(double));
      return;
    case DType::f32:
      for (std::size_t i = 0; i < count; ++i) out[i] = load<float>(source + 4 * i);
      return;
    case DType::f16:
    case DType::bf16:
      for (std::size_t i = 0; i < count; ++i) {
        const auto bits = load<std::uint16_t>(source + 2 * i);
        out[i] = std::bit_cast<float>(from == DType::f16 ? half_to_single(bits)
                                                         : static_cast<std::uint32_t>(bits) << 16);
      }
      return;
    case DType::f4e2m1: {
      const auto& table = byte_table(from);
      for (std::size_t i = 0; i < count; ++i) {
        const unsigned pair = std::to_integer<unsigned>(source[i / 2]);
        out[i] = table[i % 2 == 0 ? pair & 15 : pair >> 4];
      }
      return;
    }
    default: {
      const auto& table = byte_table(from);
      for (std::size_t i = 0; i < count; ++i) out[i] = table[std::to_integer<unsigned>(source[i])];
    }
  }
}

void double_to_floats(DType to, const double* values, std::byte* out, std::size_t count) {
  switch (to) {
    case DType::f64:
      std::memcpy(out, values, count * sizeof(double));
      return;
    case DType::f32:
      for (std::size_t i = 0; i < count; ++i) store(out + 4 * i, static_cast<float>(values[i]));
      return;
    case DType::f16:
    case DType::bf16:
      for (std::size_t i = 0; i < count; ++i) {
        store(out + 2 * i, static_cast<std::uint16_t>(encode_float(to, values[i])));
      }
      return;
    case DType::f4e2m1:
      for (std::size_t i = 0; i < count; i += 2) {
        const std::uint64_t low = encode_float(to, values[i]);
        const std::uint64_t high = i + 1 < count ? encode_float(to, values[i + 1]) : 0;
        out[i / 2] = static_cast<std::byte>(high << 4 | low);
      }
      return;
    default:
      for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<std::byte>(encode_float(to, values[i]));
      }
  }
}

// An integer as a double that later rounding to a narrower float cannot tell from the integer
// itself: digits that do not fit are folded into the last place (round to odd).
template <class Wide>
double odd_rounded_double(Wide value) {
  if constexpr (std::is_floating_point_v<Wide>) {
    return value;
  } else {
    const bool negative = value < 0;
    auto magnitude = static_cast<std::uint64_t>(value);
    if (negative) magnitude = 0 - magnitude;
    const int excess = std::max(0, 64 - std::countl_zero(magnitude) - 53);
    std::uint64_t kept = magnitude >> excess << excess;
    if (kept != magnitude) kept |= std::uint64_t{1} << excess;
    const auto result = static_cast<double>(kept);
    return negative ? -result : result;
  }
}

template <class To, class Wide>
To to_integer(Wide value) {
  if constexpr (std::is_floating_point_v<Wide>) {
    // Toward zero, clamped, NaN to 0: every input has a defined result.
    if (std::isnan(value)) return 0;
    constexpr auto low = static_cast<double>(std::numeric_limits<To>::min());
    constexpr auto high = static_cast<double>(std::numeric_limits<To>::max());
    if (value <= low) return std::numeric_limits<To>::min();
    if (value >= high) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <class Wide>
void store_tile(DType to, const Wide* values, std::byte* out, std::size_t count) {
  auto integers = [&]<class To>(To) {
    for (std::size_t i = 0; i < count; ++i) store(out + i * sizeof(To), to_integer<To>(values[i]));
  };
  switch (to) {
    case DType::boolean:
      for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::byte>(values[i] != 0);
      return;
    case DType::u8:
      return integers(std::uint8_t{});
    case DType::i8:
      return integers(std::int8_t{});
    case DType::u16:
      return integers(std::uint16_t{});
    case DType::i16:
      return integers(std::int16_t{});
    case DType::u32:
      return integers(std::uint32_t{});
    case DType::i32:
      return integers(std::int32_t{});
    case DType::u64:
      return integers(std::uint64_t{});
    case DType::i64:
      return integers(std::int64_t{});
    default:
      break;
  }
  std::array<double, tile> wide;
  for (std::size_t i = 0; i < count; ++i) {
    wide[i] = to == DType::f64 ? static_cast<double>(values[i]) : odd_rounded_double(values[i]);
  }
  double_to_floats(to, wide.data(), out, count);
}

void convert_tile(DType from, const std::byte* source, DType to, std::byte* out,
                  std::size_t count) {
  auto integers = [&]<class From, class Wide>(From, Wide) {
    std::array<Wide, tile> wide;
    for (std::size_t i = 0; i < count; ++i) wide[i] = load<From>(source + i * sizeof(From));
    store_tile(to, wide.data(), out, count);
  };
  switch (from) {
    case DType::boolean: {
      std::array<std::uint64_t, tile> wide;
      for (std::size_t i = 0; i < count; ++i) wide[i] = source[i] != std::byte{0};
      return store_tile(to, wide.data(), out, count);
    }
    case DType::u8:
      return integers(std::uint8_t{}, std::uint64_t{});
    case DType::i8:
      return integers(std::int8_t{}, std::int64_t{});
    case DType::u16:
      return integers(std::uint16_t{}, std::uint64_t{});
    case DType::i16:
      return integers(std::int16_t{}, std::int64_t{});
    case DType::u32:
      return integers(std::uint32_t{}, std::uint64_t{});
    case DType::i32:
      return integers(std::int32_t{}, std::int64_t{});
    case DType::u64:
      return integers(std::uint64_t{}, std::uint64_t{});
    case DType::i64:
      return integers(std::int64_t{}, std::int64_t{});
    default:
      break;
  }
  std::array<double, tile> wide;
  floats_to_double(from, source, wide.data(), count);
  store_tile(to, wide.data(), out, count);
}

bool is_real(DType dtype) {
  return dtype == DType::boolean || is_integer(dtype) ||
         (is_float(dtype) && dtype != DType::f6e2m3 && dtype != DType::f6e3m2);
}

}  // namespace

bool can_convert(DType from, DType to) noexcept {
  return (is_real(from) && is_real(to)) || (is_complex(from) && is_complex(to));
}

DType component_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::c32:
      return DType::f16;
    case DType::c64:
      return DType::f32;
    case DType::c128:
      return DType::f64;
    default:
      return dtype;
  }
}

void convert(DType from, const std::byte* source, DType to, std::byte* out,
             std::size_t count) noexcept {
  if (is_complex(from))
    return convert(component_of(from), source, component_of(to), out, 2 * count);
  if (convert_common(from, source, to, out, count)) return;
  for (std::size_t done = 0; done < count; done += tile) {
    convert_tile(from, source + done * bit_width(from) / 8, to, out + done * bit_width(to) / 8,
                 std::min(tile, count - done));
  }
}

}  // namespace andiron::inline v1
