// SPDX-License-Identifier: MIT OR Apache-2.0
// What a module may list, and the compile errors for everything else.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/detail/field_access.h"
#include "andiron/detail/leaf_ops.h"
#include "andiron/fields.h"

namespace andiron::inline v1::detail {

// ---- Constants and containers ----

template <class T>
inline constexpr bool is_plain_constant =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string> ||
    std::is_same_v<T, std::monostate>;
template <class T>
inline constexpr bool is_constant = is_plain_constant<T>;
template <class T>
inline constexpr bool is_constant<Constant<T>> = true;

template <class T>
struct ListOf : std::false_type {};
template <class T, class A>
struct ListOf<std::vector<T, A>> : std::true_type {
  using Element = T;
  static constexpr std::string_view kind = "Vec";
};
template <class T, class A>
struct ListOf<std::deque<T, A>> : std::true_type {
  using Element = T;
  static constexpr std::string_view kind = "Vec";
};
template <class T, std::size_t N>
struct ListOf<std::array<T, N>> : std::true_type {
  using Element = T;
  static constexpr std::string_view kind = "Array";
};
template <class T, std::size_t N>
struct ListOf<T[N]> : std::true_type {
  using Element = T;
  static constexpr std::string_view kind = "Array";
};
// Lists of numbers look as if they were saved, so they are refused.
template <class T>
inline constexpr bool is_list = false;
template <class T>
  requires ListOf<T>::value
inline constexpr bool is_list<T> = !is_plain_constant<typename ListOf<T>::Element>;

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;

template <class T>
inline constexpr bool is_holder = false;
template <class T>
inline constexpr bool is_holder<std::optional<T>> = true;
template <class T, class D>
inline constexpr bool is_holder<std::unique_ptr<T, D>> = !std::is_array_v<T>;
template <class T>
inline constexpr bool is_holder<std::shared_ptr<T>> = !std::is_array_v<T>;

template <class T>
inline constexpr bool is_map = false;
template <class T, class C, class A>
inline constexpr bool is_map<std::map<std::string, T, C, A>> = !is_plain_constant<T>;

// A std::variant, or a struct derived from one; then the struct's name is the enum's.
template <class... T>
std::variant<T...>& as_variant(std::variant<T...>& node) {
  return node;
}
template <class T>
inline constexpr bool is_variant = requires(T& node) { as_variant(node); };

// The value that a Case names.
template <Text Name, class T>
T& without_case(Case<Name, T>& node) {
  return node;
}
template <class T>
inline constexpr bool is_case = requires(T& node) { without_case(node); };

template <class T>
inline constexpr bool is_composite = is_module<T> || is_holder<T> || is_list<T> || is_tuple<T> ||
                                     is_map<T> || is_variant<T> || is_case<T>;

// ---- What may be listed ----

template <class... T>
struct Types {};
template <class T>
struct HeldTypes {
  using type = Types<>;
};
template <class T>
  requires ListOf<T>::value
struct HeldTypes<T> {
  using type = Types<typename ListOf<T>::Element>;
};
template <class T>
  requires is_holder<T>
struct HeldTypes<T> {
  using type = Types<std::remove_reference_t<decltype(*std::declval<T&>())>>;
};
template <class T, class C, class A>
struct HeldTypes<std::map<std::string, T, C, A>> {
  using type = Types<T>;
};
template <template <class...> class Group, class... T>
  requires is_tuple<Group<T...>> || is_variant<Group<T...>>
struct HeldTypes<Group<T...>> {
  using type = Types<T...>;
};

// Reports what is wrong with a type where it is listed, before any walk, and once per type.
template <class T>
struct CheckListed;
struct CheckLater {};
// A pointer or a vector may be listed before its element type is complete.
template <class T>
using Check = std::conditional_t<!requires { sizeof(T); }, CheckLater,
                                 std::conditional_t<is_leaf<T>, CheckLeaf<T>, CheckListed<T>>>;

template <class T>
struct CheckHeld;
template <class... T>
struct CheckHeld<Types<T...>> {
  using sizes = std::index_sequence<sizeof(Check<T>)...>;  // makes the checks run
};

template <class T>
struct CheckListed : CheckHeld<typename HeldTypes<T>::type> {
  using Type = std::remove_const_t<T>;
  static constexpr bool is_listable = is_composite<Type> || is_constant<Type>;
  static constexpr bool is_frozen = std::is_const_v<T> && !is_constant<Type>;
  static constexpr bool is_pointer = std::is_pointer_v<Type>;
  static constexpr bool is_other_list = ListOf<Type>::value && !is_listable;
  static constexpr bool is_other_map = requires { typename Type::mapped_type; } && !is_listable;

  static_assert(!is_frozen, "andiron: a const member cannot be listed. A load would change it");
  static_assert(!is_pointer,
                "andiron: a raw pointer cannot be listed. Use std::unique_ptr or std::shared_ptr, "
                "or leave it out of the list");
  static_assert(!is_other_list,
                "andiron: numbers in a container are not saved. Use a Tensor, or specialize "
                "andiron::Leaf for the container. If they should not be saved, leave it out of "
                "the list or wrap it in andiron::Constant");
  static_assert(!is_other_map,
                "andiron: the only map that can be listed is std::map<std::string, T> of modules. "
                "Its keys become names, in their order");
  static_assert(is_listable || is_frozen || is_pointer || is_other_list || is_other_map,
                "andiron: this type cannot be listed. Give its struct an ANDIRON_MODULE line, "
                "or specialize andiron::Leaf or andiron::Fields for it before it is listed. If it "
                "should not be saved, leave it out of the list or wrap it in andiron::Constant");
};

}  // namespace andiron::inline v1::detail
