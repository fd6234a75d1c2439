// SPDX-License-Identifier: MIT OR Apache-2.0
// The scheme of a quantized tensor in Burnpack's metadata. Freestanding.
#pragma once

#include "andiron/burnpack_view.h"
#include "src/freestanding/cbor_reader.h"

namespace andiron::inline v1::detail {

// Reads a scheme into `entry`, with the releases that write it so. False for anything that is none,
// and for bytes that are no CBOR; `reader` is then at no place in particular.
bool read_burnpack_scheme(CborReader& reader, BurnpackEntry& entry) noexcept;

}  // namespace andiron::inline v1::detail
