// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors that a program only looks at, for firmware: a pointer, and a shape that the compiler
// knows. bind() (bind.h) points them at the bytes of a file. Freestanding.
//
//   struct Net {
//     TensorView<float, 10, 64> weight;
//     TensorView<float, 10> bias;
//     ANDIRON_MODULE(Net, weight, bias)
//   };
//   y[i] += net.weight(i, j) * x[j];
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "andiron/dtype.h"
#include "andiron/fields.h"

namespace andiron::inline v1 {

static_assert(std::endian::native == std::endian::little,
              "andiron: only little-endian processors are supported");

/// The most dimensions of a TensorView.
inline constexpr std::size_t max_view_rank = 6;

namespace detail {

struct ViewAccess;

// The shape of a view that takes any.
struct AnyShape {
  std::size_t rank = 0;
  std::uint64_t dims[max_view_rank] = {};
};

}  // namespace detail

/// A tensor with elements of type T and this shape. It takes one pointer of memory. Copies look at
/// the same elements.
template <Element T, std::size_t... Dims>
class TensorView {
  static_assert(sizeof...(Dims) <= max_view_rank, "andiron: a TensorView has at most 6 dimensions");

 public:
  using Value = T;
  static constexpr std::size_t rank = sizeof...(Dims);
  static constexpr std::uint64_t dims[] = {Dims...};

  constexpr TensorView() noexcept = default;
  /// Looks at `elements`, row by row, which must outlive the view: your own numbers in place of
  /// those of the file.
  constexpr explicit TensorView(std::span<const T, (Dims * ...)> elements) noexcept
      : data_(elements.data()) {}

  static constexpr std::size_t size() noexcept { return (Dims * ...); }
  static constexpr std::span<const std::uint64_t> shape() noexcept { return dims; }
  constexpr bool is_bound() const noexcept { return data_ != nullptr; }
  /// The elements, row by row. REQUIRES, here and below: is_bound().
  const T* data() const noexcept { return static_cast<const T*>(data_); }
  std::span<const T, (Dims * ...)> elements() const noexcept {
    return std::span<const T, (Dims * ...)>(data(), size());
  }
  T operator[](std::size_t index) const noexcept { return data()[index]; }
  /// The element at these coordinates, outermost first. They are not checked.
  template <class... Index>
    requires(sizeof...(Index) == sizeof...(Dims))
  T operator()(Index... index) const noexcept {
    std::size_t at = 0;
    ((at = at * Dims + static_cast<std::size_t>(index)), ...);
    return data()[at];
  }

 private:
  friend struct detail::ViewAccess;
  const void* data_ = nullptr;
};

/// A tensor of any shape, which shape() tells once it is bound. A scalar has the shape [].
template <Element T>
class TensorView<T> {
 public:
  using Value = T;

  constexpr TensorView() noexcept = default;

  std::size_t size() const noexcept {
    std::size_t count = 1;
    for (std::size_t i = 0; i < any_.rank; ++i) count *= static_cast<std::size_t>(any_.dims[i]);
    return count;
  }
  std::span<const std::uint64_t> shape() const noexcept { return {any_.dims, any_.rank}; }
  bool is_bound() const noexcept { return data_ != nullptr; }
  const T* data() const noexcept { return static_cast<const T*>(data_); }
  std::span<const T> elements() const noexcept { return {data(), is_bound() ? size() : 0}; }
  T operator[](std::size_t index) const noexcept { return data()[index]; }

 private:
  friend struct detail::ViewAccess;
  const void* data_ = nullptr;
  detail::AnyShape any_;
};

/// A matrix that the file holds the other way round, as [Columns, Rows]: a Linear weight of PyTorch
/// in a program written for Burn's layout, or the reverse. bind() copies it into the arena; saving
/// turns it back.
template <Element T, std::size_t Rows, std::size_t Columns>
class Transposed : public TensorView<T, Rows, Columns> {
 public:
  using TensorView<T, Rows, Columns>::TensorView;
};

}  // namespace andiron::inline v1
