// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors that go on where the module ends: beyond the end of a list, under another key of a map,
// for a list, map, optional or pointer that is empty.
#pragma once

#include "src/load/load_plan.h"

namespace andiron::inline v1::detail {

// Looks for them among the unused tensors of a plan, as far as the filter takes them. Adds notes on
// them, and on unused tensors beside parameters. Sets plan.too_short, if there are any.
void find_vacancies(const ModuleSlots& module, const Archive& source, const ApplyOptions& options,
                    LoadPlan& plan);

}  // namespace andiron::inline v1::detail
