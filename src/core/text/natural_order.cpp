// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/natural_order_test.cpp
#include "andiron/text.h"

#include <cstddef>

#include "src/core/text/digit.h"

namespace andiron::inline v1 {
namespace {

// Takes the run of digits at `at` and returns it without leading zeros.
std::string_view take_number(std::string_view text, std::size_t& at) {
  while (at < text.size() && text[at] == '0') ++at;
  const std::size_t begin = at;
  while (at < text.size() && detail::is_digit(text[at])) ++at;
  return text.substr(begin, at - begin);
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) noexcept {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (detail::is_digit(a[i]) && detail::is_digit(b[j])) {
      const std::string_view x = take_number(a, i);
      const std::string_view y = take_number(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (const int order = x.compare(y); order != 0) return order < 0;
    } else {
      if (a[i] != b[j]) {
        return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      }
      ++i;
      ++j;
    }
  }
  if (i < a.size() || j < b.size()) return i == a.size();
  return a < b;
}

}  // namespace andiron::inline v1
