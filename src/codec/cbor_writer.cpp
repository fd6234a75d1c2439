// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/cbor_writer_test.cpp
#include "src/codec/cbor_writer.h"

#include <bit>

namespace andiron::inline v1::detail {
namespace {

// The f16 or f32 with the same sign, and exactly the same number or NaN bits; false when there is
// none. `fraction_bits` and `bias` tell which.
bool narrow(std::uint64_t bits, unsigned fraction_bits, unsigned bias, std::uint64_t& out) {
  constexpr unsigned wide_fraction_bits = 52;
  const unsigned dropped = wide_fraction_bits - fraction_bits;
  const std::uint64_t sign = bits >> 63;
  const auto exponent = static_cast<int>(bits >> wide_fraction_bits & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << wide_fraction_bits) - 1);
  const int most = static_cast<int>(2 * bias + 1);  // of the exponent: infinity and NaN
  const unsigned exponent_bits = static_cast<unsigned>(std::bit_width(static_cast<unsigned>(most)));
  const auto join = [&](std::uint64_t narrow_exponent, std::uint64_t narrow_fraction) {
    out = sign << (exponent_bits + fraction_bits) | narrow_exponent << fraction_bits |
          narrow_fraction;
    return true;
  };
  const auto fits = [&](unsigned shift) {
    return (fraction & ((std::uint64_t{1} << shift) - 1)) == 0;
  };
  if (exponent == 0) return fraction == 0 && join(0, 0);
  if (exponent == 0x7ff) {
    // A conversion would quieten a signalling NaN.
    constexpr std::uint64_t quiet = std::uint64_t{1} << (wide_fraction_bits - 1);
    if (fraction != 0 && (fraction & quiet) == 0) return false;
    return fits(dropped) && join(static_cast<std::uint64_t>(most), fraction >> dropped);
  }
  const int narrow_exponent = exponent - 1023 + static_cast<int>(bias);
  if (narrow_exponent >= most) return false;
  if (narrow_exponent > 0) {
    return fits(dropped) && join(static_cast<std::uint64_t>(narrow_exponent), fraction >> dropped);
  }
  // A number without the leading one: it moves into the fraction.
  const unsigned shift = dropped + 1 + static_cast<unsigned>(-narrow_exponent);
  if (shift > wide_fraction_bits || !fits(shift)) return false;
  return join(0, (fraction | std::uint64_t{1} << wide_fraction_bits) >> shift);
}

}  // namespace

void CborWriter::integer(std::int64_t value) {
  if (value >= 0) return head(0, static_cast<std::uint64_t>(value));
  head(1, static_cast<std::uint64_t>(-1 - value));
}

void CborWriter::floating(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  std::uint64_t narrowed = 0;
  if (narrow(bits, 10, 15, narrowed)) {
    out_ += static_cast<char>(0xf9);
    big_endian(narrowed, 2);
  } else if (narrow(bits, 23, 127, narrowed)) {
    out_ += static_cast<char>(0xfa);
    big_endian(narrowed, 4);
  } else {
    out_ += static_cast<char>(0xfb);
    big_endian(bits, 8);
  }
}

}  // namespace andiron::inline v1::detail
