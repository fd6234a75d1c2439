// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/weight_norm_source_test.cpp
#include "src/core/weight_norm_source.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "andiron/byte_source.h"
#include "src/core/expression.h"
#include "src/core/lock.h"
#include "src/core/read_whole_units.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t read_at_once = 16 * 1024;  // elements that are read at a time

// The weight as f64, which f32 and smaller types are rounded from once.
class WeightNormSource final : public ByteSource {
 public:
  // Both parts as f64.
  WeightNormSource(TensorSnapshot magnitude, TensorSnapshot direction)
      : magnitude_(std::move(magnitude)), direction_(std::move(direction)) {
    const Shape& shape = direction_.shape();
    const Shape& groups = magnitude_.shape();
    for (std::size_t d = 0; d < groups.rank(); ++d) {
      if (groups[d] == 1) continue;
      groups_ = groups[d];
      for (std::size_t after = d + 1; after < shape.rank(); ++after) inner_ *= shape[after];
    }
  }
  std::uint64_t size() const noexcept override { return direction_.byte_size(); }
  const std::string& name() const noexcept override { return direction_.full_path(); }
  CompressedData compressed_data() const noexcept override {
    return expression_of(direction_).compressed_data();
  }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    Lock lock(mutex_);
    // After a failure the next call tries again.
    if (scales_.empty()) {
      ANDIRON_ASSIGN(scales_, scales());
    }
    lock.unlock();
    const auto read = [&](std::uint64_t at, std::span<std::byte> room) {
      return for_each_block(at / sizeof(double), room.size() / sizeof(double),
                            [&](std::uint64_t first, std::span<double> values) {
                              std::uint64_t i = first;
                              for (double& value : values) value *= scales_[group_of(i++)];
                              const auto begin = static_cast<std::size_t>(
                                  (first - at / sizeof(double)) * sizeof(double));
                              std::memcpy(room.data() + begin, values.data(), values.size_bytes());
                            });
    };
    return read_whole_units(sizeof(double), size(), offset, out, read);
  }

  std::size_t group_of(std::uint64_t element) const {
    return static_cast<std::size_t>(element / inner_ % groups_);
  }

  // What each group of the direction is multiplied with.
  Result<std::vector<double>> scales() const {
    if (groups_ > std::numeric_limits<std::size_t>::max() / sizeof(double)) {
      return Error{.code = ErrorCode::out_of_memory, .message = "not enough memory for the scales"};
    }
    std::vector<double> squares(static_cast<std::size_t>(groups_));
    ANDIRON_TRY(for_each_block(0, size() / sizeof(double),
                               [&](std::uint64_t first, std::span<double> values) {
                                 for (const double value : values) {
                                   squares[group_of(first++)] += value * value;
                                 }
                               }));
    ANDIRON_ASSIGN(const Tensor magnitude, magnitude_.read());
    ANDIRON_ASSIGN(const std::vector<double> magnitudes, magnitude.to_vector<double>());
    for (std::size_t i = 0; i < squares.size(); ++i) {
      squares[i] = magnitudes[i] / std::sqrt(squares[i]);
    }
    return squares;
  }

  // Reads elements of the direction, some at a time.
  template <class Use>
  Status for_each_block(std::uint64_t first, std::uint64_t count, Use use) const {
    std::vector<double> values(
        static_cast<std::size_t>(std::min<std::uint64_t>(count, read_at_once)));
    while (count > 0) {
      const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(count, read_at_once));
      const std::span<double> part(values.data(), taken);
      ANDIRON_TRY(direction_.read_part(first * sizeof(double), std::as_writable_bytes(part)));
      use(first, part);
      first += taken;
      count -= taken;
    }
    return {};
  }

  TensorSnapshot magnitude_;
  TensorSnapshot direction_;
  std::uint64_t groups_ = 1;
  std::uint64_t inner_ = 1;
  mutable Mutex mutex_;
  mutable std::vector<double> scales_;  // empty until the first read
};

}  // namespace

bool are_parts_of_weight_norm(const Shape& magnitude, const Shape& direction) {
  if (magnitude.rank() == 0) return true;
  if (magnitude.rank() != direction.rank()) return false;
  std::size_t long_dims = 0;
  for (std::size_t d = 0; d < magnitude.rank(); ++d) {
    if (magnitude[d] == 1) continue;
    if (magnitude[d] != direction[d]) return false;
    ++long_dims;
  }
  return long_dims <= 1;
}

Result<TensorSnapshot> weight_of_weight_norm(const TensorSnapshot& magnitude,
                                             const TensorSnapshot& direction) {
  ANDIRON_ASSIGN(TensorSnapshot wide_magnitude, magnitude.cast(DType::f64));
  ANDIRON_ASSIGN(TensorSnapshot wide_direction, direction.cast(DType::f64));
  const std::uint64_t bytes = wide_direction.byte_size();
  auto source =
      std::make_shared<WeightNormSource>(std::move(wide_magnitude), std::move(wide_direction));
  ANDIRON_ASSIGN(const TensorSnapshot wide,
                 TensorSnapshot::from_source(direction.full_path(), std::move(source), 0, bytes,
                                             DType::f64, direction.shape()));
  ANDIRON_ASSIGN(TensorSnapshot weight, wide.cast(direction.dtype()));
  return std::move(weight).with_container(direction.container());
}

}  // namespace andiron::inline v1::detail
