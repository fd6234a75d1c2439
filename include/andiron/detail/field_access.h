// SPDX-License-Identifier: MIT OR Apache-2.0
// Reaches the fields of a module and names types. Freestanding.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace andiron::inline v1 {

template <class T>
struct Fields;

namespace detail {

// ---- Names of types ----

// Not substr, which may throw: firmware cannot link it.
constexpr std::string_view up_to_any(std::string_view text, std::string_view ends) {
  const std::size_t end = text.find_first_of(ends);
  return {text.data(), end == std::string_view::npos ? text.size() : end};
}

// "Block" for "nets::Block<float>", "Inner" for "nets::Block<nets::Cell>::Inner".
constexpr std::string_view bare_name(std::string_view name) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    depth += name[i] == '<' ? 1 : 0;
    depth -= name[i] == '>' ? 1 : 0;
    if (name[i] == ':' && depth == 0) begin = i + 1;
  }
  name.remove_prefix(begin);
  return up_to_any(name, "<");
}

// The compiler's spelling of T, without namespaces and template arguments.
template <class T>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;  // "... type_name() [with T = nets::Block; ...]"
  text.remove_prefix(text.find("T = ") + 4);
  return bare_name(up_to_any(text, ";]"));
}

// ---- Fields of a type ----

// Splits "weight, bias" into names.
class FieldNames {
 public:
  explicit FieldNames(std::string_view list) : rest_(list) {}
  constexpr std::string_view next() {
    std::size_t end = 0;
    while (end < rest_.size() && rest_[end] != ',') ++end;
    std::string_view name(rest_.data(), end);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    rest_.remove_prefix(end < rest_.size() ? end + 1 : end);
    return name;
  }
  // True if a list contains only names, not "layers[0]" or "head.weight".
  static constexpr bool are_plain(std::string_view list) {
    return list.find_first_of(".:*&()[]<>") == std::string_view::npos;
  }

 private:
  std::string_view rest_;
};

// Tells whether and how a type lists its fields, and visits them.
struct FieldAccess {
  template <class T>
  static constexpr bool is_listed_outside = requires { sizeof(Fields<T>); };
  template <class T>
  static constexpr bool is_listed_by_macro = requires { T::andiron_field_names(); };
  template <class T>
  static constexpr bool is_listed_by_function =
      requires(T& module) { T::fields(module, [](std::string_view, auto&) {}); };
  template <class T>
  static constexpr bool is_module =
      is_listed_outside<T> || is_listed_by_macro<T> || is_listed_by_function<T>;

  template <class T>
  static constexpr std::string_view name() {
    if constexpr (is_listed_outside<T>) {
      return bare_name(Fields<T>::name);
    } else if constexpr (is_listed_by_macro<T>) {
      return bare_name(T::andiron_module_name());
    } else if constexpr (requires { T::module_name; }) {
      return bare_name(T::module_name);
    } else {
      return type_name<T>();
    }
  }

  // The kind of a module, which may depend on its settings.
  template <class T>
  static constexpr std::string_view kind(const T& module) {
    if constexpr (requires { module.module_kind(); }) {
      static_assert(std::is_same_v<decltype(module.module_kind()), std::string_view>,
                    "andiron: module_kind() must return a std::string_view that lives on");
      return module.module_kind();
    } else {
      return name<T>();
    }
  }

  // Calls field(name, member) for each field.
  template <class T, class Field>
  static void each(T& module, const Field& field) {
    if constexpr (is_listed_outside<T>) {
      Fields<T>::each(module, field);
    } else if constexpr (is_listed_by_macro<T>) {
      static_assert(
          std::is_same_v<T*, decltype(T::andiron_module_type())>,
          "andiron: the first argument of ANDIRON_MODULE must be the struct that contains it. A "
          "derived struct needs an ANDIRON_MODULE line of its own");
      static_assert(FieldNames::are_plain(T::andiron_field_names()),
                    "andiron: ANDIRON_MODULE takes names of members. For anything else, write a "
                    "static function `fields` instead (andiron/fields.h)");
      FieldNames names(T::andiron_field_names());
      auto take_all = [&](auto&... members) { (field(names.next(), members), ...); };
      module.andiron_fields()(take_all);
    } else {
      T::fields(module, field);
    }
  }
};

template <class T>
inline constexpr bool is_module = FieldAccess::is_module<T>;

}  // namespace detail

}  // namespace andiron::inline v1
