// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/names/training_names_test.cpp
#include "src/names/training_names.h"

#include <algorithm>
#include <iterator>

#include "src/core/parse_index.h"

namespace andiron::inline v1::detail {

bool is_optimizer_state(std::string_view name) {
  const std::size_t field = name.rfind('.');
  if (field == std::string_view::npos || field == 0) return false;
  const std::size_t number = name.rfind('.', field - 1);
  if (number == std::string_view::npos) return false;
  const std::string_view owner = name.substr(0, number);
  const std::string_view last = name.substr(field + 1);
  return (owner == "state" || owner.ends_with(".state")) &&
         parse_index(name.substr(number + 1, field - number - 1)) && last != "weight" &&
         last != "bias";
}

bool is_weight_part(std::string_view name) {
  constexpr std::string_view parts[] = {"_g", "_v", "_u", "_orig"};
  if (name.starts_with("parametrizations.") ||
      name.find(".parametrizations.") != std::string_view::npos) {
    return true;
  }
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return last.starts_with("weight") &&
         std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view part) { return last.ends_with(part); });
}

std::string partner_in_weight_norm(std::string_view name) {
  constexpr std::string_view pairs[][2] = {{"_g", "_v"}, {".original0", ".original1"}};
  if (!is_weight_part(name)) return {};
  for (const auto& [magnitude, direction] : pairs) {
    const bool is_magnitude = name.ends_with(magnitude);
    if (!is_magnitude && !name.ends_with(direction)) continue;
    name.remove_suffix(magnitude.size());
    return std::string(name).append(is_magnitude ? direction : magnitude);
  }
  return {};
}

}  // namespace andiron::inline v1::detail
