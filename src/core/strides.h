// SPDX-License-Identifier: MIT OR Apache-2.0
// The distances between the elements of a tensor, in bytes, one for each dimension.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace andiron::inline v1::detail {

// How far apart two neighbors are, whichever comes first.
constexpr std::uint64_t stride_size(std::int64_t stride) noexcept {
  const auto size = static_cast<std::uint64_t>(stride);
  return stride < 0 ? 0 - size : size;
}

// As with shapes, few dimensions need no allocation.
class Strides {
 public:
  explicit Strides(std::size_t rank = 0) : rank_(rank) {
    if (rank > few_.size()) many_.resize(rank);
  }
  explicit Strides(std::span<const std::int64_t> values) : Strides(values.size()) {
    for (std::size_t i = 0; i < rank_; ++i) (*this)[i] = values[i];
  }

  std::int64_t& operator[](std::size_t dim) { return data()[dim]; }
  std::int64_t operator[](std::size_t dim) const { return span()[dim]; }
  std::span<const std::int64_t> span() const noexcept {
    return {rank_ > few_.size() ? many_.data() : few_.data(), rank_};
  }
  void set_all_to_zero() {
    for (std::size_t i = 0; i < rank_; ++i) (*this)[i] = 0;
  }

 private:
  std::int64_t* data() noexcept { return rank_ > few_.size() ? many_.data() : few_.data(); }

  std::size_t rank_;
  std::array<std::int64_t, 4> few_ = {};
  std::vector<std::int64_t> many_;  // instead of `few_`
};

}  // namespace andiron::inline v1::detail
