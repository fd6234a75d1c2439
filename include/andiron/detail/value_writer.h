// SPDX-License-Identifier: MIT OR Apache-2.0
// C++ types to values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "andiron/detail/convertible.h"
#include "andiron/value.h"

namespace andiron::inline v1::detail {

// The number whose shortest text is the float's: 0.1, not 0.10000000149011612.
double widened(float number) noexcept;

template <class T>
Value value_of(const T& from);

template <class List, std::size_t... I>
ValueList list_of(const List& from, std::index_sequence<I...>) {
  using std::get;
  ValueList list;
  (list.push_back(value_of(get<I>(from))), ...);
  return list;
}

template <class T>
Value value_of(const T& from) {
  if constexpr (std::is_same_v<T, Value> || std::is_same_v<T, bool> ||
                std::is_same_v<T, std::string>) {
    return from;
  } else if constexpr (std::is_same_v<T, float>) {
    return widened(from);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(from);
  } else if constexpr (std::is_integral_v<T>) {
    if (std::in_range<std::int64_t>(from)) return static_cast<std::int64_t>(from);
    return static_cast<std::uint64_t>(from);
  } else if constexpr (std::is_enum_v<T>) {
    // A value without a name is its number, which does not read back.
    Value written = static_cast<std::int64_t>(from);
    any_enum_name<T>([&](std::string_view name, T value) {
      if (value != from) return false;
      return written = Value(std::string(name)), true;
    });
    return written;
  } else if constexpr (is_optional<T>) {
    return from ? value_of(*from) : Value();
  } else if constexpr (is_vector<T>) {
    ValueList list;
    for (const auto& item : from) list.push_back(value_of<typename T::value_type>(item));
    return list;
  } else if constexpr (is_fixed_list<T>) {
    return list_of(from, std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (is_text_map<T>) {
    // Sorted, so that the same map gives the same text.
    std::map<std::string_view, Value> sorted;
    for (const auto& [key, value] : from) sorted.emplace(key, value_of(value));
    ValueDict dict;
    for (auto& [key, value] : sorted) dict.emplace_back(key, std::move(value));
    return dict;
  } else {
    static_assert(is_config<T>,
                  "andiron: this type does not convert to a Value. Give its struct an "
                  "ANDIRON_CONFIG line, or use a type that Value::as() lists (andiron/value.h)");
    ValueDict dict;
    // Nothing is changed: the lists of fields have no const form.
    ConfigAccess::each(const_cast<T&>(from),
                       [&]<class Member>(std::string_view name, const Member& member) {
                         dict.emplace_back(name, value_of(member));
                       });
    return dict;
  }
}

}  // namespace andiron::inline v1::detail
