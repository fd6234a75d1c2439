// SPDX-License-Identifier: MIT OR Apache-2.0
// Products and convolutions by oneDNN, which chooses code for the machine's vector units.
#pragma once

#include "src/nn/forward/convolution.h"
#include "src/nn/forward/product.h"

namespace andiron::inline v1 {
namespace nn::onednn {

// Each returns false if nothing was computed, because oneDNN cannot do it, or is not there.
bool multiply(ProductSize size, MatrixView<float> a, MatrixView<float> b,
              ProductTarget<float> out) noexcept;
bool convolve(const ConvSize& size, const ConvOperands<float>& operands) noexcept;
bool convolve_transposed(const ConvSize& size, const ConvOperands<float>& operands) noexcept;

// "oneDNN 2.6.3"; nullptr if it is not there.
const char* name() noexcept;

}  // namespace nn::onednn
}  // namespace andiron::inline v1
