// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/told_names_test.cpp
#include "src/load/told_names.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "src/core/text/in_quotes.h"

namespace andiron::inline v1::detail {

ToldNames::ToldNames(const Archive& source)
    : source_(source), closes_gaps_(source.before(NameStage::index_gaps).has_value()) {}

std::string_view ToldNames::own(std::string_view name) const {
  if (!closes_gaps_) return name;
  const std::optional<std::size_t> index = source_.find(name);
  if (!index || source_.info(*index).name != name) return name;
  const std::vector<NameStep> steps = source_.name_history(*index);
  for (std::size_t i = steps.size(); i-- > 1;) {
    if (steps[i].stage == NameStage::index_gaps) return steps[i - 1].name;
  }
  return name;
}

std::string ToldNames::quoted(std::string_view name) const {
  const std::string_view own_name = own(name);
  if (own_name == name) return in_quotes(name);
  return in_quotes(own_name) + " (" + std::string(name) + " after closing index gaps)";
}

std::string ToldNames::quoted_and_others(const std::vector<std::string_view>& names) const {
  std::string text = quoted(names.front());
  if (names.size() > 1) text += " and " + count_of(names.size() - 1, "other");
  return text;
}

std::string ToldNames::renumbered(const std::vector<std::string_view>& names) const {
  std::vector<std::string_view> others;
  for (const std::string_view name : names) {
    const std::string_view own_name = own(name);
    const bool is_known = std::find(others.begin(), others.end(), own_name) != others.end();
    if (own_name != name && !is_known) others.push_back(own_name);
  }
  return others.empty() ? std::string() : in_quotes_and_others(others);
}

}  // namespace andiron::inline v1::detail
