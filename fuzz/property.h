// SPDX-License-Identifier: MIT OR Apache-2.0
// What must hold for every input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "andiron/error.h"

namespace andiron::fuzz {

// Ends the process, which libFuzzer reports as a finding and keeps the input of.
[[noreturn]] inline void broken(const char* property, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, property);
  std::abort();
}

// The value of a result that may not be an error.
template <class T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "unexpected error: %s\n", result.error().to_string().c_str());
  std::abort();
}

inline void must(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "unexpected error: %s\n", status.error().to_string().c_str());
  std::abort();
}

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Takes the first line off a text, and what ends it.
inline std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
  return line;
}

}  // namespace andiron::fuzz

#define ANDIRON_HOLDS(property) \
  static_cast<void>((property) || (andiron::fuzz::broken(#property, __FILE__, __LINE__), false))
