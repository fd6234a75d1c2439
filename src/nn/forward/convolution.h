// SPDX-License-Identifier: MIT OR Apache-2.0
// Convolutions of one to three dimensions.
#pragma once

#include <array>
#include <cstddef>

namespace andiron::inline v1 {
namespace nn {

// The sizes of a convolution. Dimensions that it lacks come first and have size 1.
struct ConvSize {
  using Sizes = std::array<std::size_t, 3>;  // depth, height, width

  std::size_t rank;  // 1 to 3
  std::size_t batch;
  std::size_t channels_in;
  std::size_t channels_out;
  std::size_t groups;
  Sizes in;
  Sizes out;
  Sizes kernel;
  Sizes stride;
  Sizes dilation;
  Sizes padding;      // before the first element
  Sizes padding_end;  // after the last

  std::size_t in_elements() const { return in[0] * in[1] * in[2]; }
  std::size_t out_elements() const { return out[0] * out[1] * out[2]; }
  std::size_t kernel_elements() const { return kernel[0] * kernel[1] * kernel[2]; }
};

template <class T>
struct ConvOperands {
  const T* input;  // [batch, channels_in, in]
  const T*
      weight;     // [channels_out, channels_in / groups, kernel], channels exchanged if transposed
  const T* bias;  // [channels_out], or nullptr
  T* output;      // [batch, channels_out, out]
};

// By oneDNN for floats where the library has it, and by plain loops otherwise.
void convolve(const ConvSize& size, const ConvOperands<float>& operands);
void convolve(const ConvSize& size, const ConvOperands<double>& operands);
void convolve_transposed(const ConvSize& size, const ConvOperands<float>& operands);
void convolve_transposed(const ConvSize& size, const ConvOperands<double>& operands);

}  // namespace nn
}  // namespace andiron::inline v1
