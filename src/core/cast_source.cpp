// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/cast_source_test.cpp
#include "src/core/cast_source.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "src/core/kernels/convert.h"
#include "src/core/read_whole_units.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

// Elements that are cast at a time, so that memory does not grow with what is read.
constexpr std::size_t block = 16 * 1024;
constexpr std::size_t tile = 1024;

// Compares elements before and after a cast.
class LossCounter {
 public:
  LossCounter(DType from, DType to) : from_(from), to_(to) {}

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
    if (is_integer(to_)) {
      // What wraps ends up far away; a double cannot tell 2^63 from the number below it.
      return is_float(from_) ? !is_in_range(std::trunc(before)) : before != after;
    }
    if (std::isnan(before)) return !std::isnan(after);
    if (!std::isfinite(after)) return before != after;
    // Types without infinity and NaN give their largest value.
    return std::isinf(before) || (to_ == DType::f4e2m1 && std::abs(before) > largest_f4);
  }
  bool is_in_range(double whole) const {
    const int bits = static_cast<int>(bit_width(to_));
    const bool is_signed =
        to_ == DType::i8 || to_ == DType::i16 || to_ == DType::i32 || to_ == DType::i64;
    if (is_signed) return whole >= -std::ldexp(1, bits - 1) && whole < std::ldexp(1, bits - 1);
    return whole >= 0 && whole < std::ldexp(1, bits);  // false for NaN
  }
  static constexpr double largest_f4 = 6;

  DType from_;
  DType to_;
};

class CastSource final : public ByteSource {
 public:
  CastSource(ExpressionPtr below, DType to, std::uint64_t byte_size, std::shared_ptr<CastLoss> loss)
      : below_(std::move(below)), to_(to), byte_size_(byte_size), loss_(std::move(loss)) {}
  std::uint64_t size() const noexcept override { return byte_size_; }
  const std::string& name() const noexcept override { return name_; }
  CompressedData compressed_data() const noexcept override { return below_->compressed_data(); }

 private:
  // A unit is an element, or two where that makes whole bytes.
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    const DType from = below_->dtype();
    const unsigned elements = is_sub_byte(from) || is_sub_byte(to_) ? 2 : 1;
    const std::uint64_t to_unit = elements * bit_width(to_) / 8;
    const auto read = [&](std::uint64_t at, std::span<std::byte> room) -> Status {
      std::uint64_t first = at / to_unit * elements;
      Bytes stored;
      while (!room.empty()) {
        const std::size_t count = std::min<std::size_t>(block, room.size() * 8 / bit_width(to_));
        const std::size_t bytes = (count * bit_width(from) + 7) / 8;
        if (stored.empty()) {
          ANDIRON_ASSIGN(stored, Bytes::allocate(bytes));
        }
        const std::span<std::byte> part = stored.writable().first(bytes);
        ANDIRON_TRY(below_->read_part(first * bit_width(from) / 8, part));
        convert(from, part.data(), to_, room.data(), count);
        if (loss_ != nullptr) count_losses(part.data(), room.data(), count);
        room = room.subspan(std::min<std::size_t>((count * bit_width(to_) + 7) / 8, room.size()));
        first += count;
      }
      return {};
    };
    return read_whole_units(to_unit, byte_size_, offset, out, read);
  }

  void count_losses(const std::byte* before, const std::byte* after, std::size_t count) const {
    const DType from = component_of(below_->dtype());
    const DType to = component_of(to_);
    if (is_complex(to_)) count *= 2;
    LossCounter counter(from, to);
    std::array<double, tile> left;
    std::array<double, tile> right;
    for (std::size_t done = 0; done < count; done += tile) {
      const std::size_t some = std::min(tile, count - done);
      convert(from, before + done * bit_width(from) / 8, DType::f64,
              reinterpret_cast<std::byte*>(left.data()), some);
      convert(to, after + done * bit_width(to) / 8, DType::f64,
              reinterpret_cast<std::byte*>(right.data()), some);
      for (std::size_t i = 0; i < some; ++i) counter.compare(left[i], right[i]);
    }
    loss_->overflowed += counter.overflowed;
    loss_->underflowed += counter.underflowed;
  }

  ExpressionPtr below_;
  std::string name_ = "a cast tensor";
  DType to_;
  std::uint64_t byte_size_;
  std::shared_ptr<CastLoss> loss_;
};

}  // namespace

ByteSourcePtr cast_source(ExpressionPtr below, DType to, std::uint64_t byte_size,
                          std::shared_ptr<CastLoss> loss) {
  return std::make_shared<CastSource>(std::move(below), to, byte_size, std::move(loss));
}

}  // namespace andiron::inline v1::detail
