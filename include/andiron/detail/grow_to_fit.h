// SPDX-License-Identifier: MIT OR Apache-2.0
// The walk behind grow_to_fit(): adds the elements that a source has tensors for to containers and
// optionals. Part of apply.h.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "andiron/archive.h"
#include "andiron/detail/choose_variants.h"
#include "andiron/detail/slots.h"
#include "andiron/error.h"

namespace andiron::inline v1::detail {

// Compares the containers of a module with the names of a source, along a walk through the module.
// Remembers how to undo what the walk does; unless it is kept, it is undone in the end.
class ContainerGrower {
 public:
  ContainerGrower(const Archive& source, const ChooseOptions& options);
  ~ContainerGrower() { undo_from({}); }
  ContainerGrower(const ContainerGrower&) = delete;
  ContainerGrower& operator=(const ContainerGrower&) = delete;

  void enter(std::string_view name, Kind kind);
  void leave();
  const SlotList& place() noexcept { return chooser_.place(); }
  bool has_failed() const noexcept { return !status_; }
  // False for a container that the walk has come to before, through a shared pointer.
  bool is_first_visit(const void* container) { return visited_.insert(container).second; }
  // What the source has below this place: the next segments of its names.
  bool has_names() const;
  std::vector<std::string> keys() const;
  // How many elements the source has for the list at this place; `present` if it has no more.
  // Fails if there are gaps between their numbers.
  std::size_t wanted_size(std::size_t present);
  // Whether the source has a tensor for one of the slots.
  bool serves_any(const std::vector<Slot>& slots) const {
    return chooser_.count_served(slots) != 0;
  }

  // REQUIRES: called before the change; undoing a change that was not made does nothing.
  void will_change(std::function<void()> undo) { undo_.push_back(std::move(undo)); }
  // What has been done so far, for undo_from().
  struct Mark {
    std::size_t changes = 0;
    std::size_t told = 0;
  };
  Mark mark() const noexcept { return {undo_.size(), grown_.size()}; }
  void undo_from(Mark mark);
  void tell(std::size_t before, std::size_t after);
  // The parts that have grown. Keeps the changes.
  Result<std::vector<GrownPart>> finish();

 private:
  VariantChooser chooser_;
  std::vector<std::string_view> names_;  // of the source, in order
  Archive source_;                       // whose names they are
  std::vector<std::function<void()>> undo_;
  std::vector<GrownPart> grown_;
  std::set<const void*> visited_;
  std::size_t depth_ = 0;
  Status status_;
};

struct GrowingWalker {
  ContainerGrower& grower;

  template <class T>
  void whole(T& node) {
    if constexpr (!is_leaf<T> && !std::is_const_v<T>) {
      if (grower.has_failed()) return;
      if constexpr (is_holder<T>) {
        if (!node) return fill(node);
      } else if constexpr (is_list<T>) {
        if constexpr (requires { node.resize(1); }) lengthen(node);
      } else if constexpr (is_map<T>) {
        add_keys(node);
      }
      for_each_part(node, *this);
    }
  }

  template <class T>
  void part(std::string_view name, Kind kind, T& node) {
    grower.enter(name, kind);
    whole(node);
    grower.leave();
  }

 private:
  template <class Holder>
  void fill(Holder& holder) {
    using T = std::remove_reference_t<decltype(*holder)>;
    // For a parameter names say nothing yet: an adapter may find it under another one.
    if (!is_leaf<T> && !grower.has_names()) return;
    const ContainerGrower::Mark mark = grower.mark();
    grower.will_change([&holder] { holder.reset(); });
    if (!emplace_default(holder)) return;
    whole(*holder);
    if (grower.serves_any(slots_below(grower.place(), *holder))) {
      grower.tell(0, 1);
    } else {
      grower.undo_from(mark);
    }
  }

  template <class List>
  void lengthen(List& list) {
    using T = typename List::value_type;
    // A vector moves its elements when it grows. Copies would not be tied any more.
    constexpr bool stays_or_moves =
        !requires { list.reserve(1); } || std::is_nothrow_move_constructible_v<T>;
    if constexpr (std::is_default_constructible_v<T> && stays_or_moves) {
      if (!grower.is_first_visit(&list)) return;
      const std::size_t before = list.size();
      const std::size_t after = grower.wanted_size(before);
      if (after == before) return;
      grower.will_change([&list, before] { list.resize(before); });
      list.resize(after);
      grower.tell(before, after);
    }
  }

  template <class Map>
  void add_keys(Map& map) {
    if constexpr (std::is_default_constructible_v<typename Map::mapped_type>) {
      if (!grower.is_first_visit(&map)) return;
      const std::size_t before = map.size();
      for (const std::string& key : grower.keys()) {
        if (map.contains(key)) continue;
        grower.will_change([&map, key] { map.erase(key); });
        map.try_emplace(key);
      }
      if (map.size() != before) grower.tell(before, map.size());
    }
  }
};

}  // namespace andiron::inline v1::detail
