// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors that have another name in another archive, found by their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "src/analysis/progress_tally.h"

namespace andiron::inline v1::detail {

struct Renamed {
  std::size_t a = 0;
  std::size_t b = 0;
  bool is_ambiguous = false;
};

// What the search may use.
struct RenameSearch {
  unsigned threads = 1;
  std::uint64_t window_bytes = 0;
  ProgressTally& tally;
};

// Pairs tensors of `removed` with those of `added` that have the same dtype, shape and bytes, and
// takes both from the lists. Tensors without elements have nothing to be known by. Reads only
// tensors for which the other list has one of the same dtype and shape.
Result<std::vector<Renamed>> take_renamed(const Archive& a, std::vector<std::size_t>& removed,
                                          const Archive& b, std::vector<std::size_t>& added,
                                          const RenameSearch& search);

}  // namespace andiron::inline v1::detail
