// SPDX-License-Identifier: MIT OR Apache-2.0
// Some rows of a quantized matrix, for those who cannot hold all of it as floats.
#pragma once

#include <cstdint>

#include "andiron/error.h"
#include "andiron/tensor.h"

namespace andiron::inline v1::detail {

// Whether the rows of this quantized tensor can be had alone: it is a matrix, packed along its
// rows.
bool has_quantized_rows(const Tensor& tensor);

// The rows from `first` on, as f32. REQUIRES: has_quantized_rows(tensor), and it has these rows.
Result<Tensor> dequantize_rows(const Tensor& tensor, std::uint64_t first, std::uint64_t count);

}  // namespace andiron::inline v1::detail
