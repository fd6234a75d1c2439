// SPDX-License-Identifier: MIT OR Apache-2.0
// What a module is: a struct that lists what it saves.
//
//   struct Net {
//     nn::Linear input = nn::LinearConfig(784, 64).init();
//     nn::Linear output = nn::LinearConfig(64, 10).init();
//     std::vector<Block> blocks;
//     int heads = 8;                                  // not listed: not saved
//     ANDIRON_MODULE(Net, input, blocks, output)
//   };
//
// What may be listed:
//   Param, Tensor                     saved under its path; a Tensor has no id, and one of shape
//   [0]
//                                     counts as not set: it takes any shape
//   a struct with a list of its own   its fields, under NAME.FIELD
//   std::vector, std::array, std::deque, T[N], std::tuple, std::pair
//                                     NAME.0, NAME.1 ...
//   std::optional, std::unique_ptr, std::shared_ptr
//                                     what it holds, under NAME itself; empty: nothing
//   std::variant                      the alternative it holds, under NAME.ALTERNATIVE
//   std::map<std::string, T>          NAME.KEY
//   numbers, bool, enums, std::string, Constant<T>
//                                     constants: in the list, but no parameters; containers of
//                                     numbers must be wrapped: Constant<std::array<int, 2>>
//   a type of your own                after specialising Leaf (leaf.h)
// Anything else does not compile.
//
// Names and kinds are what Burn's visitor gives, so that files move both ways.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

#include "andiron/container.h"
#include "andiron/fields.h"
#include "andiron/leaf.h"
#include "andiron/param.h"
#include "andiron/place.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {

namespace detail {

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
// Lists of numbers look as if they were saved; they are refused.
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

// A std::variant, or a struct derived from one, whose name is then the enum's.
template <class... T>
std::variant<T...>& as_variant(std::variant<T...>& node) {
  return node;
}
template <class T>
inline constexpr bool is_variant = requires(T& node) { as_variant(node); };

// What a Case names.
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

// Say what is wrong with a type, where it is listed and before anything is walked, and once for
// each type.
template <class T>
struct CheckListed;
struct CheckLater {};
// A pointer or a vector may be listed before what it holds is complete.
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

  static_assert(!is_frozen, "andiron: what is const cannot be listed. A load would change it");
  static_assert(!is_pointer,
                "andiron: a raw pointer cannot be listed. Use std::unique_ptr or std::shared_ptr, "
                "or leave it out of the list");
  static_assert(!is_other_list,
                "andiron: numbers in a container are not saved. Use a Tensor, specialise "
                "andiron::Leaf for the container, or, if they are not to be saved, leave it out of "
                "the list or wrap it in andiron::Constant");
  static_assert(!is_other_map,
                "andiron: of maps, std::map<std::string, T> of modules can be listed: its keys "
                "become names, in their order");
  static_assert(is_listable || is_frozen || is_pointer || is_other_list || is_other_map,
                "andiron: this type cannot be listed. Give its struct an ANDIRON_MODULE line, "
                "specialise andiron::Leaf or andiron::Fields for it before it is listed, or, if it "
                "is not to be saved, leave it out of the list or wrap it in andiron::Constant");
};

// References to the members that ANDIRON_MODULE lists.
template <class... T>
std::tuple<T&...> listed(T&... fields) {
  static_cast<void>((sizeof(Check<T>) + ... + 0));
  return {fields...};
}

template <class T>
constexpr std::string_view alternative_name() {
  if constexpr (requires { T::case_name(); }) {
    return T::case_name();
  } else if constexpr (is_module<T>) {
    return FieldAccess::name<T>();
  } else {
    return type_name<T>();
  }
}

// What surrounds a part: the prefix and name of its owner's kind.
struct Kind {
  std::string_view prefix;  // "Struct:", "Enum:" or nothing
  std::string_view name;
};

std::string_view index_name(std::size_t index, std::array<char, 20>& digits);

// Hands the fields of a module on.
template <class Visitor>
struct FieldVisitor {
  Visitor& visitor;
  std::string_view module_name;
  template <class T>
  void operator()(std::string_view name, T& child) const {
    visitor.part(name, Kind{"Struct:", module_name}, child);
  }
};

template <class Tuple, class Visitor, std::size_t... I>
void for_each_element(Tuple& tuple, Visitor& visitor, std::index_sequence<I...>) {
  std::array<char, 20> digits;
  (visitor.part(index_name(I, digits), Kind{"", "Tuple"}, std::get<I>(tuple)), ...);
}

template <class Enum, class Variant, class Visitor, std::size_t... I>
void for_active_alternative(Variant& node, Visitor& visitor, std::index_sequence<I...>) {
  ((node.index() == I ? visitor.part(alternative_name<std::variant_alternative_t<I, Variant>>(),
                                     Kind{"Enum:", type_name<Enum>()}, *std::get_if<I>(&node))
                      : void()),
   ...);
}

// Calls visitor.part(name, kind, child) for every part of `node` that has a name, and
// visitor.whole(child) for what an optional or a pointer holds.
template <class T, class Visitor>
void for_each_part(T& node, Visitor& visitor) {
  static_cast<void>(sizeof(Check<T>));
  if constexpr (std::is_const_v<T>) {
    // A constant: anything else that is const was refused.
  } else if constexpr (is_case<T>) {
    visitor.whole(without_case(node));
  } else if constexpr (is_module<T>) {
    FieldAccess::each(node, FieldVisitor<Visitor>{visitor, FieldAccess::name<T>()});
  } else if constexpr (is_holder<T>) {
    if (node) visitor.whole(*node);
  } else if constexpr (is_list<T>) {
    std::array<char, 20> digits;
    for (std::size_t i = 0; auto& child : node) {
      visitor.part(index_name(i++, digits), Kind{"", ListOf<T>::kind}, child);
    }
  } else if constexpr (is_tuple<T>) {
    for_each_element(node, visitor, std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (is_map<T>) {
    for (auto& [key, child] : node) visitor.part(std::string_view(key), Kind{"", "Map"}, child);
  } else if constexpr (is_variant<T>) {
    auto& alternatives = as_variant(node);
    using Variant = std::remove_cvref_t<decltype(alternatives)>;
    for_active_alternative<T>(alternatives, visitor,
                              std::make_index_sequence<std::variant_size_v<Variant>>());
  }
}

// ---- Slots: the leaves of a module with their places ----

struct Slot : Place {
  std::string other_path;  // with skip_enum_variants flipped; empty where that changes nothing
  void* leaf;
  const LeafOps* ops;
};

// NameCollision when two leaves have one path, as a list of fields may give them.
Status check_paths(const std::vector<Slot>& slots);

// Follows a walk through a module and writes down the leaves it meets.
class SlotList {
 public:
  explicit SlotList(bool skip_enum_variants) : skip_enum_variants_(skip_enum_variants) {}

  void enter(std::string_view name, Kind kind);
  void leave();
  void add(void* leaf, const LeafOps& ops);
  std::vector<Slot> take() { return std::move(slots_); }
  // A list that starts where this one stands.
  SlotList from_here() const;
  const std::string& path() const noexcept {
    return skip_enum_variants_ ? without_variants_.text() : with_variants_.text();
  }

 private:
  // A path that grows and shrinks by segments.
  class Path {
   public:
    void enter(std::string_view name);
    void stay() { ends_.push_back(stays); }
    void leave();
    const std::string& text() const noexcept { return text_; }

   private:
    static constexpr std::size_t stays = ~std::size_t{0};
    std::string text_;
    std::vector<std::size_t> ends_;  // sizes of the text before each segment, or `stays`
    std::size_t segments_ = 0;
  };

  bool skip_enum_variants_;
  Path with_variants_;
  Path without_variants_;
  std::vector<std::string> kinds_;
  Container container_;
  std::vector<Slot> slots_;
};

struct Walker {
  SlotList& slots;

  template <class T>
  void whole(T& node) {
    if constexpr (is_leaf<T>) {
      static_cast<void>(sizeof(Check<T>));
      if constexpr (HasLeafFunctions<T>) slots.add(&node, leaf_ops<T>());
    } else {
      for_each_part(node, *this);
    }
  }
  template <class T>
  void part(std::string_view name, Kind kind, T& node) {
    slots.enter(name, kind);
    whole(node);
    slots.leave();
  }
};

template <class M, class Visitor>
void walk(M& module, Visitor visitor) {
  constexpr bool is_walkable = is_leaf<M> || is_composite<M>;
  static_assert(is_walkable,
                "andiron: this is no module. Give the struct an ANDIRON_MODULE line, or specialise "
                "andiron::Fields for it");
  if constexpr (is_walkable) visitor.whole(module);
}

template <class M, class Visitor>
void walk_to_change(M& module, Visitor visitor) {
  static_assert(!std::is_const_v<M>,
                "andiron: this module is const: nothing can be loaded into it");
  if constexpr (!std::is_const_v<M>) walk(module, visitor);
}

// A walk changes nothing, and one for modules that may be changed and for those that may not is
// half as much to compile.
template <class M>
std::vector<Slot> slots_of(const M& module, bool skip_enum_variants) {
  SlotList slots(skip_enum_variants);
  walk(const_cast<M&>(module), Walker{slots});
  return slots.take();
}

template <class M>
std::vector<Slot> slots_to_change(M& module, bool skip_enum_variants) {
  SlotList slots(skip_enum_variants);
  walk_to_change(module, Walker{slots});
  return slots.take();
}

}  // namespace detail

/// What ANDIRON_MODULE, a static `fields` function or a Fields specialisation makes of a type.
template <class T>
concept Module = detail::is_module<T>;

}  // namespace andiron::inline v1
