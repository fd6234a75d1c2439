// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts integers to a type that may be too small for them.
#pragma once

#include "andiron/error.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1::detail {

// Returns the same elements as i16, i32 or i64. Reading fails with InvalidArgument if one does not
// fit.
Result<TensorSnapshot> as_checked_integers(const TensorSnapshot& snapshot, DType dtype);

}  // namespace andiron::inline v1::detail
