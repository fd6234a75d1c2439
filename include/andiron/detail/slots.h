// SPDX-License-Identifier: MIT OR Apache-2.0
// The walk through a module. It records a slot for every leaf; no code after it is a template.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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
#include "andiron/detail/listable.h"
#include "andiron/error.h"
#include "andiron/place.h"

namespace andiron::inline v1::detail {

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

// The kind of module around a part: the prefix and name of its owner.
struct Kind {
  std::string_view prefix;  // "Struct:", "Enum:" or nothing
  std::string_view name;
};

std::string_view index_name(std::size_t index, std::array<char, 20>& digits);

// Passes the fields of a module to a visitor.
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

// Calls visitor.part(name, kind, child) for every named part of `node`, and visitor.whole(child)
// for the content of an optional or a pointer.
template <class T, class Visitor>
void for_each_part(T& node, Visitor& visitor) {
  static_cast<void>(sizeof(Check<T>));
  if constexpr (std::is_const_v<T>) {
    // A constant: anything else that is const was refused.
  } else if constexpr (is_case<T>) {
    visitor.whole(without_case(node));
  } else if constexpr (is_module<T>) {
    FieldAccess::each(node, FieldVisitor<Visitor>{visitor, FieldAccess::kind(node)});
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

// A leaf of a module and its place.
struct Slot : Place {
  std::string other_path;  // with skip_enum_variants flipped; empty if that is the same
  void* leaf;
  const LeafOps* ops;
};

// A part of a module that is empty, so that a walk finds no leaf in it. An element is one of a
// list, and says how long that is. A bare part is a module without parameters, as Relu is.
struct Vacancy {
  enum class Kind : std::uint8_t { list, map, optional, pointer, element, bare };

  std::string path;
  Kind kind;
  std::string_view module_kind = {};  // of a bare module
};

class SlotList;
struct ModuleSlots;

// An alternative of a variant that was built beside it.
class BuiltAlternative {
 public:
  virtual ~BuiltAlternative() = default;
  // The leaves of the alternative. Its empty optionals are filled first, and listed.
  virtual ModuleSlots slots(const SlotList& place) = 0;
  // Moves it into the variant.
  virtual void swap_in() noexcept = 0;
};

// What can be done with a variant, whatever its type.
struct VariantOps {
  std::size_t count;
  std::string_view (*name)(std::size_t index);
  // Nothing if the alternative cannot be made and moved.
  std::unique_ptr<BuiltAlternative> (*build)(void* variant, std::size_t index);
};

// A variant of a module. Its present alternative has the slots from `first_slot` on.
struct VariantPlace {
  std::string path;
  void* variant;
  std::size_t present;
  const VariantOps* ops;
  std::size_t first_slot;
  std::size_t slot_count;
  std::size_t next_variant;               // the first after those within it
  std::shared_ptr<const SlotList> place;  // where it is
};

// An optional that a walk has filled.
struct FilledOptional {
  void* optional;
  void (*clear)(void* optional) noexcept;
  std::size_t first_slot;
  std::size_t slot_count;
  std::size_t first_variant;  // within it
  std::size_t next_variant;   // and the first after those
};

// What a walk through a module finds.
struct ModuleSlots {
  std::vector<Slot> slots = {};
  std::vector<Vacancy> vacancies = {};
  std::vector<VariantPlace> variants = {};     // outer ones first
  std::vector<FilledOptional> optionals = {};  // of a BuiltAlternative, inner ones first
};

// The kind of an empty container, optional or pointer; nothing for everything else.
template <class T>
std::optional<Vacancy::Kind> vacancy_of(const T& node) {
  if constexpr (is_holder<T>) {
    constexpr bool is_optional = requires { node.has_value(); };
    if (!node) return is_optional ? Vacancy::Kind::optional : Vacancy::Kind::pointer;
  } else if constexpr ((is_list<T> || is_map<T>) && requires(T& list) { list.clear(); }) {
    // What cannot be cleared, an array, cannot be filled either.
    if (node.empty()) return is_map<T> ? Vacancy::Kind::map : Vacancy::Kind::list;
  }
  return std::nullopt;
}

// Fails with NameCollision if two leaves have one path.
Status check_paths(const std::vector<Slot>& slots);

// Follows a walk through a module and records its leaves and what is empty.
class SlotList {
 public:
  explicit SlotList(bool skip_enum_variants) : skip_enum_variants_(skip_enum_variants) {}

  void enter(std::string_view name, Kind kind);
  void leave();
  void add(void* leaf, const LeafOps& ops);
  void add_vacancy(Vacancy::Kind kind);
  // How much a walk has found.
  struct Mark {
    std::size_t slots;
    std::size_t vacancies;
  };
  Mark mark() const noexcept { return {found_.slots.size(), found_.vacancies.size()}; }
  // Follows the parts of a module. Records it if there is nothing in it; then those parts that are
  // bare as well are not listed.
  void end_module(Mark begin, std::string_view kind);
  // Records a variant; end_variant() follows after the slots of its alternative.
  std::size_t begin_variant(void* variant, std::size_t present, const VariantOps& ops);
  void end_variant(std::size_t index);
  void add_filled(FilledOptional filled) { found_.optionals.push_back(filled); }
  const ModuleSlots& found() const noexcept { return found_; }
  ModuleSlots take() { return std::move(found_); }
  // Returns an empty list that starts at the current place.
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
  ModuleSlots found_;
};

template <class Enum, class Variant>
const VariantOps& variant_ops();

// Records every leaf below a node.
struct Walker {
  SlotList& slots;
  bool fills_optionals = false;

  template <class T>
  void whole(T& node) {
    if constexpr (is_leaf<T>) {
      static_cast<void>(sizeof(Check<T>));
      if constexpr (HasLeafFunctions<T>) slots.add(&node, leaf_ops<T>());
    } else {
      if constexpr (is_variant<T> && !is_case<T> && !is_module<T>) {
        auto& variant = as_variant(node);
        using Variant = std::remove_cvref_t<decltype(variant)>;
        const std::size_t index =
            slots.begin_variant(&variant, variant.index(), variant_ops<T, Variant>());
        for_each_part(node, *this);
        return slots.end_variant(index);
      }
      if constexpr (is_holder<T> && requires { node.has_value(); }) {
        if (fills_optionals && !node) return fill(node);
      }
      if (const auto kind = vacancy_of(node)) slots.add_vacancy(*kind);
      [[maybe_unused]] const SlotList::Mark begin = slots.mark();
      for_each_part(node, *this);
      if constexpr (is_module<T> && !is_case<T>) slots.end_module(begin, FieldAccess::kind(node));
    }
  }
  template <class T>
  void part(std::string_view name, Kind kind, T& node) {
    slots.enter(name, kind);
    whole(node);
    slots.leave();
  }

 private:
  template <class T>
  void fill(std::optional<T>& node) {
    if constexpr (std::is_default_constructible_v<T>) {
      const std::size_t first_slot = slots.found().slots.size();
      const std::size_t first_variant = slots.found().variants.size();
      whole(node.emplace());
      const auto clear = [](void* one) noexcept { static_cast<std::optional<T>*>(one)->reset(); };
      slots.add_filled({&node, clear, first_slot, slots.found().slots.size() - first_slot,
                        first_variant, slots.found().variants.size()});
    }
  }
};

template <class Variant, std::size_t I>
class BuiltAlternativeAt final : public BuiltAlternative {
 public:
  BuiltAlternativeAt(Variant& variant, Kind kind) : variant_(variant), kind_(kind) {}
  ModuleSlots slots(const SlotList& place) override {
    SlotList list = place.from_here();
    Walker{list, true}.part(alternative_name<std::variant_alternative_t<I, Variant>>(), kind_,
                            value_);
    return list.take();
  }
  void swap_in() noexcept override { variant_.template emplace<I>(std::move(value_)); }

 private:
  Variant& variant_;
  Kind kind_;
  using T = std::variant_alternative_t<I, Variant>;
  T value_ = T();  // `{}` would not do for an explicit constructor
};

template <class Enum, class Variant, std::size_t I>
std::unique_ptr<BuiltAlternative> build_alternative([[maybe_unused]] void* variant) {
  using T = std::variant_alternative_t<I, Variant>;
  // Parameters have been replaced when alternatives are moved in: nothing may fail then.
  if constexpr (std::is_default_constructible_v<T> && std::is_nothrow_move_constructible_v<T>) {
    return std::make_unique<BuiltAlternativeAt<Variant, I>>(*static_cast<Variant*>(variant),
                                                            Kind{"Enum:", type_name<Enum>()});
  } else {
    return nullptr;
  }
}

template <class Enum, class Variant, std::size_t... I>
const VariantOps& variant_ops_of(std::index_sequence<I...>) {
  static constexpr std::array<std::string_view, sizeof...(I)> names = {
      alternative_name<std::variant_alternative_t<I, Variant>>()...};
  using Build = std::unique_ptr<BuiltAlternative> (*)(void*);
  static constexpr std::array<Build, sizeof...(I)> builders = {
      &build_alternative<Enum, Variant, I>...};
  static constexpr VariantOps ops = {
      sizeof...(I), [](std::size_t index) { return names[index]; },
      [](void* variant, std::size_t index) { return builders[index](variant); }};
  return ops;
}

template <class Enum, class Variant>
const VariantOps& variant_ops() {
  return variant_ops_of<Enum, Variant>(std::make_index_sequence<std::variant_size_v<Variant>>());
}

template <class M, class Visitor>
void walk(M& module, Visitor visitor) {
  constexpr bool is_walkable = is_leaf<M> || is_composite<M>;
  static_assert(is_walkable,
                "andiron: this is not a module. Give the struct an ANDIRON_MODULE line, or "
                "specialize andiron::Fields for it");
  if constexpr (is_walkable) visitor.whole(module);
}

template <class M, class Visitor>
void walk_to_change(M& module, Visitor visitor) {
  static_assert(!std::is_const_v<M>,
                "andiron: this module is const. Nothing can be loaded into it");
  if constexpr (!std::is_const_v<M>) walk(module, visitor);
}

// A walk changes nothing. Using one instantiation for const and mutable modules halves the compile
// time.
template <class M>
ModuleSlots module_slots(const M& module, bool skip_enum_variants) {
  SlotList slots(skip_enum_variants);
  walk(const_cast<M&>(module), Walker{slots});
  return slots.take();
}

template <class M>
std::vector<Slot> slots_of(const M& module, bool skip_enum_variants) {
  return module_slots(module, skip_enum_variants).slots;
}

template <class M>
ModuleSlots slots_to_change(M& module, bool skip_enum_variants) {
  SlotList slots(skip_enum_variants);
  walk_to_change(module, Walker{slots});
  return slots.take();
}

}  // namespace andiron::inline v1::detail
