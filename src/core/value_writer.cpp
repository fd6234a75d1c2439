// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/value_reader_test.cpp
#include "andiron/detail/value_writer.h"

#include <charconv>
#include <cstddef>
#include <string_view>

#include "src/core/parse_double.h"

namespace andiron::inline v1::detail {

double widened(float number) noexcept {
  char text[32];
  const auto written = std::to_chars(text, text + sizeof text, number);
  const std::string_view shortest(text, static_cast<std::size_t>(written.ptr - text));
  return parse_double(shortest).value_or(static_cast<double>(number));
}

}  // namespace andiron::inline v1::detail
