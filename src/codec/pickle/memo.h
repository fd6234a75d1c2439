// SPDX-License-Identifier: MIT OR Apache-2.0
// The memo of a pickle: values stored by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "src/codec/pickle/array.h"
#include "src/codec/pickle/graph.h"

namespace andiron::inline v1::detail {

// Picklers number from 0, and those values are in an array. Any other number costs one node of a
// tree, whose depth no choice of numbers can degrade.
class PickleMemo {
 public:
  // How many numbers have a value.
  std::uint64_t size() const noexcept { return size_; }

  // Null where there is none.
  const PickleValue* find(std::uint64_t number) const noexcept {
    if (number < dense_.size() && dense_[static_cast<std::size_t>(number)] != unset) {
      return &dense_[static_cast<std::size_t>(number)];
    }
    return find_sparse(number);
  }

  // Puts the next number in order, if this is it and there is room.
  bool put_next(std::uint64_t number, PickleValue value) noexcept {
    if (number != dense_.size() || dense_.room() == 0 || !sparse_.empty()) return false;
    dense_.push(value);
    ++size_;
    return true;
  }

  // How many more places of dense() it takes to put this number.
  std::size_t places_for(std::uint64_t number) const noexcept {
    if (number < dense_.size() || number >= 2 * size_ + 1024) return 0;
    return static_cast<std::size_t>(number) + 1 - dense_.size();
  }
  PickleArray<PickleValue>& dense() noexcept { return dense_; }
  // REQUIRES: dense() has room for places_for(number).
  void put(std::uint64_t number, PickleValue value) {
    const std::size_t places = places_for(number);
    if (find(number) == nullptr) ++size_;
    for (std::size_t i = 0; i < places; ++i) dense_.push(unset);
    if (number < dense_.size()) {
      dense_[static_cast<std::size_t>(number)] = value;
    } else {
      sparse_[number] = value;
    }
  }

 private:
  // No value of a graph looks like this.
  static constexpr PickleValue unset = {PickleKind::none, true, 0};

  const PickleValue* find_sparse(std::uint64_t number) const noexcept {
    const auto found = sparse_.find(number);
    return found == sparse_.end() ? nullptr : &found->second;
  }

  PickleArray<PickleValue> dense_;
  std::map<std::uint64_t, PickleValue> sparse_;
  std::uint64_t size_ = 0;
};

}  // namespace andiron::inline v1::detail
