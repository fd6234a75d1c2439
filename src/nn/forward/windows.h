// SPDX-License-Identifier: MIT OR Apache-2.0
// How windows lie on the dimensions of an image: for convolutions, pooling and unfolding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "andiron/error.h"
#include "andiron/nn/conv.h"
#include "andiron/shape.h"
#include "src/nn/forward/operand.h"

namespace andiron::inline v1 {
namespace nn {

// The windows of one dimension.
struct Windows {
  std::uint64_t kernel = 1;
  std::uint64_t stride = 1;
  std::uint64_t dilation = 1;
  PaddingKind padding_kind = PaddingKind::given;
  std::uint64_t before = 0;  // padding, where it is given
  std::uint64_t after = 0;

  std::uint64_t span() const { return (kernel - 1) * dilation + 1; }
  // With the padding that `size` elements need.
  Windows padded_for(std::uint64_t size) const;
};

// Fails with InvalidArgument for sizes of 0, and for sizes that no image has.
Status check(std::string_view layer, std::span<const Windows> windows);

// How many windows there are. Fails with ShapeMismatch if not even one fits.
Result<std::uint64_t> count_windows(std::string_view layer, const Windows& windows,
                                    const Shape& input, std::size_t dim);

// The paddings of layers as windows, one for each dimension.
std::array<Windows, 1> windows_of(std::uint64_t kernel, std::uint64_t stride,
                                  std::uint64_t dilation, const PaddingConfig1d& padding);
std::array<Windows, 2> windows_of(const std::array<std::uint64_t, 2>& kernel,
                                  const std::array<std::uint64_t, 2>& stride,
                                  const std::array<std::uint64_t, 2>& dilation,
                                  const PaddingConfig2d& padding);
std::array<Windows, 3> windows_of(const std::array<std::uint64_t, 3>& kernel,
                                  const std::array<std::uint64_t, 3>& stride,
                                  const std::array<std::uint64_t, 3>& dilation,
                                  const PaddingConfig3d& padding);

}  // namespace nn
}  // namespace andiron::inline v1
