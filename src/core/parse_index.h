// SPDX-License-Identifier: MIT OR Apache-2.0
// Whole numbers in names, read as Rust reads a usize.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace andiron::inline v1 {

// An optional plus, then digits alone; leading zeros are fine. Nothing when it does not fit 64
// bits.
inline std::optional<std::uint64_t> parse_index(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (largest - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

// The same of digits alone, as a number is printed.
inline std::optional<std::uint64_t> parse_printed_index(std::string_view text) {
  const bool is_printed =
      !text.empty() && text.front() != '+' && (text.front() != '0' || text.size() == 1);
  return is_printed ? parse_index(text) : std::nullopt;
}

}  // namespace andiron::inline v1
