// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads what pattern_syntax.h writes, a token at a time.
#pragma once

#include <cstddef>
#include <string_view>

namespace andiron::inline v1::automaton {

class SyntaxReader {
 public:
  explicit SyntaxReader(std::string_view syntax) : rest_(syntax) {}

  bool at_end() const noexcept { return rest_.empty(); }
  char peek() const noexcept { return rest_[0]; }  // REQUIRES: not at_end()
  bool is_at(std::string_view token) const noexcept { return rest_.starts_with(token); }
  bool take_if(std::string_view token) noexcept;
  // The bytes since a reader was as `before`.
  std::string_view taken_since(const SyntaxReader& before) const noexcept;

  // REQUIRES of these: what they take is there.
  std::string_view take(std::size_t bytes) noexcept;
  std::string_view take_through(std::string_view end) noexcept;  // with `end` itself
  char32_t take_character() noexcept;                            // plain or escaped
  std::string_view take_set() noexcept;  // a character or brackets, as it is written

 private:
  std::string_view rest_;
};

}  // namespace andiron::inline v1::automaton
