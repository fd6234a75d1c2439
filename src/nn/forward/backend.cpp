// SPDX-License-Identifier: MIT OR Apache-2.0
// Who computes: oneDNN, or plain loops.
// Tested by tests/nn/plain_loops_test.cpp
#include "andiron/nn/threads.h"

#include <algorithm>
#include <cstddef>

#include "src/nn/forward/convolution.h"
#include "src/nn/forward/onednn.h"
#include "src/nn/forward/plain_loops.h"
#include "src/nn/forward/product.h"
#include "src/nn/forward/unrolled_convolution.h"

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

namespace {

// oneDNN, and convolutions by its products, take no empty sum.
bool is_plain(const ConvSize& size) { return size.channels_in == 0 || plain::is_wanted(); }

// Without dimensions in which nothing moves: oneDNN is faster with fewer.
ConvSize without_idle_dims(ConvSize size) {
  const std::size_t given = size.rank;
  for (std::size_t d = 3 - given; d < 3 && size.rank > 1; ++d) {
    const bool is_idle = size.in[d] == 1 && size.out[d] == 1 && size.kernel[d] == 1 &&
                         size.padding[d] == 0 && size.padding_end[d] == 0;
    if (!is_idle) continue;
    for (ConvSize::Sizes* sizes : {&size.in, &size.out, &size.kernel, &size.stride, &size.dilation,
                                   &size.padding, &size.padding_end}) {
      std::rotate(sizes->data(), sizes->data() + d, sizes->data() + d + 1);
    }
    --size.rank;
  }
  return size;
}

bool convolve_fast(const ConvSize& size, const ConvOperands<float>& operands) {
  if (onednn::name() == nullptr) return false;
  if (is_better_unrolled(size) && convolve_unrolled(size, operands)) return true;
  return onednn::convolve(without_idle_dims(size), operands);
}

}  // namespace

void convolve(const ConvSize& size, const ConvOperands<float>& operands) {
  if (is_plain(size) || !convolve_fast(size, operands)) plain::convolve(size, operands);
}

void convolve(const ConvSize& size, const ConvOperands<double>& operands) {
  plain::convolve(size, operands);
}

void convolve_transposed(const ConvSize& size, const ConvOperands<float>& operands) {
  if (is_plain(size) || !onednn::convolve_transposed(size, operands)) {
    plain::convolve_transposed(size, operands);
  }
}

void convolve_transposed(const ConvSize& size, const ConvOperands<double>& operands) {
  plain::convolve_transposed(size, operands);
}

}  // namespace nn
}  // namespace andiron::inline v1
