// SPDX-License-Identifier: MIT OR Apache-2.0
// A quantized tensor as the f32 tensor that it stands for, read part by part.
#pragma once

#include "andiron/error.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1::detail {

// The elements that dequantize() gives, in memory that does not grow with the tensor. Reads the
// scale of the whole tensor, if there is one, and nothing else. Fails with the errors of
// dequantize(). REQUIRES: the dtype is qfloat.
Result<TensorSnapshot> dequantized(const TensorSnapshot& snapshot);

}  // namespace andiron::inline v1::detail
