// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/record_reader_test.cpp and record_hostile_test.cpp
#include "src/format/record/dict.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "andiron/limits.h"
#include "src/core/sort.h"

namespace andiron::inline v1::detail {

const Value* find(const ValueDict& dict, std::string_view key) {
  const auto entry =
      std::find_if(dict.begin(), dict.end(), [&](const auto& it) { return it.first == key; });
  return entry == dict.end() ? nullptr : &entry->second;
}

void set(ValueDict& dict, std::string_view key, Value value) {
  const auto entry =
      std::find_if(dict.begin(), dict.end(), [&](const auto& it) { return it.first == key; });
  entry->second = std::move(value);
}

const std::string* repeated_key(const ValueDict& dict) {
  std::vector<const std::string*> keys;
  keys.reserve(dict.size());
  for (const auto& entry : dict) keys.push_back(&entry.first);
  detail::sort(keys.begin(), keys.end(), [](const auto* a, const auto* b) { return *a < *b; });
  const auto twice = std::adjacent_find(keys.begin(), keys.end(),
                                        [](const auto* a, const auto* b) { return *a == *b; });
  return twice == keys.end() ? nullptr : *twice;
}

std::optional<Shape> shape_of(const Value* value) {
  if (value == nullptr) return std::nullopt;
  if (const Value* dims = value->find("dims")) value = dims;
  const ValueList* list = value->get<ValueList>();
  if (list == nullptr || list->size() > max_rank) return std::nullopt;
  std::array<std::uint64_t, max_rank> dims;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::uint64_t* dim = (*list)[i].get<std::uint64_t>();
    if (dim == nullptr) return std::nullopt;
    dims[i] = *dim;
  }
  return Shape(std::span(dims).first(list->size()));
}

std::optional<Metadata> metadata_of(const Value* value) {
  const ValueDict* dict = value == nullptr ? nullptr : value->get<ValueDict>();
  if (dict == nullptr) return std::nullopt;
  Metadata metadata;
  for (const auto& [key, item] : *dict) {
    const std::string* text = item.get<std::string>();
    if (text == nullptr) return std::nullopt;
    metadata.emplace(key, *text);
  }
  return metadata;
}

}  // namespace andiron::inline v1::detail
