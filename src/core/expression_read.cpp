// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading expressions. Tested by tests/core/snapshot_test.cpp
#include <algorithm>
#include <cstring>

#include "src/core/expression.h"
#include "src/core/kernels/gather.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

// Rows of a join up to this size are collected part by part and interleaved in memory.
constexpr std::uint64_t small_row_bytes = 64 * 1024;
constexpr std::uint64_t interleave_bytes = std::uint64_t{1} << 20;

}  // namespace

bool Expression::is_row_major(const StridedLeaf& leaf) const noexcept {
  std::uint64_t step = bit_width(dtype_) / 8;
  for (std::size_t d = shape_.rank(); d-- > 0;) {
    if (shape_[d] != 1 && leaf.strides[d] != static_cast<std::int64_t>(step)) return false;
    step *= shape_[d];
  }
  return true;
}

const ByteSource* Expression::stored_run(std::uint64_t& offset) const noexcept {
  if (byte_size_ == 0) return nullptr;
  if (const auto* packed = std::get_if<PackedLeaf>(&node_)) {
    offset = packed->offset;
    return packed->source.get();
  }
  const auto* leaf = std::get_if<StridedLeaf>(&node_);
  if (leaf == nullptr || !leaf->map.is_identity() || !is_row_major(*leaf)) return nullptr;
  offset = leaf->offset;
  return leaf->source.get();
}

Status Expression::read_part(std::uint64_t offset, std::span<std::byte> out) const {
  const std::uint64_t width = std::max(1u, bit_width(dtype_) / 8);
  if (offset > byte_size_ || out.size() > byte_size_ - offset || offset % width != 0 ||
      out.size() % width != 0) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "the range does not fit the tensor",
                 .found = std::to_string(out.size()) + " bytes from " + std::to_string(offset),
                 .expected = "whole elements within " + std::to_string(byte_size_) + " bytes"};
  }
  if (out.empty()) return {};
  std::uint64_t base = 0;
  if (const ByteSource* source = stored_run(base)) return source->read_at(base + offset, out);
  if (const auto* leaf = std::get_if<StridedLeaf>(&node_)) {
    Gather gather({*leaf->source, leaf->offset, shape_.dims(), leaf->strides.span()}, leaf->map,
                  offset / width, out.size() / width, out.data());
    for (;;) {
      ANDIRON_ASSIGN(const std::span<std::byte> room, gather.next());
      if (room.empty()) return {};
      ANDIRON_TRY(leaf->source->read_at(gather.offset(), room));
    }
  }
  return read_join(std::get<Join>(node_), offset, out);
}

Status Expression::read_join(const Join& join, std::uint64_t offset,
                             std::span<std::byte> out) const {
  // Row r of the join is the r-th chunk of every part, one after the other.
  std::uint64_t rows = 1;
  for (std::size_t d = 0; d < join.dim; ++d) rows *= shape_[d];
  const std::uint64_t row_bytes = rows == 0 ? 0 : byte_size_ / rows;
  if (row_bytes == 0) return {};  // an empty join has nothing to read
  Bytes scratch;
  while (!out.empty()) {
    const std::uint64_t row = offset / row_bytes;
    std::uint64_t in_row = offset % row_bytes;
    if (in_row == 0 && row_bytes <= small_row_bytes && out.size() >= 2 * row_bytes) {
      const std::uint64_t batch = std::min(out.size() / row_bytes, interleave_bytes / row_bytes);
      std::uint64_t column = 0;
      for (const ExpressionPtr& part : join.parts) {
        const std::uint64_t chunk = part->byte_size_ / rows;
        const auto bytes = static_cast<std::size_t>(batch * chunk);
        if (scratch.size() < bytes) {
          ANDIRON_ASSIGN(scratch, Bytes::allocate(bytes));
        }
        std::span<std::byte> room = scratch.writable().first(bytes);
        ANDIRON_TRY(part->read_part(row * chunk, room));
        for (std::uint64_t r = 0; r < batch; ++r) {
          std::memcpy(out.data() + r * row_bytes + column, room.data() + r * chunk,
                      static_cast<std::size_t>(chunk));
        }
        column += chunk;
      }
      offset += batch * row_bytes;
      out = out.subspan(static_cast<std::size_t>(batch * row_bytes));
      continue;
    }
    for (const ExpressionPtr& part : join.parts) {
      const std::uint64_t chunk = part->byte_size_ / rows;
      if (in_row >= chunk) {
        in_row -= chunk;
        continue;
      }
      const auto bytes =
          static_cast<std::size_t>(std::min<std::uint64_t>(chunk - in_row, out.size()));
      ANDIRON_TRY(part->read_part(row * chunk + in_row, out.first(bytes)));
      offset += bytes;
      out = out.subspan(bytes);
      in_row = 0;
      if (out.empty()) break;
    }
  }
  return {};
}

}  // namespace andiron::inline v1::detail
