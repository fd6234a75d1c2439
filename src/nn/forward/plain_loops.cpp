// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/plain_loops_test.cpp
#include "src/nn/forward/plain_loops.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "src/nn/forward/parallel.h"

namespace andiron::inline v1 {
namespace nn::plain {
namespace {

std::atomic<int> wishes = 0;

// Where a kernel's element meets a line: out[i] is fed by in[i * stride + offset], for i from
// `begin` to before `end`.
struct Meeting {
  std::size_t begin;
  std::size_t end;
  std::ptrdiff_t offset;
};

Meeting meeting(const ConvSize& size, std::size_t dim, std::size_t tap) {
  const auto stride = static_cast<std::ptrdiff_t>(size.stride[dim]);
  const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(tap * size.dilation[dim]) -
                                static_cast<std::ptrdiff_t>(size.padding[dim]);
  const auto in = static_cast<std::ptrdiff_t>(size.in[dim]);
  const auto out = static_cast<std::ptrdiff_t>(size.out[dim]);
  const std::ptrdiff_t begin = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const std::ptrdiff_t end = in > offset ? std::min(out, (in - offset - 1) / stride + 1) : 0;
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(std::max(begin, end)), offset};
}

// Of a transposed convolution: in[i] feeds out[i * stride + offset].
Meeting transposed_meeting(ConvSize size, std::size_t dim, std::size_t tap) {
  std::swap(size.in[dim], size.out[dim]);
  return meeting(size, dim, tap);
}

// A channel of the input that adds to a channel of the output, in one item of the batch.
template <class T>
struct ChannelPair {
  std::size_t channel_in;
  std::size_t channel_out;
  const T* in;
  T* out;
};

// Fills each channel of the output with its bias, then calls add(pair) for each channel of its
// group. `elements` is what a tap of one pair costs.
template <class T, class Add>
void for_each_pair(const ConvSize& size, const ConvOperands<T>& operands, std::size_t elements,
                   const Add& add) {
  const std::size_t in_group = size.channels_in / size.groups;
  const std::size_t out_group = size.channels_out / size.groups;
  const std::size_t planes = size.batch * size.channels_out;
  const std::size_t work = elements * in_group * size.kernel_elements();
  parallel_for(planes, row_grain(work), [&](std::size_t begin, std::size_t end) {
    for (std::size_t plane = begin; plane < end; ++plane) {
      const std::size_t item = plane / size.channels_out;
      const std::size_t channel = plane % size.channels_out;
      T* const out = operands.output + plane * size.out_elements();
      std::fill_n(out, size.out_elements(),
                  operands.bias == nullptr ? T{} : operands.bias[channel]);
      for (std::size_t c = 0; c < in_group; ++c) {
        const std::size_t in_channel = channel / out_group * in_group + c;
        add(ChannelPair<T>{
            in_channel, channel,
            operands.input + (item * size.channels_in + in_channel) * size.in_elements(), out});
      }
    }
  });
}

// Calls visit(tap of the kernel, meeting of each dimension).
template <class Meet, class Visit>
void for_each_tap(const ConvSize& size, const Meet& meet, const Visit& visit) {
  std::size_t tap = 0;
  for (std::size_t d = 0; d < size.kernel[0]; ++d) {
    const Meeting depth = meet(size, 0, d);
    for (std::size_t h = 0; h < size.kernel[1]; ++h) {
      const Meeting height = meet(size, 1, h);
      for (std::size_t w = 0; w < size.kernel[2]; ++w) {
        visit(tap++, depth, height, meet(size, 2, w));
      }
    }
  }
}

std::size_t shifted(std::size_t index, std::size_t stride, std::ptrdiff_t offset) {
  return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(index * stride) + offset);
}

}  // namespace

Only::Only() noexcept { ++wishes; }
Only::~Only() { --wishes; }
bool is_wanted() noexcept { return wishes != 0; }

template <class T>
void multiply(ProductSize size, MatrixView<T> a, MatrixView<T> b, ProductTarget<T> out) {
  const std::size_t work = size.columns * size.inner;
  parallel_for(size.rows, row_grain(work), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      T* const row = out.data + i * out.stride;
      if (!out.adds) std::fill_n(row, size.columns, T{});
      const auto a_at = [&](std::size_t k) {
        return a.is_transposed ? a.data[k * a.stride + i] : a.data[i * a.stride + k];
      };
      if (b.is_transposed) {
        for (std::size_t j = 0; j < size.columns; ++j) {
          const T* const column = b.data + j * b.stride;
          T sum{};
          for (std::size_t k = 0; k < size.inner; ++k) sum += a_at(k) * column[k];
          row[j] += sum;
        }
      } else {
        for (std::size_t k = 0; k < size.inner; ++k) {
          const T factor = a_at(k);
          const T* const b_row = b.data + k * b.stride;
          for (std::size_t j = 0; j < size.columns; ++j) row[j] += factor * b_row[j];
        }
      }
    }
  });
}

template <class T>
void convolve(const ConvSize& size, const ConvOperands<T>& operands) {
  for_each_pair(size, operands, size.out_elements(), [&](ChannelPair<T> pair) {
    const std::size_t in_group = size.channels_in / size.groups;
    const T* const weight =
        operands.weight +
        (pair.channel_out * in_group + pair.channel_in % in_group) * size.kernel_elements();
    for_each_tap(size, meeting, [&](std::size_t tap, Meeting depth, Meeting height, Meeting width) {
      const T factor = weight[tap];
      for (std::size_t d = depth.begin; d < depth.end; ++d) {
        for (std::size_t h = height.begin; h < height.end; ++h) {
          T* const out_line = pair.out + (d * size.out[1] + h) * size.out[2];
          const T* const in_line =
              pair.in + (shifted(d, size.stride[0], depth.offset) * size.in[1] +
                         shifted(h, size.stride[1], height.offset)) *
                            size.in[2];
          for (std::size_t w = width.begin; w < width.end; ++w) {
            out_line[w] += factor * in_line[shifted(w, size.stride[2], width.offset)];
          }
        }
      }
    });
  });
}

template <class T>
void convolve_transposed(const ConvSize& size, const ConvOperands<T>& operands) {
  for_each_pair(size, operands, size.in_elements(), [&](ChannelPair<T> pair) {
    const std::size_t out_group = size.channels_out / size.groups;
    const T* const weight =
        operands.weight +
        (pair.channel_in * out_group + pair.channel_out % out_group) * size.kernel_elements();
    for_each_tap(size, transposed_meeting,
                 [&](std::size_t tap, Meeting depth, Meeting height, Meeting width) {
                   const T factor = weight[tap];
                   for (std::size_t d = depth.begin; d < depth.end; ++d) {
                     for (std::size_t h = height.begin; h < height.end; ++h) {
                       const T* const in_line = pair.in + (d * size.in[1] + h) * size.in[2];
                       T* const out_line =
                           pair.out + (shifted(d, size.stride[0], depth.offset) * size.out[1] +
                                       shifted(h, size.stride[1], height.offset)) *
                                          size.out[2];
                       for (std::size_t w = width.begin; w < width.end; ++w) {
                         out_line[shifted(w, size.stride[2], width.offset)] += factor * in_line[w];
                       }
                     }
                   }
                 });
  });
}

template void multiply(ProductSize, MatrixView<float>, MatrixView<float>, ProductTarget<float>);
template void multiply(ProductSize, MatrixView<double>, MatrixView<double>, ProductTarget<double>);
template void convolve(const ConvSize&, const ConvOperands<float>&);
template void convolve(const ConvSize&, const ConvOperands<double>&);
template void convolve_transposed(const ConvSize&, const ConvOperands<float>&);
template void convolve_transposed(const ConvSize&, const ConvOperands<double>&);

}  // namespace nn::plain
}  // namespace andiron::inline v1
