// SPDX-License-Identifier: MIT OR Apache-2.0
// Sizes and counts as people write them.
#include "cli/quantities.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace andiron::cli {
namespace {

// One decimal, in the largest unit that leaves at least 1.0.
std::string scaled(std::uint64_t value, double step, const char* const* units) {
  double number = static_cast<double>(value);
  // 999.96 would print as 1000.0.
  while (number >= step - 0.05 && units[1] != nullptr) {
    number /= step;
    ++units;
  }
  char text[64];
  std::snprintf(text, sizeof text, "%.1f%s", number, *units);
  return text;
}

}  // namespace

std::string format_size(std::uint64_t bytes) {
  static constexpr const char* units[] = {" B",   " KiB", " MiB", " GiB",
                                          " TiB", " PiB", " EiB", nullptr};
  return bytes < 1024 ? std::to_string(bytes) + " B" : scaled(bytes, 1024, units);
}

std::string format_count(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t i = text.size(); i > 3;) {
    i -= 3;
    text.insert(i, 1, ',');
  }
  return text;
}

std::string format_short_count(std::uint64_t count) {
  static constexpr const char* units[] = {"", "K", "M", "B", "T", nullptr};
  return count < 1000 ? std::to_string(count) : scaled(count, 1000, units);
}

std::string format_number(double number, int digits) {
  if (std::isnan(number)) return "-";
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, number);
  return text;
}

std::string count_of(std::uint64_t count, std::string_view noun) {
  std::string text = format_count(count) + ' ';
  text += noun;
  if (count != 1) text += 's';
  return text;
}

std::optional<double> parse_number(std::string_view text) {
  if (text.find_first_not_of("0123456789.e+-") != std::string_view::npos ||
      text.find_first_of("0123456789.") != 0) {
    return std::nullopt;
  }
  const std::string whole(text);
  char* end = nullptr;
  const double number = std::strtod(whole.c_str(), &end);
  if (end != whole.c_str() + whole.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::optional<double> parsed = parse_number(text.substr(0, digits));
  if (!parsed) return std::nullopt;
  double number = *parsed;
  std::string unit;
  for (const char c : text.substr(digits)) {
    unit += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  if (!unit.empty() && unit != "B") {
    const std::size_t power = std::string_view("KMGT").find(unit[0]);
    if (power == std::string_view::npos) return std::nullopt;
    const std::string_view suffix = std::string_view(unit).substr(1);
    if (suffix != "" && suffix != "I" && suffix != "IB" && suffix != "B") return std::nullopt;
    for (std::size_t i = 0; i <= power; ++i) number *= suffix == "B" ? 1000 : 1024;
  }
  if (number >= 0x1p64) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

}  // namespace andiron::cli
