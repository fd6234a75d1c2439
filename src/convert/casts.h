// SPDX-License-Identifier: MIT OR Apache-2.0
// Casts of tensors by name.
#pragma once

#include <vector>

#include "andiron/convert.h"

namespace andiron::inline v1::detail {

// Casts the tensors that the rules match, and lists them.
Status cast_tensors(const std::vector<CastRule>& rules, Conversion& conversion);

}  // namespace andiron::inline v1::detail
