// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/record_writer_test.cpp
#include "src/format/record/checked_integers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "src/core/expression.h"
#include "src/core/kernels/convert.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

class CheckedIntegers : public ByteSource {
 public:
  CheckedIntegers(const TensorSnapshot& snapshot, DType dtype)
      : snapshot_(snapshot), dtype_(dtype) {}

  std::uint64_t size() const noexcept override {
    return snapshot_.byte_size() / stored_width() * width();
  }
  // No file: errors name the tensor.
  const std::string& name() const noexcept override {
    static const std::string none;
    return none;
  }
  CompressedData compressed_data() const noexcept override {
    return expression_of(snapshot_).compressed_data();
  }

 private:
  static constexpr std::size_t tile = 1024;

  std::size_t width() const noexcept { return bit_width(dtype_) / 8; }
  std::size_t stored_width() const noexcept { return bit_width(snapshot_.dtype()) / 8; }

  // Snapshots are read by whole elements, and so is this.
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    std::uint64_t at = offset / width();
    while (!out.empty()) {
      const std::size_t count = std::min(tile, out.size() / width());
      std::array<std::byte, tile * sizeof(std::int64_t)> stored;
      const auto part = std::span(stored).first(count * stored_width());
      ANDIRON_TRY(snapshot_.read_part(at * stored_width(), part));
      std::array<std::int64_t, tile> wide;
      auto* const wide_bytes = reinterpret_cast<std::byte*>(wide.data());
      convert(snapshot_.dtype(), stored.data(), DType::i64, wide_bytes, count);
      ANDIRON_TRY(check(std::span(wide).first(count)));
      convert(DType::i64, wide_bytes, dtype_, out.data(), count);
      at += count;
      out = out.subspan(count * width());
    }
    return {};
  }

  Status check(std::span<const std::int64_t> values) const {
    const std::int64_t largest = INT64_MAX >> (64 - bit_width(dtype_));
    const bool has_wrapped_ones = snapshot_.dtype() == DType::u64;
    for (const std::int64_t value : values) {
      const bool is_wrapped = has_wrapped_ones && value < 0;
      if (value <= largest && value >= -largest - 1 && !is_wrapped) continue;
      return Error{.code = ErrorCode::overflow,
                   .message = "a number does not fit in " + std::string(dtype_name(dtype_)),
                   .tensor = snapshot_.full_path(),
                   .found = is_wrapped ? std::to_string(static_cast<std::uint64_t>(value))
                                       : std::to_string(value),
                   .expected = std::to_string(-largest - 1) + " to " + std::to_string(largest),
                   .hint = Advice::raise_precision};
    }
    return {};
  }

  TensorSnapshot snapshot_;
  DType dtype_;
};

}  // namespace

Result<TensorSnapshot> as_checked_integers(const TensorSnapshot& snapshot, DType dtype) {
  auto source = std::make_shared<CheckedIntegers>(snapshot, dtype);
  const std::uint64_t bytes = source->size();
  return TensorSnapshot::from_source(snapshot.full_path(), std::move(source), 0, bytes, dtype,
                                     snapshot.shape());
}

}  // namespace andiron::inline v1::detail
