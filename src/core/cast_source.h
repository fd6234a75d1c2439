// SPDX-License-Identifier: MIT OR Apache-2.0
// A cast that no element map can do: one that packs or unpacks f4, or counts what it loses.
#pragma once

#include <cstdint>
#include <memory>

#include "andiron/byte_source.h"
#include "andiron/snapshot.h"
#include "src/core/expression.h"

namespace andiron::inline v1::detail {

// The row-major bytes of `below`, cast to `to`: `byte_size` in all. Reads add to `loss`, if there
// is one. REQUIRES: can_convert() from one dtype to the other.
ByteSourcePtr cast_source(ExpressionPtr below, DType to, std::uint64_t byte_size,
                          std::shared_ptr<CastLoss> loss = nullptr);

}  // namespace andiron::inline v1::detail
