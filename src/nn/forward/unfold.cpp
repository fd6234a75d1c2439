// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/unfold_test.cpp
#include "andiron/nn/unfold.h"

#include "src/nn/forward/operand.h"
#include "src/nn/forward/parallel.h"
#include "src/nn/forward/windows.h"

namespace andiron::inline v1 {
namespace nn {

Result<Tensor> Unfold4d::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  const auto windows =
      windows_of(kernel_size, stride, dilation, PaddingConfig2d::explicit_(padding[0], padding[1]));
  if (!input) return input.error();
  ANDIRON_TRY(check("Unfold4d", windows));
  return compute_with("Unfold4d", input, [&]<class T>(const Operand<T>& x) -> Result<Tensor> {
    if (x.rank() != 4) {
      return shape_error("Unfold4d", "the input does not fit the layer", x.shape(),
                         "[batch, channels, height, width]");
    }
    ANDIRON_ASSIGN(const std::uint64_t rows, count_windows("Unfold4d", windows[0], x.shape(), 2));
    ANDIRON_ASSIGN(const std::uint64_t columns,
                   count_windows("Unfold4d", windows[1], x.shape(), 3));
    // A product of sizes below may be beyond 64 bits.
    ANDIRON_TRY(Shape({x.shape()[0], x.shape()[1], kernel_size[0], kernel_size[1], rows, columns})
                    .byte_count(ElementOf<T>::dtype));
    const std::uint64_t taps = kernel_size[0] * kernel_size[1];
    ANDIRON_ASSIGN(NewTensor<T> out,
                   NewTensor<T>::of({x.shape()[0], x.shape()[1] * taps, rows * columns}));
    const std::size_t height = x.dim(2);
    const std::size_t width = x.dim(3);
    const auto line = static_cast<std::size_t>(rows * columns);
    const std::size_t lines = line == 0 ? 0 : out.size() / line;
    parallel_for(lines, row_grain(line), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const T* const plane = x.data() + i / taps * height * width;
        const std::size_t tap = i % taps;
        T* to = out.data() + i * line;
        for (std::size_t r = 0; r < rows; ++r) {
          // What lies before the image wraps around and is past its end.
          const std::uint64_t y = r * stride[0] + tap / kernel_size[1] * dilation[0] - padding[0];
          for (std::size_t c = 0; c < columns; ++c) {
            const std::uint64_t at =
                c * stride[1] + tap % kernel_size[1] * dilation[1] - padding[1];
            *to++ = y < height && at < width ? plane[y * width + at] : T{0};
          }
        }
      }
    });
    return std::move(out).take();
  });
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace nn
}  // namespace andiron::inline v1
