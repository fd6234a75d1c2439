// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/analysis/part_reader_test.cpp
#include "src/analysis/part_reader.h"

#include <algorithm>
#include <utility>

#include "src/analysis/stretches.h"
#include "src/core/expression.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

// A part that was read is still in the cache when it is used.
constexpr std::uint64_t cached_bytes = 256 * 1024;

}  // namespace

Status PartReader::open(TensorSnapshot snapshot, std::uint64_t window_bytes) {
  lent_ = {};
  snapshot_ = std::move(snapshot);
  if (snapshot_.is_in_memory()) {
    ANDIRON_ASSIGN(const Tensor tensor, snapshot_.borrow());
    lent_ = tensor.bytes();
  }
  // What is gathered from all over a file is gathered in large parts.
  std::uint64_t offset = 0;
  const bool is_run = expression_of(snapshot_).stored_run(offset) != nullptr;
  if (is_run) window_bytes = std::min(window_bytes, cached_bytes);
  part_bytes_ = std::max(window_bytes / most_piece_bytes, std::uint64_t{1}) * most_piece_bytes;
  return {};
}

Result<std::span<const std::byte>> PartReader::read(std::uint64_t offset, std::uint64_t count) {
  const auto size = static_cast<std::size_t>(count);
  if (!lent_.empty()) return lent_.span().subspan(static_cast<std::size_t>(offset), size);
  if (window_.size() < size) {
    window_ = {};
    ANDIRON_ASSIGN(window_, Bytes::allocate(std::min(part_bytes_, snapshot_.byte_size())));
  }
  const std::span<std::byte> part = window_.writable().first(size);
  ANDIRON_TRY(snapshot_.read_part(offset, part));
  return std::span<const std::byte>(part);
}

}  // namespace andiron::inline v1::detail
