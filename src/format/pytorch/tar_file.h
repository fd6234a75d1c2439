// SPDX-License-Identifier: MIT OR Apache-2.0
// PyTorch files of 0.1.9 and before: tar archives.
#pragma once

#include <memory>

#include "andiron/error.h"
#include "andiron/open.h"
#include "src/format/pytorch/pickled_file.h"

namespace andiron::inline v1::detail {

// `file` is the archive's number of the source.
Result<std::shared_ptr<PickledFile>> read_tar_file(const ByteSourcePtr& source, std::uint32_t file,
                                                   const Limits& limits, MemoryBudget& budget);

}  // namespace andiron::inline v1::detail
