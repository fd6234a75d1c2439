// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/adapters/adapter_test.cpp and rule_adapter_test.cpp
#include "src/core/path_segments.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace andiron::inline v1 {

std::string_view Place::name() const noexcept { return detail::last_segments(path, 1); }

std::string_view Place::parent() const noexcept { return detail::parent_path(path); }

std::string Place::with_name(std::string_view name) const {
  std::string changed = path.substr(0, path.size() - this->name().size());
  return changed.append(name);
}

namespace detail {
namespace {

bool is_enum(std::string_view kind) noexcept { return kind.starts_with("Enum:"); }

}  // namespace

std::string_view parent_path(std::string_view path) noexcept {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

std::size_t segment_count(std::string_view path) noexcept {
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), '.')) + 1;
}

std::string_view last_segments(std::string_view path, std::size_t count) noexcept {
  for (std::size_t i = path.size(); i > 0; --i) {
    if (path[i - 1] == '.' && --count == 0) return path.substr(i);
  }
  return count == 1 ? path : std::string_view();
}

Container container_after_move(std::string_view path, const Container& container,
                               std::string_view new_path) {
  const std::size_t before = segment_count(path);
  const std::size_t after = segment_count(new_path);
  if (after >= before) return container;
  std::vector<std::string> kinds = container.kinds();
  // Where variants were left out of the path, the enums around them hold no segment.
  const bool skip_enums = before < kinds.size();
  const auto drop_enums = [&] {
    while (skip_enums && !kinds.empty() && is_enum(kinds.back())) kinds.pop_back();
  };
  for (std::size_t i = after; i < before; ++i) {
    drop_enums();
    if (!kinds.empty()) kinds.pop_back();
  }
  drop_enums();
  return Container(std::move(kinds));
}

TensorSnapshot at_place(TensorSnapshot tensor, const Place& place) {
  if (tensor.full_path() != place.path) tensor.set_full_path(place.path);
  return std::move(tensor).with_container(place.container);
}

}  // namespace detail
}  // namespace andiron::inline v1
