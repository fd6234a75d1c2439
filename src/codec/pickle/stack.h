// SPDX-License-Identifier: MIT OR Apache-2.0
// The stack of a pickle machine and its marks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/codec/pickle/array.h"
#include "src/codec/pickle/graph.h"

namespace andiron::inline v1::detail {

// A mark is a height of the stack, stored apart from the values. Values below the topmost mark
// cannot be reached until that mark is taken.
class PickleStack {
 public:
  // For growing them before push() and mark().
  PickleArray<PickleValue>& values() noexcept { return values_; }
  PickleArray<std::uint32_t>& marks() noexcept { return marks_; }

  std::size_t size() const noexcept { return values_.size(); }
  // Values within reach.
  std::size_t reach() const noexcept { return values_.size() - floor_; }

  // REQUIRES: there is room.
  void push(PickleValue value) noexcept { values_.push(value); }
  void mark() noexcept {
    floor_ = static_cast<std::uint32_t>(values_.size());
    marks_.push(floor_);
  }

  // The value `depth` below the top. REQUIRES: depth < reach().
  PickleValue top(std::size_t depth = 0) const noexcept {
    return values_[values_.size() - 1 - depth];
  }
  // The topmost `count` values, until the next push. REQUIRES: count <= reach().
  std::span<const PickleValue> tail(std::size_t count) const noexcept {
    return {values_.data() + values_.size() - count, count};
  }
  // REQUIRES: count <= reach().
  void drop(std::size_t count) noexcept { values_.shrink(values_.size() - count); }

  bool has_mark() const noexcept { return marks_.size() != 0; }
  // Returns how many values are above the mark. REQUIRES: has_mark().
  std::size_t take_mark() noexcept {
    const std::size_t above = reach();
    marks_.shrink(marks_.size() - 1);
    floor_ = has_mark() ? marks_[marks_.size() - 1] : 0;
    return above;
  }

 private:
  PickleArray<PickleValue> values_;
  PickleArray<std::uint32_t> marks_;
  std::uint32_t floor_ = 0;  // the topmost mark
};

}  // namespace andiron::inline v1::detail
