// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace andiron::test {

/// Bytes that compress badly, the same each time.
inline std::string noise(std::size_t size) {
  std::string text;
  std::uint64_t state = 1;
  while (text.size() < size) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    text += static_cast<char>(state >> 56);
  }
  return text;
}

}  // namespace andiron::test
