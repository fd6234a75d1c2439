// SPDX-License-Identifier: MIT OR Apache-2.0
// Expressions as sources of bytes, for what strides and element maps cannot express.
#pragma once

#include "andiron/byte_source.h"
#include "src/core/expression.h"

namespace andiron::inline v1::detail {

// The row-major bytes of `below`.
ByteSourcePtr expression_source(ExpressionPtr below);

}  // namespace andiron::inline v1::detail
