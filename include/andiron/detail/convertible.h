// SPDX-License-Identifier: MIT OR Apache-2.0
// The C++ types that values convert to, and how structs and enums list their names for that.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "andiron/detail/field_access.h"

namespace andiron::inline v1 {

template <class Enum>
struct EnumNames;

namespace detail {

// How a struct lists its fields for configs: ANDIRON_CONFIG, or as a module does by hand.
struct ConfigAccess {
  template <class T>
  static constexpr bool is_listed_by_macro = requires { T::andiron_config_names(); };
  template <class T>
  static constexpr bool is_config = is_listed_by_macro<T> || FieldAccess::is_listed_outside<T> ||
                                    FieldAccess::is_listed_by_function<T>;

  // Calls field(name, member) for each field.
  template <class T, class Field>
  static void each(T& config, const Field& field) {
    if constexpr (is_listed_by_macro<T>) {
      static_assert(std::is_same_v<T*, decltype(T::andiron_config_type())>,
                    "andiron: the first argument of ANDIRON_CONFIG must be the struct that "
                    "contains it. A derived struct needs an ANDIRON_CONFIG line of its own");
      static_assert(FieldNames::are_plain(T::andiron_config_names()),
                    "andiron: ANDIRON_CONFIG takes names of members. For anything else, write a "
                    "static function `fields` instead (andiron/config.h)");
      FieldNames names(T::andiron_config_names());
      auto take_all = [&](auto&... members) { (field(names.next(), members), ...); };
      config.andiron_config_fields()(take_all);
    } else {
      FieldAccess::each(config, field);
    }
  }
};
template <class T>
inline constexpr bool is_config = ConfigAccess::is_config<T>;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
// Containers are known by what they offer, so that none of their headers is needed here.
// (To clang 14, a type that does not exist is an error in the parameters of `requires`.)
template <class T>
inline constexpr bool is_vector = requires(T& list) {
  list.push_back(std::declval<typename T::value_type&>());
  list.reserve(list.size());
} && !std::is_same_v<T, std::string>;
template <class T>
inline constexpr bool is_fixed_list = requires { std::tuple_size<T>::value; };
template <class T>
inline constexpr bool is_text_map = requires(T& map) {
  requires std::is_same_v<typename T::key_type, std::string>;
  map[std::string()] = typename T::mapped_type();
};

template <class T>
inline constexpr bool has_listed_names = requires { EnumNames<T>::all; };
template <class T>
inline constexpr bool is_listed_enum =
    has_listed_names<T> || requires(const T* type) { andiron_enum(type); };

// Calls take(name, value) for each name of an enum, until it returns true.
template <class Enum, class Take>
bool any_enum_name(const Take& take) {
  if constexpr (has_listed_names<Enum>) {
    for (const auto& [name, value] : EnumNames<Enum>::all) {
      if (take(std::string_view(name), value)) return true;
    }
  } else {
    const auto listed = andiron_enum(static_cast<const Enum*>(nullptr));
    FieldNames names(listed.first);
    for (const Enum value : listed.second) {
      if (take(names.next(), value)) return true;
    }
  }
  return false;
}

template <class T>
inline constexpr bool is_unknown_type = true;

}  // namespace detail

}  // namespace andiron::inline v1
