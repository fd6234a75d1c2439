// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/snapshot_test.cpp
#include "src/core/expression_source.h"

#include <algorithm>

#include "src/core/kernels/convert.h"
#include "src/core/try.h"
#include "src/core/whole_units.h"

namespace andiron::inline v1::detail {
namespace {

const std::string source_name = "a computed tensor";

class ExpressionSource final : public ByteSource {
 public:
  explicit ExpressionSource(ExpressionPtr below) : below_(std::move(below)) {}
  std::uint64_t size() const noexcept override { return below_->byte_size(); }
  const std::string& name() const noexcept override { return source_name; }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return read_whole_units(
        std::max(1u, bit_width(below_->dtype()) / 8), size(), offset, out,
        [&](std::uint64_t at, std::span<std::byte> room) { return below_->read_part(at, room); });
  }
  ExpressionPtr below_;
};

class PackedCastSource final : public ByteSource {
 public:
  PackedCastSource(ExpressionPtr below, DType to, std::uint64_t byte_size)
      : below_(std::move(below)), to_(to), byte_size_(byte_size) {}
  std::uint64_t size() const noexcept override { return byte_size_; }
  const std::string& name() const noexcept override { return source_name; }

 private:
  // A unit is two elements: one whole byte on the packed side.
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    const std::uint64_t from_unit = 2 * bit_width(below_->dtype()) / 8;
    const std::uint64_t to_unit = 2 * bit_width(to_) / 8;
    return read_whole_units(
        to_unit, byte_size_, offset, out,
        [&](std::uint64_t at, std::span<std::byte> room) -> Status {
          const std::uint64_t units = room.size() / to_unit;
          ANDIRON_ASSIGN(Bytes stored, Bytes::allocate(units * from_unit));
          ANDIRON_TRY(below_->read_part(at / to_unit * from_unit, stored.writable()));
          convert(below_->dtype(), stored.data(), to_, room.data(),
                  static_cast<std::size_t>(2 * units));
          return {};
        });
  }
  ExpressionPtr below_;
  DType to_;
  std::uint64_t byte_size_;
};

}  // namespace

ByteSourcePtr expression_source(ExpressionPtr below) {
  return std::make_shared<ExpressionSource>(std::move(below));
}

ByteSourcePtr packed_cast_source(ExpressionPtr below, DType to, std::uint64_t byte_size) {
  return std::make_shared<PackedCastSource>(std::move(below), to, byte_size);
}

}  // namespace andiron::inline v1::detail
