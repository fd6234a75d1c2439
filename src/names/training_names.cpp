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

bool is_lora_matrix(std::string_view name) {
  constexpr std::string_view matrices[] = {
      "lora_A",    "lora_B", "lora_embedding_A", "lora_embedding_B", "lora_magnitude_vector",
      "lora_down", "lora_up"};
  bool is_below_lora = false;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view segment = name.substr(begin, end - begin);
    if (std::find(std::begin(matrices), std::end(matrices), segment) != std::end(matrices)) {
      return true;
    }
    if (is_below_lora && (segment == "down" || segment == "up")) return true;
    is_below_lora = segment == "lora" || segment.ends_with("_lora");
    begin = end + 1;
  }
  return false;
}

bool is_flattened(std::string_view name) {
  std::string_view last = name.substr(name.rfind('.') + 1);
  if (last.starts_with('_')) last.remove_prefix(1);
  constexpr std::string_view known = "flat_param";
  if (!last.starts_with(known)) return false;
  last.remove_prefix(known.size());
  return last.empty() || (last.starts_with('_') && parse_index(last.substr(1)));
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
