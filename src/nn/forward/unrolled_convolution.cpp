// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/plain_loops_test.cpp
#include "src/nn/forward/unrolled_convolution.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "src/nn/forward/parallel.h"
#include "src/nn/forward/product.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

// Of windows that are written out at a time; they stay in the second-level cache.
constexpr std::size_t most_elements = std::size_t{1} << 18;

// The element of the input that a tap of the kernel meets for an element of the output; past the
// end where that is padding.
std::size_t met(const ConvSize& size, std::size_t dim, std::size_t tap, std::size_t out) {
  return out * size.stride[dim] + tap * size.dilation[dim] - size.padding[dim];
}

// One tap of one channel for the elements [begin, end) of the output.
void write_row(const ConvSize& size, const float* channel, std::size_t tap, std::size_t begin,
               std::size_t end, float* row) {
  const std::size_t tap_w = tap % size.kernel[2];
  const std::size_t tap_h = tap / size.kernel[2] % size.kernel[1];
  const std::size_t tap_d = tap / size.kernel[2] / size.kernel[1];
  for (std::size_t at = begin; at < end;) {
    const std::size_t line = at / size.out[2];
    const std::size_t line_end = std::min(end, (line + 1) * size.out[2]);
    const std::size_t d = met(size, 0, tap_d, line / size.out[1]);
    const std::size_t h = met(size, 1, tap_h, line % size.out[1]);
    const bool is_inside = d < size.in[0] && h < size.in[1];
    const float* const from = is_inside ? channel + (d * size.in[1] + h) * size.in[2] : nullptr;
    for (; at < line_end; ++at) {
      const std::size_t w = met(size, 2, tap_w, at - line * size.out[2]);
      *row++ = is_inside && w < size.in[2] ? from[w] : 0.0F;
    }
  }
}

}  // namespace

bool is_better_unrolled(const ConvSize& size) {
  constexpr std::size_t few_channels = 4;
  constexpr std::size_t long_kernel = 64;
  constexpr std::size_t many_channels = 16;
  return size.channels_in / size.groups <= few_channels && size.kernel_elements() >= long_kernel &&
         size.channels_out / size.groups >= many_channels;
}

bool convolve_unrolled(const ConvSize& size, const ConvOperands<float>& operands) noexcept {
  const std::size_t in_group = size.channels_in / size.groups;
  const std::size_t out_group = size.channels_out / size.groups;
  const std::size_t taps = size.kernel_elements();
  const std::size_t inner = in_group * taps;
  const std::size_t places = size.out_elements();
  const std::size_t block = std::min(places, std::max<std::size_t>(most_elements / inner, 16));
  const std::unique_ptr<float[]> windows(new (std::nothrow) float[inner * block]);
  if (windows == nullptr) return false;
  for (std::size_t item = 0; item < size.batch; ++item) {
    for (std::size_t group = 0; group < size.groups; ++group) {
      const std::size_t first_in = item * size.channels_in + group * in_group;
      const std::size_t first_out = item * size.channels_out + group * out_group;
      const float* const input = operands.input + first_in * size.in_elements();
      float* const output = operands.output + first_out * places;
      for (std::size_t o = 0; o < out_group; ++o) {
        const float start = operands.bias == nullptr ? 0 : operands.bias[group * out_group + o];
        std::fill_n(output + o * places, places, start);
      }
      for (std::size_t begin = 0; begin < places; begin += block) {
        const std::size_t end = std::min(places, begin + block);
        parallel_for(inner, row_grain(end - begin), [&](std::size_t first, std::size_t last) {
          for (std::size_t i = first; i < last; ++i) {
            write_row(size, input + i / taps * size.in_elements(), i % taps, begin, end,
                      windows.get() + i * (end - begin));
          }
        });
        multiply({out_group, end - begin, inner},
                 {operands.weight + group * out_group * inner, inner}, {windows.get(), end - begin},
                 {output + begin, places, true});
      }
    }
  }
  return true;
}

}  // namespace nn
}  // namespace andiron::inline v1
