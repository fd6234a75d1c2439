// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/encoding_test.cpp
#include "andiron/nn/encoding.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "src/nn/forward/operand.h"
#include "src/nn/forward/parallel.h"

namespace andiron::inline v1 {
namespace nn {

Result<Tensor> PositionalEncoding::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  if (!input) return input.error();
  if (d_model % 2 != 0 || max_timescale < max_sequence_size) {
    return argument_error(
        "PositionalEncoding", "invalid settings",
        "d_model " + std::to_string(d_model) + ", max_timescale " + std::to_string(max_timescale),
        "an even d_model, and a max_timescale of at least " + std::to_string(max_sequence_size));
  }
  return compute_with(
      "PositionalEncoding", input, [&]<class T>(const Operand<T>& x) -> Result<Tensor> {
        if (x.rank() != 3 || x.shape()[2] != d_model || x.shape()[1] > max_sequence_size) {
          return shape_error("PositionalEncoding", "the input does not fit the layer", x.shape(),
                             "[batch, at most " + std::to_string(max_sequence_size) + ", " +
                                 std::to_string(d_model) + "]");
        }
        ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(x.shape()));
        const std::size_t width = x.dim(2);
        const double step =
            -std::log(static_cast<double>(max_timescale)) / static_cast<double>(width);
        const std::size_t row = x.dim(1) * width;
        parallel_for(row / 2, element_grain / 16, [&](std::size_t begin, std::size_t end) {
          for (std::size_t pair = begin; pair < end; ++pair) {
            const std::size_t at = pair * 2;
            const std::size_t position = at / width;
            const double angle =
                std::exp(static_cast<double>(at % width) * step) * static_cast<double>(position);
            const auto sine = static_cast<T>(std::sin(angle));
            const auto cosine = static_cast<T>(std::cos(angle));
            for (std::size_t i = at; i < x.size(); i += row) {
              out.data()[i] = x.data()[i] + sine;
              out.data()[i + 1] = x.data()[i + 1] + cosine;
            }
          }
        });
        return std::move(out).take();
      });
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> RotaryEncoding::apply(const Result<Tensor>& input, std::uint64_t start) const
    ANDIRON_NO_THROW {
  if (!input) return input.error();
  if (d_model % 2 != 0 || !(theta > 0)) {
    return argument_error("RotaryEncoding", "invalid settings",
                          "d_model " + std::to_string(d_model) + ", theta " + std::to_string(theta),
                          "an even d_model, and a theta above 0");
  }
  return compute_with("RotaryEncoding", input, [&]<class T>(const Operand<T>& x) -> Result<Tensor> {
    const std::size_t rank = x.rank();
    if (rank < 2 || x.shape()[rank - 1] != d_model || start > max_sequence_length ||
        x.shape()[rank - 2] > max_sequence_length - start) {
      return shape_error("RotaryEncoding", "the input does not fit the layer", x.shape(),
                         "[..., at most " + std::to_string(max_sequence_length) + " from " +
                             std::to_string(start) + ", " + std::to_string(d_model) + "]");
    }
    ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(x.shape()));
    if (out.size() == 0) return std::move(out).take();
    const std::size_t length = std::max<std::size_t>(x.dim(rank - 2), 1);
    const std::size_t width = x.dim(rank - 1);
    const std::size_t half = width / 2;
    struct Rotation {
      T cosine;
      T sine;
    };
    std::vector<Rotation> rotations(length * half);
    for (std::size_t i = 0; i < half; ++i) {
      // In floats whatever T is: models are trained with these angles.
      const float exponent = static_cast<float>(2 * i) / static_cast<float>(width);
      const float step = 1 / static_cast<float>(std::pow(theta, static_cast<double>(exponent)));
      for (std::size_t position = 0; position < length; ++position) {
        const auto angle = static_cast<double>(static_cast<float>(start + position) * step);
        rotations[position * half + i] = {static_cast<T>(std::cos(angle)),
                                          static_cast<T>(std::sin(angle))};
      }
    }
    const bool are_neighbors = pairs == RotaryPairs::neighbors;
    const std::size_t distance = are_neighbors ? 1 : half;
    parallel_for(x.size() / width, row_grain(width), [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        const Rotation* const turns = rotations.data() + row % length * half;
        for (std::size_t i = 0; i < half; ++i) {
          const std::size_t at = row * width + (are_neighbors ? 2 * i : i);
          const T a = x.data()[at];
          const T b = x.data()[at + distance];
          out.data()[at] = a * turns[i].cosine - b * turns[i].sine;
          out.data()[at + distance] = b * turns[i].cosine + a * turns[i].sine;
        }
      }
    });
    return std::move(out).take();
  });
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace nn
}  // namespace andiron::inline v1
