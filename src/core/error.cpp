// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/error_test.cpp
#include "andiron/error.h"

#include <ostream>

#include "andiron/display_text.h"

namespace andiron::inline v1 {

std::string Error::description() const {
  std::string line = message;
  if (!found.empty()) line += ": " + found;
  if (!expected.empty()) line += "; expected " + expected;
  if (!hint.empty()) line += "; " + hint;
  line = display_line(line);
  return tensor.empty() ? line : "tensor '" + display_text(tensor) + "': " + line;
}

std::string Error::to_string() const {
  return file.empty() ? description() : display_text(file) + ": " + description();
}

void detail::ErrorDeleter::operator()(Error* error) const noexcept { delete error; }

std::ostream& operator<<(std::ostream& out, const Error& error) { return out << error.to_string(); }

}  // namespace andiron::inline v1
