// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/value_reader_test.cpp
#include "andiron/detail/value_reader.h"

#include <algorithm>
#include <cmath>

#include "src/core/parse_index.h"
#include "src/core/text/in_quotes.h"

namespace andiron::inline v1 {
namespace {

using detail::in_quotes;

constexpr std::size_t longest_shown = 40;

// "a dict with the keys 'a', 'b'", "the text 'adam'", "the number 0.1".
std::string described(const Value& value) {
  if (value.is_null()) return "null";
  if (const bool* flag = value.get<bool>()) return *flag ? "true" : "false";
  if (const double* number = value.get<double>(); number != nullptr && !std::isfinite(*number)) {
    return std::isnan(*number) ? "NaN" : "infinity";
  }
  if (value.is_scalar()) return "the number " + to_json(value);
  if (const std::string* text = value.get<std::string>()) {
    if (text->size() <= longest_shown) return "the text " + in_quotes(*text);
    return "a text of " + detail::count_of(text->size(), "byte");
  }
  if (const Bytes* bytes = value.get<Bytes>()) return detail::count_of(bytes->size(), "byte");
  if (const ValueList* list = value.get<ValueList>()) {
    return "a list of " + detail::count_of(list->size(), "value");
  }
  const ValueDict* dict = value.get<ValueDict>();
  if (dict == nullptr) return "a tensor";
  if (dict->empty()) return "an empty dict";
  std::vector<std::string_view> keys;
  keys.reserve(dict->size());
  for (const auto& [key, item] : *dict) keys.push_back(key);
  return "a dict with the keys " + detail::list_in_quotes(keys);
}

const Value* child(const Value& value, std::string_view step) {
  if (const ValueList* list = value.get<ValueList>()) {
    const auto index = parse_printed_index(step);
    return index && *index < list->size() ? &(*list)[static_cast<std::size_t>(*index)] : nullptr;
  }
  return value.find(step);
}

struct Deepest {
  const Value* value;
  std::size_t path_size;  // of the path that leads there
};

// Whole keys before shorter ones; all ways to cut the path at its dots are tried.
const Value* find_at(const Value& value, std::string_view path, std::size_t begin,
                     Deepest& deepest) {
  for (std::size_t end = path.size(); end != path.npos && end > begin;
       end = path.rfind('.', end - 1)) {
    if (end < begin) break;
    const Value* next = child(value, path.substr(begin, end - begin));
    if (next == nullptr) continue;
    if (end == path.size()) return next;
    if (end > deepest.path_size) deepest = {next, end};
    if (const Value* found = find_at(*next, path, end + 1, deepest)) return found;
  }
  return nullptr;
}

FoundValue found_at(const Value& value, std::string_view path, const std::string& before) {
  std::string whole = before.empty() || path.empty() ? before : before + ".";
  whole += path;
  if (path.empty()) return {value, std::move(whole)};
  Deepest deepest{&value, 0};
  if (const Value* found = find_at(value, path, 0, deepest)) return {*found, std::move(whole)};
  std::string there(path.substr(0, deepest.path_size));
  if (!before.empty()) there = there.empty() ? before : before + "." + there;
  return Error{.code = ErrorCode::missing_value,
               .message = "there is no value at " + in_quotes(whole),
               .found = there.empty() ? described(*deepest.value)
                                      : described(*deepest.value) + " at " + in_quotes(there)};
}

}  // namespace

FoundValue Value::at(std::string_view path) const ANDIRON_NO_THROW {
  return found_at(*this, path, "");
}
ANDIRON_OR_OUT_OF_MEMORY

FoundValue FoundValue::at(std::string_view path) const ANDIRON_NO_THROW {
  if (!ok()) return error();
  return found_at(**this, path, path_);
}
ANDIRON_OR_OUT_OF_MEMORY

namespace detail {

std::string ValueNode::path() const {
  const std::string own = index_ == no_index ? std::string(key_) : std::to_string(index_);
  const std::string above = parent_ == nullptr ? "" : parent_->path();
  return above.empty() ? own : above + "." + own;
}

Error ValueNode::mismatch(std::string expected) const {
  const std::string place = path();
  return Error{.code = ErrorCode::value_mismatch,
               .message = place.empty() ? "the value has another type"
                                        : "the value at " + in_quotes(place) + " has another type",
               .found = described(*value_),
               .expected = std::move(expected)};
}

Error ValueNode::missing(std::string_view key) const {
  const std::string place = path();
  return Error{
      .code = ErrorCode::missing_value,
      .message = "there is no value at " +
                 in_quotes(place.empty() ? std::string(key) : place + "." + std::string(key)),
      .found = described(*value_),
      .hint =
          "give the member an initializer or make it std::optional if files may lack "
          "it"};
}

Status ValueNode::charge(std::uint64_t bytes) const {
  if (bytes > reading_->left) {
    return Error{.code = ErrorCode::limit_exceeded,
                 .message = "the values at " + in_quotes(path()) + " take too much memory",
                 .hint = "they repeat by reference; read a part of them"};
  }
  reading_->left -= bytes;
  return {};
}

Status ValueNode::read(bool& out) const {
  const bool* flag = value_->get<bool>();
  if (flag == nullptr) return mismatch("true or false");
  return out = *flag, Status();
}

Status ValueNode::read(std::int64_t least, std::int64_t most, std::int64_t& out) const {
  const auto* number = value_->get<std::int64_t>();
  const auto* positive = value_->get<std::uint64_t>();
  const bool fits = number != nullptr
                        ? *number >= least && *number <= most
                        : positive != nullptr && *positive <= static_cast<std::uint64_t>(most);
  if (!fits) {
    return mismatch("an integer from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return out = number != nullptr ? *number : static_cast<std::int64_t>(*positive), Status();
}

Status ValueNode::read(std::uint64_t most, std::uint64_t& out) const {
  const auto* number = value_->get<std::int64_t>();
  const auto* positive = value_->get<std::uint64_t>();
  const bool is_there = positive != nullptr || (number != nullptr && *number >= 0);
  const std::uint64_t wide = positive != nullptr ? *positive
                             : is_there          ? static_cast<std::uint64_t>(*number)
                                                 : 0;
  if (!is_there || wide > most) return mismatch("an integer from 0 to " + std::to_string(most));
  return out = wide, Status();
}

Status ValueNode::read(double& out) const {
  if (const auto* number = value_->get<double>()) {
    out = *number;
  } else if (const auto* integer = value_->get<std::int64_t>()) {
    out = static_cast<double>(*integer);
  } else if (const auto* positive = value_->get<std::uint64_t>()) {
    out = static_cast<double>(*positive);
  } else {
    return mismatch("a number");
  }
  return {};
}

Status ValueNode::read(float& out) const {
  double wide = 0;
  Status status = read(wide);
  // The first number that rounds to infinity.
  constexpr double too_large = 0x1.ffffffp127;
  if (status && std::isfinite(wide) && std::fabs(wide) >= too_large) {
    return mismatch("a number that fits a float");
  }
  if (status) out = static_cast<float>(wide);
  return status;
}

Status ValueNode::read(std::string& out) const {
  const std::string* text = value_->get<std::string>();
  if (text == nullptr) return mismatch("a text");
  Status status = charge(text->size());
  if (status) out = *text;
  return status;
}

Result<const ValueDict*> ValueNode::dict() const {
  const ValueDict* dict = value_->get<ValueDict>();
  if (dict == nullptr) return mismatch("a dict");
  return dict;
}

Result<const ValueList*> ValueNode::list(std::size_t item_bytes,
                                         std::optional<std::size_t> count) const {
  const ValueList* list = value_->get<ValueList>();
  if (list == nullptr) return mismatch("a list");
  if (count && list->size() != *count) {
    return mismatch("a list of " + count_of(*count, "value"));
  }
  // Items take time as well as room.
  constexpr std::size_t least_bytes = 64;
  Status status = charge(list->size() * std::max(item_bytes, least_bytes));
  if (!status) return std::move(status).error();
  return list;
}

void ValueNode::note_unknown(const std::vector<std::string_view>& known) const {
  // A file may have thousands; these show the mistake.
  constexpr std::size_t most_noted = 100;
  for (const auto& [key, value] : *value_->get<ValueDict>()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    if (reading_->unknown.size() >= most_noted) return;
    reading_->unknown.push_back(at_key(key, value).path());
  }
}

void ValueNode::note_default(std::string_view key) const {
  constexpr std::size_t most_noted = 100;
  if (reading_->defaulted.size() >= most_noted) return;
  reading_->defaulted.push_back(at_key(key, *value_).path());
}

bool is_filled(const void* memory, std::size_t size, unsigned char fill) noexcept {
  const auto* bytes = static_cast<const unsigned char*>(memory);
  return std::all_of(bytes, bytes + size, [&](unsigned char byte) { return byte == fill; });
}

}  // namespace detail

}  // namespace andiron::inline v1
