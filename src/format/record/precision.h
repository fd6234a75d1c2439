// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts tensors to the numbers of one of Burn's settings.
#pragma once

#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/snapshot.h"
#include "src/format/record/metadata.h"

namespace andiron::inline v1::detail {

// What a record stores elements of this dtype as. Booleans and quantized tensors stay as they are.
DType dtype_in_record(const RecordNumbers& numbers, DType dtype);

// The same tensor with elements of a dtype that dtype_in_record() gave. Reading fails with Overflow
// if an integer does not fit.
Result<TensorSnapshot> converted_for_record(const TensorSnapshot& snapshot, DType stored);

}  // namespace andiron::inline v1::detail
