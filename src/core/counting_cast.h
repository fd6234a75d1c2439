// SPDX-License-Identifier: MIT OR Apache-2.0
// A cast that counts what it loses.
#pragma once

#include <memory>

#include "andiron/byte_source.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1::detail {

// The bytes of `tensor` cast to `to`. Reads add to `loss`. REQUIRES: can_convert() between the two,
// and `byte_size` is what the cast takes.
ByteSourcePtr counting_cast(TensorSnapshot tensor, DType to, std::uint64_t byte_size,
                            std::shared_ptr<CastLoss> loss);

}  // namespace andiron::inline v1::detail
