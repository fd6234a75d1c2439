// SPDX-License-Identifier: MIT OR Apache-2.0
// The windows of an image as columns.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <array>
#include <cstdint>

#include "andiron/detail/builder.h"
#include "andiron/error.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {
namespace nn {

/// Takes [batch, channels, height, width] and returns [batch, channels * kernel elements, windows],
/// as PyTorch's Unfold does. Padding is zeros.
struct Unfold4d {
  std::array<std::uint64_t, 2> kernel_size = {1, 1};
  std::array<std::uint64_t, 2> stride = {1, 1};
  std::array<std::uint64_t, 2> dilation = {1, 1};
  std::array<std::uint64_t, 2> padding = {};

  /// Fails with ShapeMismatch if the input has another rank or is smaller than the kernel, and with
  /// InvalidArgument for a kernel, stride or dilation of size 0. Link andiron::nn.
  Result<Tensor> forward(const Result<Tensor>& input) const;
  static void fields(auto&, auto&&) {}  // a module without parameters
};

/// Config of Unfold4d. Builders return a named config by reference, a temporary by value.
class Unfold4dConfig {
 public:
  explicit Unfold4dConfig(std::array<std::uint64_t, 2> kernel_size)
      : unfold_{.kernel_size = kernel_size} {}

  /// Default: 1.
  ANDIRON_BUILDER(Unfold4dConfig, with_stride, (std::array<std::uint64_t, 2> stride),
                  unfold_.stride = stride)
  /// Default: 1.
  ANDIRON_BUILDER(Unfold4dConfig, with_dilation, (std::array<std::uint64_t, 2> dilation),
                  unfold_.dilation = dilation)
  /// On both sides. Default: 0.
  ANDIRON_BUILDER(Unfold4dConfig, with_padding, (std::array<std::uint64_t, 2> padding),
                  unfold_.padding = padding)

  Unfold4d init() const { return unfold_; }

 private:
  Unfold4d unfold_;
};

}  // namespace nn
}  // namespace andiron::inline v1
