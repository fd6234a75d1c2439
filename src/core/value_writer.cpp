// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/value_reader_test.cpp
#include "andiron/detail/value_writer.h"

#include <cmath>

#include "src/core/parse_double.h"
#include "src/core/print_double.h"

namespace andiron::inline v1::detail {

double widened(float number) noexcept {
  if (!std::isfinite(number)) return number;
  return parse_double(print_float(number)).value_or(static_cast<double>(number));
}

}  // namespace andiron::inline v1::detail
