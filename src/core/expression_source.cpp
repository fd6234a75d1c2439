// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/snapshot_test.cpp
#include "src/core/expression_source.h"

#include <algorithm>

#include "src/core/read_whole_units.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

const std::string source_name = "a computed tensor";

class ExpressionSource final : public ByteSource {
 public:
  explicit ExpressionSource(ExpressionPtr below) : below_(std::move(below)) {}
  std::uint64_t size() const noexcept override { return below_->byte_size(); }
  const std::string& name() const noexcept override { return source_name; }
  CompressedData compressed_data() const noexcept override { return below_->compressed_data(); }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return read_whole_units(
        std::max(1u, bit_width(below_->dtype()) / 8), size(), offset, out,
        [&](std::uint64_t at, std::span<std::byte> room) { return below_->read_part(at, room); });
  }
  ExpressionPtr below_;
};

}  // namespace

ByteSourcePtr expression_source(ExpressionPtr below) {
  return std::make_shared<ExpressionSource>(std::move(below));
}

}  // namespace andiron::inline v1::detail
