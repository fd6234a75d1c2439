// SPDX-License-Identifier: MIT OR Apache-2.0
// Whether a tensor fits a place.
#pragma once

#include "andiron/apply.h"
#include "andiron/error.h"
#include "andiron/leaf.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1::detail {

// The tensor as the leaf will hold it, converted where the policy says so. DTypeMismatch or
// ShapeMismatch when it does not fit.
Result<TensorSnapshot> fit(TensorSnapshot tensor, const LeafInfo& wanted, DTypePolicy policy);

}  // namespace andiron::inline v1::detail
