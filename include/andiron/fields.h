// SPDX-License-Identifier: MIT OR Apache-2.0
// How a type lists what it saves.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace andiron::inline v1 {

/// A listed field that is no parameter, whatever its type: a table, a mask, a cache.
template <class T>
struct Constant {
  T value = {};
};

/// Lists the fields of a type that you cannot edit.
///
///   template <>
///   struct andiron::Fields<vendor::Dense> {
///     static constexpr std::string_view name = "Dense";
///     static void each(auto& self, auto&& field) { field("weight", self.w); }
///   };
template <class T>
struct Fields;

/// Text as a template argument.
template <std::size_t N>
struct Text {
  char chars[N];
  constexpr Text(const char (&text)[N]) {  // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i < N; ++i) chars[i] = text[i];
  }
  constexpr std::string_view view() const { return {chars, N - 1}; }
};

/// Names an alternative of a std::variant: Case<"BaseConv", nn::Conv2d>. Without it the alternative
/// goes by its module's name.
template <Text Name, class T>
struct Case {
  static_assert(std::is_class_v<T>,
                "andiron: a Case names a struct. Wrap a number in andiron::Constant");
};
template <Text Name, class T>
  requires std::is_class_v<T>
struct Case<Name, T> : T {
  Case() = default;
  Case(T value) : T(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  static constexpr std::string_view case_name() { return Name.view(); }
};

/// Lists the fields of a struct that are saved. Put it inside the struct, in any part of it; the
/// struct stays an aggregate. The type's name, without namespace and template arguments, becomes
/// part of containers.
///
/// The long form, for other names than the members' and for conditions, is a static function:
///
///   static constexpr std::string_view module_name = "Net";   // the type's own unless given
///   static void fields(auto& self, auto&& field) { field("layers", self.layers_); }
#define ANDIRON_MODULE(Type, ...)                                                    \
  friend struct ::andiron::detail::FieldAccess;                                      \
  static Type* andiron_module_type();                                                \
  static constexpr ::std::string_view andiron_module_name() { return #Type; }        \
  static constexpr ::std::string_view andiron_field_names() { return #__VA_ARGS__; } \
  auto andiron_fields() { return ::andiron::detail::listed(__VA_ARGS__); }

namespace detail {

// ---- Names of types ----

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
  return name.substr(0, name.find('<'));
}

// The compiler's own spelling of T, without namespaces and template arguments.
template <class T>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;  // "... type_name() [with T = nets::Block; ...]"
  text.remove_prefix(text.find("T = ") + 4);
  return bare_name(text.substr(0, text.find_first_of(";]")));
}

// ---- Fields of a type ----

// Takes "weight, bias" apart.
class FieldNames {
 public:
  explicit FieldNames(std::string_view list) : rest_(list) {}
  std::string_view next();
  // Whether a list has names alone, not "layers[0]" or "head.weight".
  static constexpr bool are_plain(std::string_view list) {
    return list.find_first_of(".:*&()[]<>") == std::string_view::npos;
  }

 private:
  std::string_view rest_;
};

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

  // Calls field(name, member) for each field.
  template <class T, class Field>
  static void each(T& module, const Field& field) {
    if constexpr (is_listed_outside<T>) {
      Fields<T>::each(module, field);
    } else if constexpr (is_listed_by_macro<T>) {
      static_assert(
          std::is_same_v<T*, decltype(T::andiron_module_type())>,
          "andiron: the first argument of ANDIRON_MODULE is the struct that it stands in, and a "
          "derived struct needs an ANDIRON_MODULE line of its own");
      static_assert(FieldNames::are_plain(T::andiron_field_names()),
                    "andiron: ANDIRON_MODULE takes names of members. For anything else write a "
                    "static function `fields` in its place (andiron/fields.h)");
      FieldNames names(T::andiron_field_names());
      auto members = module.andiron_fields();
      each_member(names, members, field,
                  std::make_index_sequence<std::tuple_size_v<decltype(members)>>());
    } else {
      T::fields(module, field);
    }
  }

 private:
  template <class Members, class Field, std::size_t... I>
  static void each_member(FieldNames& names, Members& members, const Field& field,
                          std::index_sequence<I...>) {
    (field(names.next(), std::get<I>(members)), ...);
  }
};

template <class T>
inline constexpr bool is_module = FieldAccess::is_module<T>;

}  // namespace detail

}  // namespace andiron::inline v1
