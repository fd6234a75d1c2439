// SPDX-License-Identifier: MIT OR Apache-2.0
// Larger and smaller images.
//
//   nn::Interpolate2d twice = nn::Interpolate2dConfig().with_scale_factor({2, 2}).init();
//   Result<Tensor> larger = twice.forward(image);   // [batch, channels, height, width]
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "andiron/detail/builder.h"
#include "andiron/error.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {
namespace nn {

/// How a value between elements is found.
enum class InterpolateMode : std::uint8_t {
  nearest,  ///< the element at or before it, as PyTorch's "nearest"
  linear,   ///< between two, or four in two dimensions: PyTorch's "linear" and "bilinear"
  cubic,    ///< between four, or sixteen: PyTorch's "bicubic"
};

/// Resizes [batch, channels, length].
struct Interpolate1d {
  std::optional<std::uint64_t> output_size = {};
  std::optional<double> scale_factor = {};
  InterpolateMode mode = InterpolateMode::nearest;
  /// Whether the corners keep their place; not for nearest. Burn's default is true, PyTorch's
  /// false.
  bool align_corners = true;

  /// Fails with InvalidArgument unless exactly one of output size and scale is given, and with
  /// ShapeMismatch if the input has another rank or is empty. Link andiron::nn.
  Result<Tensor> forward(const Result<Tensor>& input) const;
  static void fields(auto&, auto&&) {}  // a module without parameters
};

/// Resizes [batch, channels, height, width].
struct Interpolate2d {
  std::optional<std::array<std::uint64_t, 2>> output_size = {};
  std::optional<std::array<double, 2>> scale_factor = {};
  InterpolateMode mode = InterpolateMode::nearest;
  bool align_corners = true;

  /// Fails as that of Interpolate1d does.
  Result<Tensor> forward(const Result<Tensor>& input) const;
  static void fields(auto&, auto&&) {}  // a module without parameters
};

/// The builders of both. Each changes the config and returns it: a named one by reference, a
/// temporary by value.
template <class Layer, class Size, class Scale>
class InterpolateConfig {
 public:
  /// The size of the result. Either this or a scale is needed.
  ANDIRON_BUILDER(InterpolateConfig, with_output_size, (Size size), layer_.output_size = size)
  /// How many times as large the result is; sizes are rounded down.
  ANDIRON_BUILDER(InterpolateConfig, with_scale_factor, (Scale scale), layer_.scale_factor = scale)
  /// Default: nearest.
  ANDIRON_BUILDER(InterpolateConfig, with_mode, (InterpolateMode mode), layer_.mode = mode)
  /// Default: true, as in Burn.
  ANDIRON_BUILDER(InterpolateConfig, with_align_corners, (bool align), layer_.align_corners = align)

  Layer init() const { return layer_; }

 private:
  Layer layer_ = {};
};
using Interpolate1dConfig = InterpolateConfig<Interpolate1d, std::uint64_t, double>;
using Interpolate2dConfig =
    InterpolateConfig<Interpolate2d, std::array<std::uint64_t, 2>, std::array<double, 2>>;

}  // namespace nn
}  // namespace andiron::inline v1
