// SPDX-License-Identifier: MIT OR Apache-2.0
// The dtype of a tensor in Burnpack's metadata.
#pragma once

#include "andiron/archive.h"
#include "andiron/burnpack_view.h"
#include "andiron/error.h"
#include "src/codec/cbor_writer.h"

namespace andiron::inline v1::detail {

// Writes the dtype as a generation spells it; UnsupportedDType for types that it lacks.
Status write_burnpack_dtype(CborWriter& out, const TensorInfo& info, BurnpackGeneration generation);

}  // namespace andiron::inline v1::detail
