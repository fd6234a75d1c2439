// SPDX-License-Identifier: MIT OR Apache-2.0
// Shape: the dimensions of a tensor.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "andiron/dtype.h"
#include "andiron/error.h"

namespace andiron::inline v1 {

/// Dimensions, outermost first. An empty shape is a scalar (one element). A dimension may be 0.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::uint64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const std::uint64_t> dims) {
    if (dims.size() > few_.size()) {
      many_.assign(dims.begin(), dims.end());
    } else {
      rank_ = dims.size();
      std::copy(dims.begin(), dims.end(), few_.begin());
    }
  }

  std::size_t rank() const noexcept { return many_.empty() ? rank_ : many_.size(); }
  std::uint64_t operator[](std::size_t dim) const { return dims()[dim]; }
  std::uint64_t& operator[](std::size_t dim) { return many_.empty() ? few_[dim] : many_[dim]; }
  std::span<const std::uint64_t> dims() const noexcept {
    return many_.empty() ? std::span<const std::uint64_t>(few_.data(), rank_) : many_;
  }
  auto begin() const noexcept { return dims().begin(); }
  auto end() const noexcept { return dims().end(); }

  /// Returns the number of elements. Fails with Overflow if it does not fit in 64 bits.
  Result<std::uint64_t> element_count() const;
  /// Returns the bytes of a row-major tensor. Fails with Overflow, with Misaligned if a sub-byte
  /// type does not fill the last byte, and with InvalidArgument for opaque types, whose size does
  /// not follow from the shape.
  Result<std::uint64_t> byte_count(DType dtype) const;
  /// Fails with LimitExceeded if there are more than max_rank dimensions.
  Status check_rank() const;
  /// "[2, 3]"
  std::string to_string() const;

  friend bool operator==(const Shape& a, const Shape& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  // Most shapes have few dimensions, and models have many shapes: these need no allocation.
  std::size_t rank_ = 0;
  std::array<std::uint64_t, 4> few_ = {};
  std::vector<std::uint64_t> many_;  // instead of `few_`
};

/// Writes "[2, 3]".
std::ostream& operator<<(std::ostream& out, const Shape& shape);
inline std::string to_string(const Shape& shape) { return shape.to_string(); }
/// Writes "f32".
std::ostream& operator<<(std::ostream& out, DType dtype);
inline std::string to_string(DType dtype) { return std::string(dtype_name(dtype)); }

}  // namespace andiron::inline v1
