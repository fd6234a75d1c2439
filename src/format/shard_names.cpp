// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/shard_set_test.cpp
#include "src/format/shard_names.h"

#include <charconv>
#include <cstdio>

#include "andiron/value.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t least_digits = 5;
constexpr std::size_t most_digits = 9;

// Takes digits off the front of `text`.
std::optional<unsigned> take_number(std::string_view& text, std::size_t least) {
  unsigned number = 0;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits < least || digits > most_digits) return {};
  std::from_chars(text.data(), text.data() + digits, number);
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

// "00001-of-00003" and nothing else.
bool is_position(std::string_view text) {
  return take_number(text, least_digits) && take(text, "-of-") && take_number(text, least_digits) &&
         text.empty();
}

}  // namespace

std::string ShardNames::name(unsigned set_number, std::size_t shard, std::size_t count) const {
  char position[64];
  std::snprintf(position, sizeof position, "-%05zu-of-%05zu", shard, count);
  const std::string number = set_number == 0 ? "" : "-" + std::to_string(set_number);
  return stem + number + position + ending;
}

std::optional<unsigned> ShardNames::set_number(std::string_view name) const {
  if (!take(name, stem) || !name.ends_with(ending) || !take(name, "-")) return {};
  name.remove_suffix(ending.size());
  if (is_position(name)) return 0;
  const std::optional<unsigned> number = take_number(name, 1);
  if (!number || !take(name, "-") || !is_position(name)) return {};
  return number;
}

std::optional<std::set<std::string>> ShardNames::in_index(std::string_view text) const {
  const Result<Value> index = parse_json(text);
  const Value* map = index ? index->find("weight_map") : nullptr;
  const ValueDict* entries = map == nullptr ? nullptr : map->get<ValueDict>();
  if (entries == nullptr) return {};
  std::set<std::string> names;
  for (const auto& [tensor, file] : *entries) {
    const std::string* name = file.get<std::string>();
    if (name != nullptr && set_number(*name)) names.insert(*name);
  }
  return names;
}

}  // namespace andiron::inline v1::detail
