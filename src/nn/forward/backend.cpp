// SPDX-License-Identifier: MIT OR Apache-2.0
// Who computes: oneDNN, or plain loops.
// Tested by tests/nn/plain_loops_test.cpp
#include "andiron/nn/threads.h"
#include "src/nn/forward/convolution.h"
#include "src/nn/forward/onednn.h"
#include "src/nn/forward/plain_loops.h"
#include "src/nn/forward/product.h"

namespace andiron::inline v1 {
namespace nn {

const char* backend() noexcept {
  const char* const name = plain::is_wanted() ? nullptr : onednn::name();
  return name == nullptr ? "plain loops" : name;
}

void multiply(ProductSize size, MatrixView<float> a, MatrixView<float> b,
              ProductTarget<float> out) {
  if (size.rows == 0 || size.columns == 0) return;
  // oneDNN takes no empty sum.
  if (size.inner == 0 || plain::is_wanted() || !onednn::multiply(size, a, b, out)) {
    plain::multiply(size, a, b, out);
  }
}

void multiply(ProductSize size, MatrixView<double> a, MatrixView<double> b,
              ProductTarget<double> out) {
  plain::multiply(size, a, b, out);
}

void convolve(const ConvSize& size, const ConvOperands<float>& operands) {
  if (plain::is_wanted() || !onednn::convolve(size, operands)) plain::convolve(size, operands);
}

void convolve(const ConvSize& size, const ConvOperands<double>& operands) {
  plain::convolve(size, operands);
}

void convolve_transposed(const ConvSize& size, const ConvOperands<float>& operands) {
  if (plain::is_wanted() || !onednn::convolve_transposed(size, operands)) {
    plain::convolve_transposed(size, operands);
  }
}

void convolve_transposed(const ConvSize& size, const ConvOperands<double>& operands) {
  plain::convolve_transposed(size, operands);
}

}  // namespace nn
}  // namespace andiron::inline v1
