// SPDX-License-Identifier: MIT OR Apache-2.0
// The content of a PyTorch file as one Value, with tensors as their indices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "andiron/error.h"
#include "andiron/value.h"
#include "src/format/pytorch/pickled_file.h"

namespace andiron::inline v1::detail {

// Numbers tensors in the order of the walk, as the archive does; one that is listed as its parts is
// a dict of them. Of what is no plain value, text tells what it was: classes and functions by name,
// dates and paths as the calls that make them. What was not taken is null. So are text and bytes
// for which there is no room, and plain values beyond it are left out: a pickle can repeat them
// without end.
//
// For a file that was read once, so that this finds what was taken. Its first tensor has the number
// `first` in the archive. The tree takes up to `room` bytes, which it counts down.
Result<Value> value_tree(PickledFile& file, const OpenOptions& options, std::size_t first,
                         std::uint64_t& room);

}  // namespace andiron::inline v1::detail
