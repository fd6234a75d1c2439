// SPDX-License-Identifier: MIT OR Apache-2.0
// Sizes and counts as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace andiron::cli {

/// "24 B", "1.5 KiB", "13.0 GiB".
std::string format_size(std::uint64_t bytes);

/// "1,234,567"
std::string format_count(std::uint64_t count);

/// "1.2M"; small numbers as they are.
std::string format_short_count(std::uint64_t count);

/// "0.123", "-1.5e-05" with at most so many digits; "-" for NaN, "inf".
std::string format_number(double number, int digits);

/// "1 tensor", "2 tensors".
std::string count_of(std::uint64_t count, std::string_view noun);

/// "12", ".5", "1e-5": no sign, no "inf", nothing else behind it. Some standard libraries lack
/// from_chars for doubles.
std::optional<double> parse_number(std::string_view text);

/// "512M", "2GiB", "1.5G", "100KB", "4096". K, M, G, T with or without "i" and "iB" count in 1024s,
/// KB, MB, GB, TB in 1000s. Nothing when it is no such size or does not fit 64 bits.
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace andiron::cli
