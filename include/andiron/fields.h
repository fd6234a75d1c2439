// SPDX-License-Identifier: MIT OR Apache-2.0
// How a type lists the fields it saves. Freestanding: firmware lists its views the same way.
//
//   struct Net {
//     nn::Linear input, output;
//     ANDIRON_MODULE(Net, input, output)
//   };
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "andiron/detail/field_access.h"

namespace andiron::inline v1 {

/// Lists the fields of a struct that are saved. Put it anywhere inside the struct; the struct stays
/// an aggregate. The type's name, without namespace and template arguments, becomes part of
/// containers.
///
/// For names that differ from the members', and for conditions, write a static function instead:
///
///   static constexpr std::string_view module_name = "Net";   // default: the type's own name
///   std::string_view module_kind() const;   // in containers, where it depends on a setting
///   static void fields(auto& self, auto&& field) { field("layers", self.layers_); }
#define ANDIRON_MODULE(Type, ...)                                                    \
  friend struct ::andiron::detail::FieldAccess;                                      \
  static Type* andiron_module_type();                                                \
  static constexpr ::std::string_view andiron_module_name() { return #Type; }        \
  static constexpr ::std::string_view andiron_field_names() { return #__VA_ARGS__; } \
  auto andiron_fields() {                                                            \
    return [&](auto& take) { take(__VA_ARGS__); };                                   \
  }

/// A listed field that is not a parameter, whatever its type: a table, a mask, a cache.
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

/// Names an alternative of a std::variant: Case<"BaseConv", nn::Conv2d>. Without a Case, the
/// alternative has the name of its module.
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

}  // namespace andiron::inline v1
