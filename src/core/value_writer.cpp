// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/value_reader_test.cpp
#include "andiron/detail/value_writer.h"

#include <charconv>

namespace andiron::inline v1::detail {

double widened(float number) noexcept {
  char text[32];
  const auto written = std::to_chars(text, text + sizeof text, number);
  double wide = static_cast<double>(number);
  std::from_chars(text, written.ptr, wide);
  return wide;
}

}  // namespace andiron::inline v1::detail
