// SPDX-License-Identifier: MIT OR Apache-2.0
// Parts of tensors, through one window of memory for each worker.
#pragma once

#include <cstdint>
#include <span>

#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1::detail {

class PartReader {
 public:
  // Begins to read a tensor. `window_bytes` is the most memory to use for it.
  Status open(TensorSnapshot snapshot, std::uint64_t window_bytes);

  // The most bytes of a part: whole pieces (stretches.h), at least one.
  std::uint64_t part_bytes() const noexcept { return part_bytes_; }

  // Part of the tensor's row-major bytes, valid until the next call. Parts of tensors in memory are
  // lent as they are.
  Result<std::span<const std::byte>> read(std::uint64_t offset, std::uint64_t count);

 private:
  TensorSnapshot snapshot_;
  std::uint64_t part_bytes_ = 0;
  Bytes lent_;
  Bytes window_;  // is kept for the next tensor
};

}  // namespace andiron::inline v1::detail
