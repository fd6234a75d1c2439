// SPDX-License-Identifier: MIT OR Apache-2.0
// Numbers with a fraction or an exponent, as text.
#pragma once

#include <cstdint>
#include <string>

namespace andiron::inline v1::detail {

enum class Notation : std::uint8_t { shorter, fixed, scientific };

// The fewest digits that are read back as the same number, as std::to_chars writes them. With
// Notation::shorter, fixed unless scientific is shorter. REQUIRES: the number is finite.
std::string print_double(double number, Notation notation = Notation::shorter);
std::string print_float(float number);

// The same with snprintf and strtod. For programs that must be small: the tables of std::to_chars
// take 115 KB.
std::string print_double_with_printf(double number, Notation notation = Notation::shorter);
std::string print_float_with_printf(float number);

}  // namespace andiron::inline v1::detail
