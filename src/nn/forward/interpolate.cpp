// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/interpolate_test.cpp
#include "andiron/nn/interpolate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "src/nn/forward/operand.h"
#include "src/nn/forward/parallel.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

// What one element of the result is made of along a dimension: up to four elements and their
// weights.
template <class T>
struct Mix {
  std::array<std::size_t, 4> index;
  std::array<T, 4> weight;
};

template <class T>
struct Axis {
  std::vector<Mix<T>> mixes;
  std::size_t taps;  // elements of each mix: 1, 2 or 4
};

// The cubic of Keys with a = -0.75, as PyTorch has it.
double cubic_weight(double distance) {
  constexpr double a = -0.75;
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

// `scale` is the one that was asked for, if any: distances follow it, as in PyTorch, not the sizes,
// which were rounded.
template <class T>
Axis<T> axis_of(InterpolateMode mode, bool align_corners, std::size_t in, std::size_t out,
                const double* scale) {
  Axis<T> axis = {{},
                  mode == InterpolateMode::nearest  ? 1u
                  : mode == InterpolateMode::linear ? 2u
                                                    : 4u};
  // A size that stays is not resampled.
  const bool is_resized = in != out || mode != InterpolateMode::linear;
  const double ratio = scale != nullptr && is_resized
                           ? 1 / *scale
                           : static_cast<double>(in) / static_cast<double>(out);
  const double aligned = out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
  for (std::size_t i = 0; i < out; ++i) {
    Mix<T> mix = {};
    const auto position = static_cast<double>(i);
    if (mode == InterpolateMode::nearest) {
      // In floats whatever T is, as in PyTorch.
      const float source = std::floor(static_cast<float>(i) * static_cast<float>(ratio));
      mix.index[0] = std::min(static_cast<std::size_t>(source), in - 1);
      mix.weight[0] = 1;
    } else {
      double source = align_corners ? position * aligned : (position + 0.5) * ratio - 0.5;
      if (mode == InterpolateMode::linear) source = std::max(source, 0.0);
      const double floor = std::floor(source);
      const double part = source - floor;
      const auto first = static_cast<std::ptrdiff_t>(floor);
      const auto clamped = [&](std::ptrdiff_t index) {
        return static_cast<std::size_t>(
            std::clamp<std::ptrdiff_t>(index, 0, static_cast<std::ptrdiff_t>(in) - 1));
      };
      if (mode == InterpolateMode::linear) {
        mix.index = {clamped(first), clamped(first + 1)};
        mix.weight = {static_cast<T>(1 - part), static_cast<T>(part)};
      } else {
        for (std::size_t tap = 0; tap < 4; ++tap) {
          const auto offset = static_cast<std::ptrdiff_t>(tap) - 1;
          mix.index[tap] = clamped(first + offset);
          mix.weight[tap] = static_cast<T>(cubic_weight(part - static_cast<double>(offset)));
        }
      }
    }
    axis.mixes.push_back(mix);
  }
  return axis;
}

template <class T>
Axis<T> no_axis() {
  return {{{{0}, {1}}}, 1};
}

template <class T>
Result<Tensor> run(const Operand<T>& x, Shape shape, const Axis<T>& rows, const Axis<T>& columns) {
  ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(std::move(shape)));
  if (out.size() == 0) return std::move(out).take();
  const std::size_t width = x.dim(x.rank() - 1);
  const std::size_t planes = x.dim(0) * x.dim(1);
  const std::size_t plane_in = x.size() / planes;
  const std::size_t plane_out = out.size() / planes;
  parallel_for(planes, row_grain(plane_out), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const T* const from = x.data() + i * plane_in;
      T* to = out.data() + i * plane_out;
      for (const Mix<T>& row : rows.mixes) {
        for (const Mix<T>& column : columns.mixes) {
          T sum = 0;
          for (std::size_t r = 0; r < rows.taps; ++r) {
            const T* const line = from + row.index[r] * width;
            T along = 0;
            for (std::size_t c = 0; c < columns.taps; ++c) {
              along += column.weight[c] * line[column.index[c]];
            }
            sum += row.weight[r] * along;
          }
          *to++ = sum;
        }
      }
    }
  });
  return std::move(out).take();
}

// The size of one dimension of the result.
Result<std::size_t> size_of(std::string_view layer, const std::uint64_t* given, const double* scale,
                            std::size_t in) {
  constexpr double most = 1 << 30;
  if ((given == nullptr) == (scale == nullptr)) {
    return argument_error(layer, "cannot tell the size of the result",
                          given == nullptr ? "neither an output size nor a scale factor"
                                           : "an output size and a scale factor",
                          "one of them");
  }
  const double size =
      given != nullptr ? static_cast<double>(*given) : std::floor(static_cast<double>(in) * *scale);
  if (!(size >= 1 && size <= most)) {
    return argument_error(layer, "invalid size of the result", std::to_string(size),
                          "1 to " + std::to_string(static_cast<std::uint64_t>(most)));
  }
  return static_cast<std::size_t>(size);
}

template <std::size_t rank>
struct Sizes {
  const std::uint64_t* given;  // nullptr, or one for each dimension
  const double* scale;
};

template <std::size_t rank>
Result<Tensor> interpolate(std::string_view layer, const Result<Tensor>& input, Sizes<rank> sizes,
                           InterpolateMode mode, bool align_corners) {
  return compute_with(layer, input, [&]<class T>(const Operand<T>& x) -> Result<Tensor> {
    if (x.rank() != rank + 2 || x.dim(2) == 0 || x.dim(x.rank() - 1) == 0) {
      return shape_error(
          layer, "the input does not fit the layer", x.shape(),
          rank == 1 ? "[batch, channels, length]" : "[batch, channels, height, width]");
    }
    Shape shape = x.shape();
    std::array<Axis<T>, 2> axes = {no_axis<T>(), no_axis<T>()};
    for (std::size_t d = 0; d < rank; ++d) {
      ANDIRON_ASSIGN(const std::size_t out,
                     size_of(layer, sizes.given == nullptr ? nullptr : sizes.given + d,
                             sizes.scale == nullptr ? nullptr : sizes.scale + d, x.dim(d + 2)));
      shape[d + 2] = out;
      axes[2 - rank + d] = axis_of<T>(mode, align_corners, x.dim(d + 2), out,
                                      sizes.scale == nullptr ? nullptr : sizes.scale + d);
    }
    return run(x, shape, axes[0], axes[1]);
  });
}

}  // namespace

Result<Tensor> Interpolate1d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  const Sizes<1> sizes = {output_size ? &*output_size : nullptr,
                          scale_factor ? &*scale_factor : nullptr};
  return interpolate("Interpolate1d", input, sizes, mode, align_corners);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> Interpolate2d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  const Sizes<2> sizes = {output_size ? output_size->data() : nullptr,
                          scale_factor ? scale_factor->data() : nullptr};
  return interpolate("Interpolate2d", input, sizes, mode, align_corners);
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace nn
}  // namespace andiron::inline v1
