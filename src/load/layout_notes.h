// SPDX-License-Identifier: MIT OR Apache-2.0
// Notes on matrices that may lie the other way: those of PyTorch's Linear are transposed.
#pragma once

#include <vector>

#include "src/load/load_plan.h"

namespace andiron::inline v1::detail {

// Adds a note where the adapter, or its absence, does not go with what the source says of itself.
// If the source says nothing, adds one for square matrices: shapes tell the way of all others.
void note_layout(const std::vector<Slot>& slots, const Archive& source, const ApplyOptions& options,
                 LoadPlan& plan);

}  // namespace andiron::inline v1::detail
