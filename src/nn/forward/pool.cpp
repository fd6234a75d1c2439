// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/pool_test.cpp
#include "andiron/nn/pool.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "src/nn/forward/operand.h"
#include "src/nn/forward/parallel.h"
#include "src/nn/forward/windows.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

// The elements of one window along one dimension: begin, begin + step ... before end.
struct Window {
  std::size_t begin;
  std::size_t end;
  std::size_t counted;  // with the padding that counts
};

// All windows of one dimension.
struct Axis {
  std::vector<Window> windows = {};
  std::size_t step = 1;
};

struct Settings {
  std::string_view layer;
  bool takes_largest;
  bool ceil_mode = false;
  bool count_include_pad = true;
};

Result<Axis> axis_of(const Settings& settings, const Windows& layer_windows, const Shape& input,
                     std::size_t dim) {
  const std::uint64_t size = input[dim];
  const Windows windows = layer_windows.padded_for(size);
  if (layer_windows.padding_kind == PaddingKind::given &&
      std::max(windows.before, windows.after) > windows.span() / 2) {
    return argument_error(settings.layer, "the padding is too large",
                          std::to_string(std::max(windows.before, windows.after)),
                          "at most half the kernel, " + std::to_string(windows.span() / 2));
  }
  const std::uint64_t padded = size + windows.before + windows.after;
  std::uint64_t count = 1;  // a window that reaches over the end of a short input
  if (!settings.ceil_mode || padded >= windows.span() || size == 0 ||
      padded + windows.stride <= windows.span()) {
    ANDIRON_ASSIGN(count, count_windows(settings.layer, windows, input, dim));
  }
  if (settings.ceil_mode && padded > windows.span()) {
    // A window must not begin in the padding after the last element.
    const bool has_rest = (padded - windows.span()) % windows.stride != 0;
    if (has_rest && count * windows.stride < size + windows.before) ++count;
  }
  Axis axis = {.step = static_cast<std::size_t>(windows.dilation)};
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t start = i * windows.stride;  // in the padded dimension
    const std::uint64_t end = std::min(start + windows.span(), padded);
    // The elements of the window that are padding before the first.
    const std::uint64_t outside = start < windows.before ? windows.before - start : 0;
    const std::uint64_t skipped = (outside + windows.dilation - 1) / windows.dilation;
    const std::uint64_t begin = start + skipped * windows.dilation - windows.before;
    const std::uint64_t stop = std::min(end > windows.before ? end - windows.before : 0, size);
    axis.windows.push_back(
        {static_cast<std::size_t>(begin), static_cast<std::size_t>(std::max(begin, stop)),
         static_cast<std::size_t>(settings.count_include_pad ? end - start
                                                             : std::max(begin, stop) - begin)});
  }
  return axis;
}

Result<Axis> adaptive_axis(const Settings& settings, std::uint64_t output, const Shape& input,
                           std::size_t dim) {
  const std::uint64_t size = input[dim];
  if (output == 0 || output > std::uint64_t{1} << 30) {
    return argument_error(settings.layer, "invalid output size", std::to_string(output),
                          "at least 1");
  }
  if (size == 0) {
    return shape_error(settings.layer, "the input is empty", input,
                       "at least one element in dimension " + std::to_string(dim));
  }
  Axis axis;
  for (std::uint64_t i = 0; i < output; ++i) {
    const auto begin = static_cast<std::size_t>(i * size / output);
    const auto end = static_cast<std::size_t>(((i + 1) * size + output - 1) / output);
    axis.windows.push_back({begin, end, end - begin});
  }
  return axis;
}

template <class T>
T largest_in(const T* plane, std::size_t width, const Axis& rows, const Window& row,
             const Axis& columns, const Window& column) {
  T most = -std::numeric_limits<T>::infinity();
  for (std::size_t i = row.begin; i < row.end; i += rows.step) {
    for (std::size_t j = column.begin; j < column.end; j += columns.step) {
      const T value = plane[i * width + j];
      if (value > most || std::isnan(value)) most = value;
    }
  }
  return most;
}

template <class T>
T mean_in(const T* plane, std::size_t width, const Window& row, const Window& column) {
  T sum = 0;
  for (std::size_t i = row.begin; i < row.end; ++i) {
    for (std::size_t j = column.begin; j < column.end; ++j) sum += plane[i * width + j];
  }
  return sum / static_cast<T>(row.counted * column.counted);
}

// Pools the planes of [batch, channels, height, width], or [batch, channels, width].
template <class T>
Result<Tensor> run(const Settings& settings, const Operand<T>& x, const Axis& rows,
                   const Axis& columns) {
  const bool has_rows = x.rank() == 4;
  const Shape shape = has_rows
                          ? Shape{x.dim(0), x.dim(1), rows.windows.size(), columns.windows.size()}
                          : Shape{x.dim(0), x.dim(1), columns.windows.size()};
  ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(shape));
  const std::size_t planes = x.dim(0) * x.dim(1);
  if (out.size() == 0) return std::move(out).take();
  const std::size_t width = x.dim(has_rows ? 3 : 2);
  const std::size_t plane_in = x.size() / planes;
  const std::size_t plane_out = out.size() / planes;
  parallel_for(planes, row_grain(plane_in), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const T* const from = x.data() + i * plane_in;
      T* to = out.data() + i * plane_out;
      for (const Window& row : rows.windows) {
        for (const Window& column : columns.windows) {
          *to++ = settings.takes_largest ? largest_in(from, width, rows, row, columns, column)
                                         : mean_in(from, width, row, column);
        }
      }
    }
  });
  return std::move(out).take();
}

// One window over a dimension that is not there.
Axis no_axis() { return {.windows = {{0, 1, 1}}}; }

// make_axis(d, dimension of the input) gives the windows of each of `rank` dimensions.
template <class MakeAxis>
Result<Tensor> pool(const Settings& settings, std::size_t rank, const Result<Tensor>& input,
                    const MakeAxis& make_axis) {
  return compute_with(settings.layer, input, [&](const auto& x) -> Result<Tensor> {
    if (x.rank() != rank + 2) {
      return shape_error(
          settings.layer, "the input does not fit the layer", x.shape(),
          rank == 1 ? "[batch, channels, length]" : "[batch, channels, height, width]");
    }
    Axis rows = no_axis();
    if (rank == 2) {
      ANDIRON_ASSIGN(rows, make_axis(0, x.shape(), 2));
    }
    ANDIRON_ASSIGN(const Axis columns, make_axis(rank - 1, x.shape(), rank + 1));
    return run(settings, x, rows, columns);
  });
}

template <std::size_t rank>
Result<Tensor> pool_windows(const Settings& settings, const std::array<Windows, rank>& windows,
                            const Result<Tensor>& input) {
  if (!input) return input.error();
  ANDIRON_TRY(check(settings.layer, windows));
  return pool(settings, rank, input, [&](std::size_t d, const Shape& shape, std::size_t dim) {
    return axis_of(settings, windows[d], shape, dim);
  });
}

template <std::size_t rank>
Result<Tensor> pool_adaptively(const Settings& settings,
                               const std::array<std::uint64_t, rank>& output,
                               const Result<Tensor>& input) {
  return pool(settings, rank, input, [&](std::size_t d, const Shape& shape, std::size_t dim) {
    return adaptive_axis(settings, output[d], shape, dim);
  });
}

constexpr std::array<std::uint64_t, 2> ones = {1, 1};

}  // namespace

Result<Tensor> MaxPool1d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return pool_windows({"MaxPool1d", true, ceil_mode},
                      windows_of(kernel_size, stride, dilation, padding), input);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> MaxPool2d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return pool_windows({"MaxPool2d", true, ceil_mode},
                      windows_of(kernel_size, stride, dilation, padding), input);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> AvgPool1d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return pool_windows({"AvgPool1d", false, ceil_mode, count_include_pad},
                      windows_of(kernel_size, stride, 1, padding), input);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> AvgPool2d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return pool_windows({"AvgPool2d", false, ceil_mode, count_include_pad},
                      windows_of(kernel_size, stride, ones, padding), input);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> AdaptiveAvgPool1d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return pool_adaptively<1>({"AdaptiveAvgPool1d", false}, {output_size}, input);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> AdaptiveAvgPool2d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return pool_adaptively<2>({"AdaptiveAvgPool2d", false}, output_size, input);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> AdaptiveMaxPool1d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return pool_adaptively<1>({"AdaptiveMaxPool1d", true}, {output_size}, input);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> AdaptiveMaxPool2d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return pool_adaptively<2>({"AdaptiveMaxPool2d", true}, output_size, input);
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace nn
}  // namespace andiron::inline v1
