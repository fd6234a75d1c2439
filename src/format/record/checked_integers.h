// SPDX-License-Identifier: MIT OR Apache-2.0
// Integers as a type that may be too small for them.
#pragma once

#include "andiron/error.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1::detail {

// The same numbers as i16, i32 or i64. Reading them is InvalidArgument where one does not fit.
Result<TensorSnapshot> as_checked_integers(const TensorSnapshot& snapshot, DType dtype);

}  // namespace andiron::inline v1::detail
