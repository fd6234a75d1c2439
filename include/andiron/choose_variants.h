// SPDX-License-Identifier: MIT OR Apache-2.0
// Choosing the alternatives of variants by what a file holds.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/module.h"

namespace andiron {
inline namespace v1 {

struct ChooseOptions {
  AnyAdapter adapter = {};          ///< how the source stores tensors
  bool skip_enum_variants = false;  ///< the source's names lack the names of variants
};

/// A variant that was changed.
struct ChosenVariant {
  std::string path;  ///< of the variant
  std::string name;  ///< of the alternative that it holds now
};

namespace detail {

// Compares what the alternatives of a variant ask for with what a source has, along a walk through
// a module.
class VariantChooser {
 public:
  VariantChooser(const Archive& source, const ChooseOptions& options);

  SlotList& place() noexcept { return place_; }
  // How many of the slots the source has a fitting tensor for.
  std::size_t count_served(const std::vector<Slot>& slots) const;
  // Writes down that the variant at this place now holds `name`.
  void note_choice(std::string_view name);
  std::vector<ChosenVariant> take() { return std::move(chosen_); }

 private:
  const Archive& source_;
  const ChooseOptions& options_;
  SlotList place_;
  std::vector<ChosenVariant> chosen_;
};

struct ChoosingWalker {
  VariantChooser& chooser;
  // Inside an alternative that was just made: empty optionals are filled where the source has
  // something for them.
  bool is_fresh = false;

  template <class T>
  void whole(T& node) {
    if constexpr (!is_leaf<T>) {
      if constexpr (is_variant<T>) {
        auto& variant = as_variant(node);
        using Variant = std::remove_cvref_t<decltype(variant)>;
        choose<T>(variant, std::make_index_sequence<std::variant_size_v<Variant>>());
      } else if constexpr (is_holder<T>) {
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
  template <class T>
  std::vector<Slot> slots_below(T& node) const {
    SlotList slots = chooser.place().from_here();
    Walker{slots}.whole(node);
    return slots.take();
  }

  template <class Holder>
  void fill(Holder& holder) const {
    using T = std::remove_reference_t<decltype(*holder)>;
    if constexpr (std::is_default_constructible_v<T>) {
      if constexpr (requires { holder.emplace(); }) {
        holder.emplace();
      } else {
        holder = Holder(new T());
      }
      if (chooser.count_served(slots_below(*holder)) == 0) holder.reset();
    }
  }

  // The number of parameters of an alternative when the source has all of them, else 0.
  template <class Enum, class T>
  std::size_t score(T& alternative) const {
    chooser.place().enter(alternative_name<T>(), Kind{"Enum:", type_name<Enum>()});
    const std::vector<Slot> slots = slots_below(alternative);
    chooser.place().leave();
    return chooser.count_served(slots) == slots.size() ? slots.size() : 0;
  }

  // The alternative as it would be after a choice.
  template <class Enum, class T>
  T fresh() const {
    T made{};
    ChoosingWalker{chooser, true}.part(alternative_name<T>(), Kind{"Enum:", type_name<Enum>()},
                                       made);
    return made;
  }

  template <class Enum, class Variant, std::size_t... I>
  void choose(Variant& variant, std::index_sequence<I...>) const {
    std::size_t best_index = variant.index();
    std::size_t best_score = 0;
    ((variant.index() == I ? void(best_score = score<Enum>(*std::get_if<I>(&variant))) : void()),
     ...);
    (consider<Enum, I>(variant, best_index, best_score), ...);
    if (best_index == variant.index()) return;
    ((best_index == I ? replace<Enum, I>(variant) : void()), ...);
  }

  template <class Enum, std::size_t I, class Variant>
  void consider(Variant& variant, std::size_t& best_index, std::size_t& best_score) const {
    using T = std::variant_alternative_t<I, Variant>;
    if constexpr (std::is_default_constructible_v<T>) {
      if (variant.index() == I) return;
      T candidate = fresh<Enum, T>();
      const std::size_t candidate_score = score<Enum>(candidate);
      if (candidate_score > best_score) {
        best_index = I;
        best_score = candidate_score;
      }
    }
  }

  template <class Enum, std::size_t I, class Variant>
  void replace(Variant& variant) const {
    using T = std::variant_alternative_t<I, Variant>;
    if constexpr (std::is_default_constructible_v<T>) {
      variant.template emplace<I>(fresh<Enum, T>());
      chooser.note_choice(alternative_name<T>());
    }
  }
};

}  // namespace detail

/// Makes every std::variant of a module hold the alternative whose parameters the source has, all
/// of them, by name and shape. Of several the one with most parameters wins; a variant whose
/// present alternative is served as well, or for which none is, stays as it is. Alternatives are
/// made by default construction (those that cannot be are not considered), with optional parts
/// where the source has them. Run it before a load. Returns what was changed.
template <class M>
Result<std::vector<ChosenVariant>> choose_variants(M& module, const Archive& source,
                                                   const ChooseOptions& options = {}) {
  if (Status status = options.adapter->status(); !status) return std::move(status).error();
  detail::VariantChooser chooser(source, options);
  detail::walk_to_change(module, detail::ChoosingWalker{chooser});
  return chooser.take();
}

}  // namespace v1
}  // namespace andiron
