// SPDX-License-Identifier: MIT OR Apache-2.0
// Names and counts in a sentence. Names are not escaped here; whoever prints the sentence escapes
// it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace andiron::inline v1::detail {

inline std::string in_quotes(std::string_view name) {
  std::string text = "'";
  text += name;
  return text += '\'';
}

// "1 tensor", "2 tensors".
inline std::string count_of(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

// "'a' and 3 others"
inline std::string in_quotes_and_others(const std::vector<std::string_view>& names) {
  std::string text = in_quotes(names.front());
  if (names.size() > 1) text += " and " + count_of(names.size() - 1, "other");
  return text;
}

// "'a', 'b' and 12 more": enough of them to recognize the rest by.
inline std::string list_in_quotes(const std::vector<std::string_view>& names) {
  constexpr std::size_t most = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    if (i != 0) list += ", ";
    list += in_quotes(names[i]);
  }
  if (names.size() > most) list += " and " + std::to_string(names.size() - most) + " more";
  return list;
}

}  // namespace andiron::inline v1::detail
