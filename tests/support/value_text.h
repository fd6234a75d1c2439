// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "andiron/value.h"

namespace andiron::test {

/// How much text is in a tree: what a few bytes of a file repeat must not fill the memory.
inline std::size_t text_bytes(const Value& value) {
  std::size_t bytes = 0;
  if (const auto* text = value.get<std::string>()) bytes += text->size();
  if (const auto* list = value.get<ValueList>()) {
    for (const Value& item : *list) bytes += text_bytes(item);
  }
  if (const auto* dict = value.get<ValueDict>()) {
    for (const auto& [key, item] : *dict) bytes += key.size() + text_bytes(item);
  }
  return bytes;
}

}  // namespace andiron::test
