// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/regex_parser_test.cpp
#include "src/core/text/regex/syntax_reader.h"

#include <algorithm>
#include <cstdint>

#include "src/core/text/digit.h"
#include "src/core/text/utf8.h"

namespace andiron::inline v1::automaton {

bool SyntaxReader::take_if(std::string_view token) noexcept {
  if (!is_at(token)) return false;
  rest_.remove_prefix(token.size());
  return true;
}

std::string_view SyntaxReader::taken_since(const SyntaxReader& before) const noexcept {
  return before.rest_.substr(0, before.rest_.size() - rest_.size());
}

std::string_view SyntaxReader::take(std::size_t bytes) noexcept {
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(taken.size());
  return taken;
}

std::string_view SyntaxReader::take_through(std::string_view end) noexcept {
  return take(rest_.find(end) + end.size());
}

char32_t SyntaxReader::take_character() noexcept {
  if (take_if("\\x{")) {
    std::uint32_t code = 0;
    while (!at_end() && !take_if("}")) {
      const char c = take(1)[0];
      code = code * 16 + static_cast<unsigned>(c - (detail::is_digit(c) ? '0' : 'A' - 10));
    }
    return code;
  }
  take_if("\\");
  const CodePoint c = decode_utf8(rest_.data(), rest_.data() + rest_.size());
  take(c.length);
  return c.value;
}

std::string_view SyntaxReader::take_set() noexcept {
  const SyntaxReader before = *this;
  if (!take_if("[")) {
    take_character();
    return taken_since(before);
  }
  while (!at_end() && !take_if("]")) {
    if (is_at("[:")) {
      take_through(":]");
    } else {
      take(is_at("\\") ? 2 : 1);
    }
  }
  return taken_since(before);
}

}  // namespace andiron::inline v1::automaton
