// SPDX-License-Identifier: MIT OR Apache-2.0
// Numbers with a fraction or an exponent, in text.
#pragma once

#include <locale.h>
#include <stdlib.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace andiron::inline v1::detail {

// The same with strtod, which takes more than std::from_chars: blanks, a plus sign, hexadecimal
// numbers. For libraries that have only half of <charconv>, as libc++ before 20.
inline std::optional<double> parse_double_with_strtod(std::string_view text) {
  const std::string_view magnitude = text.starts_with('-') ? text.substr(1) : text;
  if (magnitude.find_first_of("0123456789.iInN") != 0) return std::nullopt;
  if (magnitude.find_first_of("xX") != std::string_view::npos) return std::nullopt;
  const std::string terminated(text);
  char* stop = nullptr;
#if defined(__wasi__)  // where the locale is always C
  const double number = std::strtod(terminated.c_str(), &stop);
#else
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", locale_t());
  const double number = strtod_l(terminated.c_str(), &stop, c_locale);
#endif
  if (stop != terminated.c_str() + terminated.size()) return std::nullopt;
  const std::string_view mantissa = magnitude.substr(0, magnitude.find_first_of("eE"));
  const bool is_finite = magnitude.find_first_of("iInN") != 0;
  const bool is_zero = mantissa.find_first_of("123456789") == std::string_view::npos;
  if (is_finite && (std::isinf(number) || (number == 0 && !is_zero))) return std::nullopt;
  return number;
}

// All of `text` as std::from_chars reads a double. Nothing for other text, and for numbers that no
// double is near to.
inline std::optional<double> parse_double(std::string_view text) {
#if defined(__cpp_lib_to_chars)
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
#else
  return parse_double_with_strtod(text);
#endif
}

}  // namespace andiron::inline v1::detail
