// SPDX-License-Identifier: MIT OR Apache-2.0
// Texts as literals of the languages that advice is worded in.
#pragma once

#include <string>
#include <string_view>

#include "andiron/message.h"

namespace andiron::inline v1::detail {

// "..." in C++ and JavaScript, '...' in a shell. Newlines and the like stay as they are: who prints
// the literal escapes them.
inline std::string literal(std::string_view text, Wording wording) {
  const bool is_shell = wording == Wording::flags;
  std::string quoted(1, is_shell ? '\'' : '"');
  for (const char c : text) {
    if (is_shell && c == '\'') {
      quoted += "'\\''";
      continue;
    }
    if (!is_shell && (c == '"' || c == '\\')) quoted += '\\';
    quoted += c;
  }
  return quoted += quoted.front();
}

}  // namespace andiron::inline v1::detail
