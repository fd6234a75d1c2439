// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace andiron::test {

inline std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

/// A 1 that many lists or objects enclose.
inline std::string nested_json(std::size_t levels, std::string_view open, std::string_view close) {
  return repeated(open, levels) + "1" + repeated(close, levels);
}

}  // namespace andiron::test
