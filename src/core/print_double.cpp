// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/print_double_test.cpp
#include "src/core/print_double.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

namespace andiron::inline v1::detail {
namespace {

// Digits without trailing zeros, and the power of ten of the first.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

void strip_zeros(std::string& digits) { digits.erase(digits.find_last_not_of('0') + 1); }

// Of a positive number, rounded to so many digits.
Decimal rounded(double number, int count) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*e", count - 1, number);
  const std::string_view all = text;
  const std::size_t mark = all.find('e');
  Decimal decimal{std::string(all.substr(0, mark)), std::atoi(text + mark + 1)};
  if (count > 1) decimal.digits.erase(1, 1);
  strip_zeros(decimal.digits);
  return decimal;
}

// The next larger one of so many digits.
Decimal next_after(Decimal decimal, std::size_t count) {
  decimal.digits.resize(count, '0');
  std::size_t at = count;
  while (at > 0 && decimal.digits[at - 1] == '9') decimal.digits[--at] = '0';
  if (at > 0) {
    ++decimal.digits[at - 1];
  } else {
    decimal.digits = "1";
    ++decimal.exponent;
  }
  strip_zeros(decimal.digits);
  return decimal;
}

std::string scientific(const Decimal& decimal) {
  std::string text = decimal.digits.substr(0, 1);
  if (decimal.digits.size() > 1) text += '.' + decimal.digits.substr(1);
  char exponent[16];
  std::snprintf(exponent, sizeof exponent, "e%+03d", decimal.exponent);
  return text + exponent;
}

std::string fixed(double number, const Decimal& decimal) {
  if (decimal.exponent < 0) {
    return "0." + std::string(static_cast<std::size_t>(-decimal.exponent - 1), '0') +
           decimal.digits;
  }
  const std::size_t before_point = static_cast<std::size_t>(decimal.exponent) + 1;
  if (decimal.digits.size() > before_point) {
    return decimal.digits.substr(0, before_point) + '.' + decimal.digits.substr(before_point);
  }
  // An integer, to its last digit.
  char text[400];
  std::snprintf(text, sizeof text, "%.0f", number);
  return text;
}

double read_back(const Decimal& decimal, double) {
  return std::strtod(scientific(decimal).c_str(), nullptr);
}
float read_back(const Decimal& decimal, float) {
  return std::strtof(scientific(decimal).c_str(), nullptr);
}

template <class Number>
Decimal shortest(Number number) {
  using Limits = std::numeric_limits<Number>;
  // Numbers of so few digits are apart from each other, unless they are subnormal.
  int count = number < Limits::min() ? 1 : Limits::digits10;
  int exponent = 0;
  const bool is_power_of_two = std::frexp(number, &exponent) == Number(0.5);
  for (; count < Limits::max_digits10; ++count) {
    Decimal decimal = rounded(number, count);
    if (read_back(decimal, number) == number) return decimal;
    // Numbers lie twice as far apart above a power of two as below it.
    if (!is_power_of_two) continue;
    decimal = next_after(std::move(decimal), static_cast<std::size_t>(count));
    if (read_back(decimal, number) == number) return decimal;
  }
  return rounded(number, count);
}

template <class Number>
std::string print(Number number, Notation notation) {
  const std::string sign = std::signbit(number) ? "-" : "";
  if (number == 0) return sign + (notation == Notation::scientific ? "0e+00" : "0");
  const Number magnitude = std::fabs(number);
  const Decimal decimal = shortest(magnitude);
  if (notation == Notation::fixed) return sign + fixed(magnitude, decimal);
  const std::string with_exponent = scientific(decimal);
  if (notation == Notation::scientific) return sign + with_exponent;
  const std::string without = fixed(magnitude, decimal);
  return sign + (without.size() <= with_exponent.size() ? without : with_exponent);
}

}  // namespace

std::string print_double_with_printf(double number, Notation notation) {
  return print(number, notation);
}
std::string print_float_with_printf(float number) { return print(number, Notation::shorter); }

#if defined(__wasi__)

std::string print_double(double number, Notation notation) { return print(number, notation); }
std::string print_float(float number) { return print(number, Notation::shorter); }

#else

std::string print_double(double number, Notation notation) {
  char text[400];
  char* const end = text + sizeof text;
  switch (notation) {
    case Notation::shorter:
      return {text, std::to_chars(text, end, number).ptr};
    case Notation::fixed:
      return {text, std::to_chars(text, end, number, std::chars_format::fixed).ptr};
    case Notation::scientific:
      break;
  }
  return {text, std::to_chars(text, end, number, std::chars_format::scientific).ptr};
}
std::string print_float(float number) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

#endif

}  // namespace andiron::inline v1::detail
