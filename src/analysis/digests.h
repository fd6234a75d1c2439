// SPDX-License-Identifier: MIT OR Apache-2.0
// Hashes of parts of tensors.
#pragma once

#include <cstdint>

#include "andiron/error.h"
#include "andiron/sha256.h"
#include "src/analysis/part_reader.h"
#include "src/analysis/progress_tally.h"

namespace andiron::inline v1::detail {

// Hashes bytes `begin` to `end` of the tensor that the reader is at, on the thread of this worker.
Result<Sha256Digest> digest_of_range(PartReader& reader, std::uint64_t begin, std::uint64_t end,
                                     ProgressTally& tally, unsigned worker);

}  // namespace andiron::inline v1::detail
