// SPDX-License-Identifier: MIT OR Apache-2.0
// The content of a PyTorch file as one Value, with tensors as their indices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "andiron/error.h"
#include "andiron/value.h"
#include "src/core/memory_budget.h"
#include "src/format/pytorch/pickled_file.h"

namespace andiron::inline v1::detail {

// Numbers tensors in the order of the walk, as the archive does; a tensor that is listed as its
// parts becomes a dict of them. Values that are not plain become text: classes and functions by
// name, dates and paths as the calls that create them. Skipped values are null. What the pickle
// refers to again is shared, unless it has tensors, which have other indices each time. The budget
// is charged each time all the same: whoever walks the tree comes there as often.
//
// Call it after the file was read once. Its first tensor has the number `first` in the archive.
Result<Value> value_tree(PickledFile& file, const OpenOptions& options, std::size_t first,
                         MemoryBudget& budget);

}  // namespace andiron::inline v1::detail
