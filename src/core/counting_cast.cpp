// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/counting_cast_test.cpp
#include "src/core/counting_cast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "src/core/kernels/convert.h"
#include "src/core/try.h"
#include "src/core/whole_units.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t tile = 1024;

// What a complex number has two of; other types as they are.
DType component_of(DType dtype) {
  switch (dtype) {
    case DType::c32:
      return DType::f16;
    case DType::c64:
      return DType::f32;
    case DType::c128:
      return DType::f64;
    default:
      return dtype;
  }
}

// Beyond the largest value, types without infinity and NaN give the largest value.
bool is_clamped_float(DType dtype) { return dtype == DType::f4e2m1; }

class Comparison {
 public:
  explicit Comparison(DType to) : to_(to) {}

  void compare(double before, double after) {
    if (is_beyond_range(before, after)) {
      ++overflowed;
    } else if (before != 0 && after == 0) {
      ++underflowed;
    }
  }

  std::uint64_t overflowed = 0;
  std::uint64_t underflowed = 0;

 private:
  bool is_beyond_range(double before, double after) const {
    if (to_ == DType::boolean) return false;
    if (is_integer(to_)) return std::isnan(before) || std::trunc(before) != after;
    if (std::isnan(before)) return !std::isnan(after);
    if (std::isinf(before)) return before != after;
    // f8e8m0 has powers of two alone: no zero and no sign.
    if (!std::isfinite(after)) return true;
    return is_clamped_float(to_) && std::abs(before) > std::abs(after) && std::abs(after) == 6;
  }

  DType to_;
};

class CountingCast final : public ByteSource {
 public:
  CountingCast(TensorSnapshot tensor, DType to, std::uint64_t byte_size,
               std::shared_ptr<CastLoss> loss)
      : tensor_(std::move(tensor)),
        name_("the tensor '" + tensor_.full_path() + "'"),
        to_(to),
        byte_size_(byte_size),
        loss_(std::move(loss)) {}
  std::uint64_t size() const noexcept override { return byte_size_; }
  const std::string& name() const noexcept override { return name_; }

 private:
  // A unit is an element, or two where that makes whole bytes.
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    const unsigned elements = is_sub_byte(tensor_.dtype()) || is_sub_byte(to_) ? 2 : 1;
    const std::uint64_t from_unit = elements * bit_width(tensor_.dtype()) / 8;
    const std::uint64_t to_unit = elements * bit_width(to_) / 8;
    return read_whole_units(
        to_unit, byte_size_, offset, out,
        [&](std::uint64_t at, std::span<std::byte> room) -> Status {
          const std::size_t count = room.size() * 8 / bit_width(to_);
          ANDIRON_ASSIGN(Bytes stored,
                         Bytes::allocate((count * bit_width(tensor_.dtype()) + 7) / 8));
          ANDIRON_TRY(tensor_.read_part(at / to_unit * from_unit, stored.writable()));
          convert(tensor_.dtype(), stored.data(), to_, room.data(), count);
          count_losses(stored.data(), room.data(), count);
          return {};
        });
  }

  void count_losses(const std::byte* before, const std::byte* after, std::size_t count) const {
    const DType from = component_of(tensor_.dtype());
    const DType to = component_of(to_);
    if (is_complex(to_)) count *= 2;
    Comparison comparison(to);
    std::array<double, tile> left;
    std::array<double, tile> right;
    for (std::size_t done = 0; done < count; done += tile) {
      const std::size_t some = std::min(tile, count - done);
      convert(from, before + done * bit_width(from) / 8, DType::f64,
              reinterpret_cast<std::byte*>(left.data()), some);
      convert(to, after + done * bit_width(to) / 8, DType::f64,
              reinterpret_cast<std::byte*>(right.data()), some);
      for (std::size_t i = 0; i < some; ++i) comparison.compare(left[i], right[i]);
    }
    loss_->overflowed += comparison.overflowed;
    loss_->underflowed += comparison.underflowed;
  }

  TensorSnapshot tensor_;
  std::string name_;
  DType to_;
  std::uint64_t byte_size_;
  std::shared_ptr<CastLoss> loss_;
};

}  // namespace

ByteSourcePtr counting_cast(TensorSnapshot tensor, DType to, std::uint64_t byte_size,
                            std::shared_ptr<CastLoss> loss) {
  return std::make_shared<CountingCast>(std::move(tensor), to, byte_size, std::move(loss));
}

}  // namespace andiron::inline v1::detail
