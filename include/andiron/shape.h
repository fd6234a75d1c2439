// SPDX-License-Identifier: MIT OR Apache-2.0
// The dimensions of a tensor.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "andiron/dtype.h"
#include "andiron/error.h"

namespace andiron {
inline namespace v1 {

/// Dimensions, outermost first. An empty shape is a scalar (one element); a dimension may be 0.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::uint64_t> dims) : dims_(dims) {}
  explicit Shape(std::span<const std::uint64_t> dims) : dims_(dims.begin(), dims.end()) {}

  std::size_t rank() const noexcept { return dims_.size(); }
  std::uint64_t operator[](std::size_t dim) const { return dims_[dim]; }
  std::uint64_t& operator[](std::size_t dim) { return dims_[dim]; }
  std::span<const std::uint64_t> dims() const noexcept { return dims_; }
  auto begin() const noexcept { return dims_.begin(); }
  auto end() const noexcept { return dims_.end(); }

  /// Number of elements; Overflow when it does not fit 64 bits.
  Result<std::uint64_t> element_count() const;
  /// Bytes of a row-major tensor; Overflow, or Misaligned when a sub-byte type leaves part of a
  /// byte. InvalidArgument for opaque types, whose size does not follow from the shape.
  Result<std::uint64_t> byte_count(DType dtype) const;
  /// LimitExceeded when there are more than max_rank dimensions.
  Status check_rank() const;
  /// "[2, 3]"
  std::string to_string() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<std::uint64_t> dims_;
};

/// "[2, 3]"
std::ostream& operator<<(std::ostream& out, const Shape& shape);
/// "f32"
std::ostream& operator<<(std::ostream& out, DType dtype);

}  // namespace v1
}  // namespace andiron
