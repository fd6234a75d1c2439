// SPDX-License-Identifier: MIT OR Apache-2.0
// Notes on a load in which nothing is wrong.
#pragma once

#include <vector>

#include "src/load/load_plan.h"

namespace andiron::inline v1::detail {

// Adds notes to a plan that is otherwise complete: a filter that selects nothing, dtypes that
// change, unused tensors next to parameters, beyond the end of a list or for something that is
// empty (vacancies.h), weights of which only parts exist, numbers that closing index gaps changed
// (gap_notes.h), and layouts that do not go with the adapter (layout_notes.h).
void add_load_notes(const ModuleSlots& module, const Archive& source, const ApplyOptions& options,
                    LoadPlan& plan);

}  // namespace andiron::inline v1::detail
