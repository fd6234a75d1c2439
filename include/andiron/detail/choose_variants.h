// SPDX-License-Identifier: MIT OR Apache-2.0
// The walk behind choose_variants(): puts the alternatives that a source has tensors for into
// variants. Part of apply.h.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/archive.h"
#include "andiron/detail/slots.h"

namespace andiron::inline v1 {

namespace detail {

// Compares the slots of a module with the tensors of a source, along a walk through the module.
class VariantChooser {
 public:
  VariantChooser(const Archive& source, const ChooseOptions& options);

  SlotList& place() noexcept { return place_; }
  const std::string& path() const noexcept { return place_.path(); }
  // How many of the slots have a tensor of the right shape in the source.
  std::size_t count_served(const std::vector<Slot>& slots) const;

 private:
  const Archive& source_;
  const ChooseOptions& options_;
  SlotList place_;
};

// The slots of a node at a place.
template <class T>
std::vector<Slot> slots_below(const SlotList& place, T& node) {
  SlotList slots = place.from_here();
  Walker{slots}.whole(node);
  return slots.take().slots;
}

// Puts a default-constructed value into an empty holder; returns whether it can.
template <class Holder>
bool emplace_default(Holder& holder) {
  using T = std::remove_reference_t<decltype(*holder)>;
  if constexpr (std::is_default_constructible_v<T>) {
    if constexpr (requires { holder.emplace(); }) {
      holder.emplace();
    } else if constexpr (requires { holder = std::make_shared<T>(); }) {
      holder = std::make_shared<T>();
    } else if constexpr (requires { holder = std::make_unique<T>(); }) {
      // Other deleters may expect memory from elsewhere.
      holder = std::make_unique<T>();
    }
  }
  return static_cast<bool>(holder);
}

// Walks through a module and chooses the alternative of each variant.
struct ChoosingWalker {
  VariantChooser& chooser;
  std::vector<ChosenVariant>& chosen;
  // Inside an alternative that was just created: empty optionals are filled if the source has
  // tensors for them.
  bool is_fresh = false;

  template <class T>
  void whole(T& node) {
    if constexpr (is_leaf<T>) {
      return;
    } else if constexpr (is_variant<T> && !is_case<T> && !is_module<T>) {
      auto& variant = as_variant(node);
      using Variant = std::remove_cvref_t<decltype(variant)>;
      choose<T>(variant, std::make_index_sequence<std::variant_size_v<Variant>>());
    } else {
      if constexpr (is_holder<T>) {
        if (is_fresh && !node) fill(node);
      }
      for_each_part(node, *this);
    }
  }

  template <class T>
  void part(std::string_view name, Kind kind, T& node) {
    chooser.place().enter(name, kind);
    whole(node);
    chooser.place().leave();
  }

 private:
  // How well an alternative matches.
  struct Merit {
    std::size_t score = 0;              // its parameters when the source has all of them, else 0
    std::vector<ChosenVariant> chosen;  // below it
  };

  template <class Holder>
  void fill(Holder& holder) const {
    if constexpr (requires { *holder; }) {
      if (!emplace_default(holder)) return;
      if (chooser.count_served(slots_below(chooser.place(), *holder)) == 0) holder.reset();
    }
  }

  // Chooses inside an alternative first, then rates the result.
  template <class Enum, class T>
  Merit merit_of(T& alternative, bool made_now) const {
    Merit merit;
    chooser.place().enter(alternative_name<T>(), Kind{"Enum:", type_name<Enum>()});
    ChoosingWalker{chooser, merit.chosen, made_now}.whole(alternative);
    const std::vector<Slot> slots = slots_below(chooser.place(), alternative);
    if (chooser.count_served(slots) == slots.size()) merit.score = slots.size();
    chooser.place().leave();
    return merit;
  }

  template <class Enum, class Variant, std::size_t... I>
  void choose(Variant& variant, std::index_sequence<I...>) const {
    const std::size_t present = variant.index();
    Merit best;
    ((I == present ? void(best = merit_of<Enum>(*std::get_if<I>(&variant), is_fresh)) : void()),
     ...);
    ((I == present ? void() : consider<Enum, I>(variant, best)), ...);
    chosen.insert(chosen.end(), std::make_move_iterator(best.chosen.begin()),
                  std::make_move_iterator(best.chosen.end()));
  }

  // Replaces the alternative if this one is better than all before.
  template <class Enum, std::size_t I, class Variant>
  void consider(Variant& variant, Merit& best) const {
    using T = std::variant_alternative_t<I, Variant>;
    if constexpr (std::is_default_constructible_v<T> && std::is_move_constructible_v<T>) {
      T candidate = T();
      Merit merit = merit_of<Enum>(candidate, true);
      if (merit.score <= best.score) return;
      merit.chosen.insert(merit.chosen.begin(),
                          {chooser.place().path(), std::string(alternative_name<T>())});
      variant.template emplace<I>(std::move(candidate));
      best = std::move(merit);
    }
  }
};

}  // namespace detail

}  // namespace andiron::inline v1
