// SPDX-License-Identifier: MIT OR Apache-2.0
// Quantized tensors (DType::qfloat) and their numbers.
#pragma once

#include <string>
#include <string_view>

#include "andiron/error.h"
#include "andiron/quant_scheme.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {

/// A scheme on one line: "QFloat(Q4S,PackedU32(0),Symmetric,tensor=F32,block=[2,16]:F16)". Parts
/// that a scheme lacks are left out. The file_dtype of a quantized tensor is this text.
std::string quant_scheme_text(const QuantScheme& scheme);
/// Reads that text. InvalidArgument for any other.
Result<QuantScheme> quant_scheme_from_text(std::string_view text);

/// The numbers of a quantized tensor, as f32: every value type, store and level but two, which are
/// Unsupported: QuantMode::lookup, and float values in QuantStore::native, where Burn's backends
/// disagree on what the bytes mean. DTypeMismatch for a tensor that is not quantized, SizeMismatch
/// for a payload whose size is not what scheme and shape ask for.
Result<Tensor> dequantize(const Tensor& tensor);

}  // namespace andiron::inline v1
