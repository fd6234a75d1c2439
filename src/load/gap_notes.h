// SPDX-License-Identifier: MIT OR Apache-2.0
// Notes on tensors that closing index gaps gave other numbers.
#pragma once

#include <vector>

#include "src/load/load_plan.h"

namespace andiron::inline v1::detail {

// Adds notes on lists that are longer in the module than in the source, where an element got a
// tensor of another number; on parameters that lack a tensor which the source has under their own
// name; and on unused tensors that were renumbered.
void note_closed_gaps(const std::vector<Slot>& slots, const Archive& source, LoadPlan& plan);

}  // namespace andiron::inline v1::detail
