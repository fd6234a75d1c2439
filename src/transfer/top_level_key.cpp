// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/transfer/top_level_key_test.cpp
#include <algorithm>
#include <cstddef>
#include <set>

#include "andiron/display_text.h"
#include "andiron/key_remapper.h"
#include "andiron/natural_order.h"
#include "src/core/similarity.h"
#include "src/transfer/new_names.h"

namespace andiron {
inline namespace v1 {
namespace {

// Enough to recognise a file by.
constexpr std::size_t shown_keys = 8;

// First segments of all names that have more than one.
std::vector<std::string_view> top_level_keys(const Archive& archive) {
  std::set<std::string_view, NaturalLess> keys;
  for (const std::string_view name : names_and_aliases(archive)) {
    const std::size_t dot = name.find('.');
    if (dot != std::string_view::npos) keys.insert(name.substr(0, dot));
  }
  return {keys.begin(), keys.end()};
}

std::string listed(const std::vector<std::string_view>& keys) {
  std::string list;
  for (std::size_t i = 0; i < std::min(keys.size(), shown_keys); ++i) {
    list += (i == 0 ? "'" : ", '") + display_text(keys[i]) + "'";
  }
  if (keys.size() > shown_keys)
    list += " and " + std::to_string(keys.size() - shown_keys) + " more";
  return list;
}

Error nothing_below(const Archive& archive, std::string_view key) {
  const std::vector<std::string_view> keys = top_level_keys(archive);
  Error error;
  error.code = ErrorCode::missing_tensor;
  error.file = archive.origin();
  error.message = "nothing lies below the key '" + display_text(key) + "'";
  error.found = keys.empty() ? "no name with a dot" : "the top-level keys are " + listed(keys);
  const auto nearest = nearest_name(key, keys.size(), [&](std::size_t i) { return keys[i]; });
  if (archive.find(key)) {
    error.hint = "that is a tensor itself; leave the top-level key out";
  } else if (nearest) {
    error.hint = "did you mean '" + display_text(keys[*nearest]) + "'?";
  } else {
    error.hint = keys.empty() ? "leave the top-level key out" : "give one of these, or none";
  }
  return error;
}

}  // namespace

Result<Archive> at_top_level_key(const Archive& archive, std::string_view key) {
  const std::string prefix = std::string(key) + ".";
  std::vector<std::optional<std::string>> below;
  bool is_empty = true;
  for (const std::string_view name : names_and_aliases(archive)) {
    below.emplace_back();
    if (!name.starts_with(prefix)) continue;
    below.back() = name.substr(prefix.size());
    is_empty = false;
  }
  if (is_empty) return nothing_below(archive, key);
  return with_new_names(archive, std::move(below));
}

}  // namespace v1
}  // namespace andiron
