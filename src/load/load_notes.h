// SPDX-License-Identifier: MIT OR Apache-2.0
// What a reader of a load's report should know although nothing is wrong.
#pragma once

#include <vector>

#include "src/load/load_plan.h"

namespace andiron::inline v1::detail {

// Adds notes to a plan of which all else is complete: a filter that takes nothing, dtypes that
// change, tensors without a place that lie beside parameters or beyond the end of a list, weights
// of which there are parts alone, numbers that closing index gaps has moved, and PyTorch's files
// without its adapter.
void add_load_notes(const std::vector<Slot>& slots, const Archive& source,
                    const ApplyOptions& options, LoadPlan& plan);

}  // namespace andiron::inline v1::detail
