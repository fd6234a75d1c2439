// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/conv_test.cpp
#include "andiron/nn/conv.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "src/nn/forward/convolution.h"
#include "src/nn/forward/operand.h"
#include "src/nn/forward/windows.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

// What all convolutions have.
struct Conv {
  std::string_view layer;
  const Param& weight;
  const std::optional<Param>& bias;
  std::uint64_t groups;
  std::span<const Windows> windows;
  bool is_transposed = false;
  std::span<const std::uint64_t> padding_out = {};
};

std::string input_text(std::size_t channels, std::size_t rank) {
  constexpr std::string_view sizes[] = {"length", "height, width", "depth, height, width"};
  return "[batch, " + std::to_string(channels) + ", " + std::string(sizes[rank - 1]) + "]";
}

// The number of elements of a dimension after a transposed convolution.
Result<std::uint64_t> transposed_size(const Conv& conv, const Windows& windows,
                                      std::uint64_t padding_out, const Shape& input,
                                      std::size_t dim) {
  const std::uint64_t covered =
      input[dim] == 0 ? 0 : (input[dim] - 1) * windows.stride + windows.span() + padding_out;
  if (covered > windows.before + windows.after) return covered - windows.before - windows.after;
  return shape_error(conv.layer, "the padding leaves nothing of the output", input,
                     "more elements in dimension " + std::to_string(dim));
}

template <class T>
Result<Tensor> run(const Conv& conv, const Operand<T>& input) {
  const std::size_t rank = conv.windows.size();
  ANDIRON_TRY(check(conv.layer, conv.windows));
  ANDIRON_ASSIGN(const Operand<T> weight, Operand<T>::of(conv.layer, "weight", conv.weight));
  if (weight.rank() != rank + 2 || conv.groups == 0 || weight.dim(0) % conv.groups != 0) {
    return shape_error(conv.layer, "its weight does not fit the layer", weight.shape(),
                       std::to_string(rank + 2) + " dimensions, the first a multiple of " +
                           std::to_string(conv.groups) + " groups");
  }
  const auto groups = static_cast<std::size_t>(conv.groups);
  const std::size_t channels_in = conv.is_transposed ? weight.dim(0) : weight.dim(1) * groups;
  const std::size_t channels_out = conv.is_transposed ? weight.dim(1) * groups : weight.dim(0);
  if (input.rank() != rank + 2 || input.dim(1) != channels_in) {
    return shape_error(conv.layer, "the input does not fit the layer", input.shape(),
                       input_text(channels_in, rank));
  }
  ANDIRON_ASSIGN(const std::optional<Operand<T>> bias,
                 optional_operand<T>(conv.layer, "bias", conv.bias));
  if (bias) ANDIRON_TRY(check_parameter(conv.layer, "bias", bias->shape(), Shape({channels_out})));

  ConvSize size = {.rank = rank,
                   .batch = input.dim(0),
                   .channels_in = channels_in,
                   .channels_out = channels_out,
                   .groups = groups,
                   .in = {1, 1, 1},
                   .out = {1, 1, 1},
                   .kernel = {1, 1, 1},
                   .stride = {1, 1, 1},
                   .dilation = {1, 1, 1},
                   .padding = {},
                   .padding_end = {}};
  Shape shape = input.shape();
  shape[1] = channels_out;
  for (std::size_t d = 0; d < rank; ++d) {
    const Windows windows = conv.windows[d].padded_for(input.shape()[d + 2]);
    if (weight.shape()[d + 2] != windows.kernel) {
      return shape_error(
          conv.layer, "its weight does not have the layer's kernel", weight.shape(),
          "size " + std::to_string(windows.kernel) + " in dimension " + std::to_string(d + 2));
    }
    if (conv.is_transposed) {
      ANDIRON_ASSIGN(shape[d + 2],
                     transposed_size(conv, windows, conv.padding_out[d], input.shape(), d + 2));
    } else {
      ANDIRON_ASSIGN(shape[d + 2], count_windows(conv.layer, windows, input.shape(), d + 2));
    }
    const std::size_t at = 3 - rank + d;
    size.in[at] = input.dim(d + 2);
    size.out[at] = static_cast<std::size_t>(shape[d + 2]);
    size.kernel[at] = static_cast<std::size_t>(windows.kernel);
    size.stride[at] = static_cast<std::size_t>(windows.stride);
    size.dilation[at] = static_cast<std::size_t>(windows.dilation);
    size.padding[at] = static_cast<std::size_t>(windows.before);
    size.padding_end[at] = static_cast<std::size_t>(windows.after);
  }
  ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(shape));
  if (out.size() == 0) return std::move(out).take();
  const ConvOperands<T> operands = {input.data(), weight.data(), bias ? bias->data() : nullptr,
                                    out.data()};
  conv.is_transposed ? convolve_transposed(size, operands) : convolve(size, operands);
  return std::move(out).take();
}

template <class Layer>
Result<Tensor> forward_conv(std::string_view name, const Layer& layer,
                            const Result<Tensor>& input) {
  const auto windows = windows_of(layer.kernel_size, layer.stride, layer.dilation, layer.padding);
  const Conv conv = {name, layer.weight, layer.bias, layer.groups, windows};
  return compute_with(name, input, [&](const auto& x) { return run(conv, x); });
}

std::array<std::uint64_t, 1> as_array(std::uint64_t size) { return {size}; }
template <std::size_t N>
std::array<std::uint64_t, N> as_array(const std::array<std::uint64_t, N>& sizes) {
  return sizes;
}

// The padding of a transposed convolution is cut off both ends of the output.
template <class Layer>
Result<Tensor> forward_transposed(std::string_view name, const Layer& layer,
                                  const Result<Tensor>& input) {
  if (!input) return input.error();
  const auto kernel = as_array(layer.kernel_size);
  const auto stride = as_array(layer.stride);
  const auto dilation = as_array(layer.dilation);
  const auto padding = as_array(layer.padding);
  const auto padding_out = as_array(layer.padding_out);
  std::array<Windows, kernel.size()> windows;
  for (std::size_t d = 0; d < windows.size(); ++d) {
    windows[d] = {kernel[d], stride[d], dilation[d], PaddingKind::given, padding[d], padding[d]};
    if (padding_out[d] != 0 && padding_out[d] >= std::max(stride[d], dilation[d])) {
      return argument_error(name, "the padding of the output is too large",
                            std::to_string(padding_out[d]), "less than the stride or dilation");
    }
  }
  const Conv conv = {name, layer.weight, layer.bias, layer.groups, windows, true, padding_out};
  return compute_with(name, input, [&](const auto& x) { return run(conv, x); });
}

}  // namespace

Result<Tensor> Conv1d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return forward_conv("Conv1d", *this, input);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> Conv2d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return forward_conv("Conv2d", *this, input);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> Conv3d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return forward_conv("Conv3d", *this, input);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> ConvTranspose1d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return forward_transposed("ConvTranspose1d", *this, input);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> ConvTranspose2d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return forward_transposed("ConvTranspose2d", *this, input);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> ConvTranspose3d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return forward_transposed("ConvTranspose3d", *this, input);
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace nn
}  // namespace andiron::inline v1
