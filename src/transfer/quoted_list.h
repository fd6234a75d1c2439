// SPDX-License-Identifier: MIT OR Apache-2.0
// Names in a sentence.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/display_text.h"

namespace andiron::inline v1::detail {

// "'a', 'b' and 12 more": enough of them to recognise the rest by.
inline std::string quoted_list(const std::vector<std::string_view>& names,
                               std::string (*shown)(std::string_view) = display_text) {
  constexpr std::size_t most = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    list += (i == 0 ? "'" : ", '") + shown(names[i]) + "'";
  }
  if (names.size() > most) list += " and " + std::to_string(names.size() - most) + " more";
  return list;
}

}  // namespace andiron::inline v1::detail
