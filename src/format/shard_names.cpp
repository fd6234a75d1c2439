// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/shard_set_test.cpp
#include "src/format/shard_names.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "src/codec/decode_text.h"
#include "src/freestanding/json_reader.h"

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

bool is_one_of_several(std::string_view name) {
  const std::size_t of = name.rfind("-of-");
  if (of == std::string_view::npos || of < least_digits + 1) return false;
  std::string_view number = name.substr(of - least_digits, least_digits);
  std::string_view count = name.substr(of + 4);
  const auto counted = take_number(number, least_digits) ? take_number(count, least_digits)
                                                         : std::optional<unsigned>();
  return counted && *counted > 1 && count.starts_with('.');
}

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

std::string ShardNames::namesake(unsigned set_number) const {
  return stem + "-" + std::to_string(set_number) + ending;
}

std::optional<std::set<std::string>> ShardNames::in_index(std::string_view text) const {
  JsonReader json(text);
  std::optional<std::set<std::string>> names;
  bool first = true;
  json.expect('{', "an index must be a JSON object");
  while (json.next_item('}', first)) {
    JsonText key;
    if (!json.key(key)) break;
    if (!key.equals("weight_map") || json.peek() != '{') {
      json.skip_value(1);
      continue;
    }
    names.emplace();
    bool first_tensor = true;
    json.expect('{', "weight_map must be an object");
    while (json.next_item('}', first_tensor)) {
      JsonText tensor;
      JsonText file;
      if (!json.key(tensor)) break;
      if (json.peek() != '"') {
        json.skip_value(2);
        continue;
      }
      if (!json.string(file)) break;
      std::string name = decode_text(file);
      if (set_number(name)) names->insert(std::move(name));
    }
  }
  if (json.failed()) return {};
  return names;
}

}  // namespace andiron::inline v1::detail
