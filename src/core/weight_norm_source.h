// SPDX-License-Identifier: MIT OR Apache-2.0
// The weight that weight norm computes from its two parts: magnitude * direction / |direction|.
#pragma once

#include "andiron/error.h"
#include "andiron/shape.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1::detail {

// Whether weight norm has parts of these shapes: a magnitude for each index of one dimension of the
// direction, or one for all of it.
bool are_parts_of_weight_norm(const Shape& magnitude, const Shape& direction);

// The weight, unread, with the direction's path, dtype and shape. Its first read goes through the
// direction twice: once for the norms, which are kept. Memory does not grow with the weight, but
// for one number for each magnitude. REQUIRES: are_parts_of_weight_norm(); both are floats.
Result<TensorSnapshot> weight_of_weight_norm(const TensorSnapshot& magnitude,
                                             const TensorSnapshot& direction);

}  // namespace andiron::inline v1::detail
