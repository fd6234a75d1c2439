// SPDX-License-Identifier: MIT OR Apache-2.0
// The affine map that several layers share.
#pragma once

#include <optional>
#include <string_view>

#include "andiron/param.h"
#include "src/nn/forward/operand.h"

namespace andiron::inline v1 {
namespace nn {

// input * weight + bias over the last dimension; `layer` is whose errors these are.
template <class T>
Result<Tensor> affine(std::string_view layer, const Operand<T>& input, const Param& weight,
                      const std::optional<Param>& bias);

}  // namespace nn
}  // namespace andiron::inline v1
