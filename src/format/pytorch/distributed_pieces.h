// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors that were saved in pieces by several processes.
#pragma once

#include <cstdint>
#include <vector>

#include "andiron/error.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1::detail {

struct Piece {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> sizes;
  TensorSnapshot tensor;  // of shape `sizes`
};

// The tensor of which these are the pieces. BadOffsets when they overlap, leave a gap, or cannot be
// put together by cuts through the whole. A piece that is given twice counts once.
Result<TensorSnapshot> assemble(const std::vector<std::uint64_t>& shape, DType dtype,
                                std::vector<Piece> pieces);

}  // namespace andiron::inline v1::detail
