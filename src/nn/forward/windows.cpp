// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/conv_test.cpp and tests/nn/pool_test.cpp
#include "src/nn/forward/windows.h"

#include <algorithm>
#include <string>

namespace andiron::inline v1 {
namespace nn {

Windows Windows::padded_for(std::uint64_t size) const {
  Windows padded = *this;
  padded.padding_kind = PaddingKind::given;
  if (padding_kind == PaddingKind::valid) {
    padded.before = padded.after = 0;
  } else if (padding_kind == PaddingKind::same) {
    const std::uint64_t count = (size + stride - 1) / stride;
    const std::uint64_t needed = count == 0 ? 0 : (count - 1) * stride + span();
    const std::uint64_t total = needed > size ? needed - size : 0;
    padded.before = total / 2;
    padded.after = total - padded.before;
  }
  return padded;
}

Status check(std::string_view layer, std::span<const Windows> windows) {
  // Larger ones would overflow what is computed with them.
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  for (const Windows& one : windows) {
    for (const auto& [name, size, least] :
         {std::tuple("kernel", one.kernel, 1u), std::tuple("stride", one.stride, 1u),
          std::tuple("dilation", one.dilation, 1u), std::tuple("padding", one.before, 0u),
          std::tuple("padding", one.after, 0u)}) {
      if (size >= least && size <= most) continue;
      return argument_error(layer, std::string("invalid ") + name, "size " + std::to_string(size),
                            std::to_string(least) + " to " + std::to_string(most));
    }
  }
  return {};
}

Result<std::uint64_t> count_windows(std::string_view layer, const Windows& windows,
                                    const Shape& input, std::size_t dim) {
  const std::uint64_t size = input[dim] + windows.before + windows.after;
  if (size >= windows.span()) return (size - windows.span()) / windows.stride + 1;
  return shape_error(layer, "the input is smaller than the kernel", input,
                     "at least " + std::to_string(windows.span() - windows.before - windows.after) +
                         " elements in dimension " + std::to_string(dim));
}

std::array<Windows, 1> windows_of(std::uint64_t kernel, std::uint64_t stride,
                                  std::uint64_t dilation, const PaddingConfig1d& padding) {
  return {Windows{kernel, stride, dilation, padding.kind, padding.left, padding.right}};
}

std::array<Windows, 2> windows_of(const std::array<std::uint64_t, 2>& kernel,
                                  const std::array<std::uint64_t, 2>& stride,
                                  const std::array<std::uint64_t, 2>& dilation,
                                  const PaddingConfig2d& padding) {
  return {Windows{kernel[0], stride[0], dilation[0], padding.kind, padding.top, padding.bottom},
          Windows{kernel[1], stride[1], dilation[1], padding.kind, padding.left, padding.right}};
}

std::array<Windows, 3> windows_of(const std::array<std::uint64_t, 3>& kernel,
                                  const std::array<std::uint64_t, 3>& stride,
                                  const std::array<std::uint64_t, 3>& dilation,
                                  const PaddingConfig3d& padding) {
  return {Windows{kernel[0], stride[0], dilation[0], padding.kind, padding.depth, padding.depth},
          Windows{kernel[1], stride[1], dilation[1], padding.kind, padding.height, padding.height},
          Windows{kernel[2], stride[2], dilation[2], padding.kind, padding.width, padding.width}};
}

}  // namespace nn
}  // namespace andiron::inline v1
