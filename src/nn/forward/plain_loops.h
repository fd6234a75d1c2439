// SPDX-License-Identifier: MIT OR Apache-2.0
// Products and convolutions without a library: what is used where there is none, and what the
// library is compared with.
#pragma once

#include "src/nn/forward/convolution.h"
#include "src/nn/forward/product.h"

namespace andiron::inline v1 {
namespace nn::plain {

template <class T>
void multiply(ProductSize size, MatrixView<T> a, MatrixView<T> b, ProductTarget<T> out);
template <class T>
void convolve(const ConvSize& size, const ConvOperands<T>& operands);
template <class T>
void convolve_transposed(const ConvSize& size, const ConvOperands<T>& operands);

// While one lives, everything is computed by plain loops. For tests and measurements.
class Only {
 public:
  Only() noexcept;
  ~Only();
  Only(const Only&) = delete;
  Only& operator=(const Only&) = delete;
};
bool is_wanted() noexcept;

}  // namespace nn::plain
}  // namespace andiron::inline v1
