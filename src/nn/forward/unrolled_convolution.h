// SPDX-License-Identifier: MIT OR Apache-2.0
// Convolutions as products of matrices: the windows of the input are written out side by side.
#pragma once

#include "src/nn/forward/convolution.h"

namespace andiron::inline v1 {
namespace nn {

// Whether that is faster than oneDNN's own convolution, which fills its vectors with channels of
// the input: long kernels over few channels, as of sound.
bool is_better_unrolled(const ConvSize& size);

// Returns false, and has computed nothing, if there is no memory.
bool convolve_unrolled(const ConvSize& size, const ConvOperands<float>& operands) noexcept;

}  // namespace nn
}  // namespace andiron::inline v1
