// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/analysis/entry_differences_test.cpp
#include "src/analysis/entry_differences.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "src/core/sort.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t most_text = std::size_t{16} << 20;

// What stands at a path: no value, null and a tensor are nothing.
enum class EntryKind : std::uint8_t { nothing, scalar, text, bytes, list, dict };

EntryKind entry_kind(const Value* value) {
  if (value == nullptr) return EntryKind::nothing;
  if (value->is_scalar()) return EntryKind::scalar;
  if (value->get<std::string>() != nullptr) return EntryKind::text;
  if (value->get<Bytes>() != nullptr) return EntryKind::bytes;
  if (value->get<ValueList>() != nullptr) return EntryKind::list;
  return value->get<ValueDict>() != nullptr ? EntryKind::dict : EntryKind::nothing;
}

bool is_container(EntryKind kind) { return kind == EntryKind::list || kind == EntryKind::dict; }

// The entries of a list or dict by their names; nothing for other values.
using Children = std::map<std::string, const Value*, std::less<>>;

Children children_of(const Value* value) {
  Children children;
  if (value == nullptr) return children;
  if (const ValueDict* dict = value->get<ValueDict>()) {
    for (const auto& [key, child] : *dict) children.emplace(key, &child);
  } else if (const ValueList* list = value->get<ValueList>()) {
    for (std::size_t i = 0; i < list->size(); ++i) children.emplace(std::to_string(i), &(*list)[i]);
  }
  return children;
}

// JSON of what has no entries.
std::optional<std::string> leaf_text(const Value& value) {
  if (const auto* const dict = value.get<ValueDict>(); dict && !dict->empty()) return std::nullopt;
  if (const auto* const list = value.get<ValueList>(); list && !list->empty()) return std::nullopt;
  // JSON has no words for these.
  if (const double* const number = value.get<double>()) {
    if (std::isnan(*number)) return "\"NaN\"";
    if (std::isinf(*number)) return *number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
  return to_json(value);
}

// Walks through both trees side by side. A value may be missing on one side.
class ValueWalk {
 public:
  void compare(const Value* a, const Value* b) {
    const EntryKind a_kind = entry_kind(a);
    const EntryKind b_kind = entry_kind(b);
    std::optional<std::string> a_text = own_text(a, a_kind);
    std::optional<std::string> b_text = own_text(b, b_kind);
    a_values_ += a_text.has_value();
    b_values_ += b_text.has_value();
    // If one of two lists is empty, the entries of the other are told.
    const bool differ =
        a_kind == b_kind ? a_text && b_text && *a_text != *b_text : a_text || b_text;
    const std::size_t place = result_.listed.size();
    if (differ) tell(place, std::move(a_text), std::move(b_text));
    const std::size_t a_before = a_values_;
    const std::size_t b_before = b_values_;
    // Both in order of names, so that differences come in the order of keys.
    const Children a_children = children_of(a);
    const Children b_children = children_of(b);
    auto in_a = a_children.begin();
    auto in_b = b_children.begin();
    while (in_a != a_children.end() || in_b != b_children.end()) {
      const bool a_is_next =
          in_b == b_children.end() || (in_a != a_children.end() && in_a->first <= in_b->first);
      const bool b_is_next =
          in_a == a_children.end() || (in_b != b_children.end() && in_b->first <= in_a->first);
      const std::string& name = a_is_next ? in_a->first : in_b->first;
      step(name, a_is_next ? in_a->second : nullptr, b_is_next ? in_b->second : nullptr);
      if (a_is_next) ++in_a;
      if (b_is_next) ++in_b;
    }
    // Formats differ in where they have lists of tensors; those are compared by their names alone.
    const bool are_unlike = is_container(a_kind) && is_container(b_kind) && a_kind != b_kind;
    if (are_unlike && a_values_ != a_before && b_values_ != b_before) {
      tell(place, kind_text(a_kind), kind_text(b_kind));
    }
  }

  ValueDifferences take() { return std::move(result_); }

 private:
  void step(const std::string& name, const Value* a, const Value* b) {
    path_.push_back(&name);
    compare(a, b);
    path_.pop_back();
  }

  // What a value is without entries. At the top, some formats have an empty dict for nothing.
  std::optional<std::string> own_text(const Value* value, EntryKind kind) const {
    const bool is_nothing = kind == EntryKind::nothing || (is_container(kind) && path_.empty());
    return is_nothing ? std::nullopt : leaf_text(*value);
  }

  static std::string kind_text(EntryKind kind) { return kind == EntryKind::list ? "list" : "dict"; }

  void tell(std::size_t place, std::optional<std::string> a, std::optional<std::string> b) {
    std::size_t size = (a ? a->size() : 0) + (b ? b->size() : 0);
    for (const std::string* const name : path_) size += name->size() + 1;
    if (size > room_) {
      ++result_.unlisted;
      return;
    }
    room_ -= size;
    std::string key;
    for (const std::string* const name : path_) key.append(key.empty() ? "" : ".").append(*name);
    result_.listed.insert(result_.listed.begin() + static_cast<std::ptrdiff_t>(place),
                          {std::move(key), std::move(a), std::move(b)});
  }

  std::vector<const std::string*> path_;
  std::size_t a_values_ = 0;  // that were met and count
  std::size_t b_values_ = 0;
  std::size_t room_ = most_text;
  ValueDifferences result_;
};

}  // namespace

std::vector<EntryDifference> metadata_differences(const Metadata& a, const Metadata& b) {
  std::vector<EntryDifference> differences;
  for (const auto& [key, text] : a) {
    const auto other = b.find(key);
    if (other == b.end()) {
      differences.push_back({key, text, std::nullopt});
    } else if (other->second != text) {
      differences.push_back({key, text, other->second});
    }
  }
  for (const auto& [key, text] : b) {
    if (!a.contains(key)) differences.push_back({key, std::nullopt, text});
  }
  detail::sort(differences.begin(), differences.end(),
               [](const EntryDifference& x, const EntryDifference& y) { return x.key < y.key; });
  return differences;
}

ValueDifferences value_differences(const Value& a, const Value& b) {
  ValueWalk walk;
  walk.compare(&a, &b);
  return walk.take();
}

}  // namespace andiron::inline v1::detail
