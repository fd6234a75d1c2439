// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks whether a tensor fits a parameter.
#pragma once

#include "andiron/apply.h"
#include "andiron/error.h"
#include "andiron/leaf.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1::detail {

// Returns the tensor as the leaf will hold it, converted if the policy says so. Fails with
// DTypeMismatch or ShapeMismatch if it does not fit.
Result<TensorSnapshot> fit(TensorSnapshot tensor, const LeafInfo& wanted, DTypePolicy policy);

}  // namespace andiron::inline v1::detail
