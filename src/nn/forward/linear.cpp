// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/linear_test.cpp
#include "src/nn/forward/linear.h"

#include <algorithm>

#include "andiron/detail/leaf_ops.h"
#include "andiron/nn/activation.h"
#include "andiron/nn/functions.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/swiglu.h"
#include "src/core/quantized_rows.h"
#include "src/nn/forward/parallel.h"
#include "src/nn/forward/product.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

// Each row of [rows, columns] becomes the bias.
template <class T>
void fill_rows(T* out, std::size_t rows, std::size_t columns, const T* bias) {
  parallel_for(rows, row_grain(columns), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) std::copy_n(bias, columns, out + i * columns);
  });
}

// Whether a weight is made floats in parts: all of it would be more memory than the weight itself,
// and written and read again slower than the product is computed.
bool is_taken_in_parts(const Tensor& weight) {
  const DType dtype = weight.dtype();
  return (dtype == DType::f16 || dtype == DType::bf16 ||
          (dtype == DType::qfloat && detail::has_quantized_rows(weight)));
}

// Some rows of such a weight.
Result<Tensor> rows_of(const Tensor& weight, std::size_t first, std::size_t count) {
  if (weight.dtype() == DType::qfloat) return detail::dequantize_rows(weight, first, count);
  const auto columns = static_cast<std::size_t>(weight.shape()[1]);
  const std::size_t row = columns * bit_width(weight.dtype()) / 8;
  ANDIRON_ASSIGN(Bytes bytes, weight.bytes().slice(first * row, count * row));
  return Tensor::from_bytes(weight.dtype(), {count, columns}, std::move(bytes));
}

template <class T>
Status multiply_in_parts(std::string_view layer, ProductSize size, const T* input,
                         const Tensor& weight, bool is_transposed, T* out, bool adds) {
  constexpr std::size_t most_elements = std::size_t{1} << 18;
  const std::size_t rows = is_transposed ? size.columns : size.inner;
  const std::size_t columns = is_transposed ? size.inner : size.columns;
  const std::size_t step =
      std::max<std::size_t>(1, most_elements / std::max<std::size_t>(columns, 1));
  for (std::size_t first = 0; first < rows; first += step) {
    const std::size_t count = std::min(step, rows - first);
    ANDIRON_ASSIGN(const Tensor some, rows_of(weight, first, count));
    ANDIRON_ASSIGN(const Operand<T> part, Operand<T>::of(layer, some));
    if (is_transposed) {
      multiply({size.rows, count, columns}, {input, columns}, {part.data(), columns, true},
               {out + first, size.columns, adds});
    } else {
      multiply({size.rows, columns, count}, {input + first, rows}, {part.data(), columns},
               {out, columns, adds || first > 0});
    }
  }
  return {};
}

}  // namespace

template <class T>
Result<Tensor> affine(std::string_view layer, const Operand<T>& input, const Param& weight,
                      const std::optional<Param>& bias) {
  // A tied weight is used as it is stored, with rows and columns exchanged.
  const bool is_transposed = weight.is_transposed();
  Result<Tensor> value = detail::ParamAccess::stored(weight);
  if (!value) return parameter_error(layer, "weight", std::move(value).error());
  const Tensor stored = *std::move(value);
  if (stored.shape().rank() != 2) {
    return shape_error(layer, "its weight is not a matrix", stored.shape(), "[d_input, d_output]");
  }
  const auto d_input = static_cast<std::size_t>(stored.shape()[is_transposed ? 1 : 0]);
  const auto d_output = static_cast<std::size_t>(stored.shape()[is_transposed ? 0 : 1]);
  if (input.rank() == 0 || input.dim(input.rank() - 1) != d_input) {
    return shape_error(layer, "the input does not fit the weight", input.shape(),
                       "[..., " + std::to_string(d_input) + "] for the weight [" +
                           std::to_string(d_input) + ", " + std::to_string(d_output) + "]");
  }
  Shape shape = input.shape();
  shape[shape.rank() - 1] = d_output;
  ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(shape));
  const std::size_t rows =
      d_input == 0 ? out.size() / std::max<std::size_t>(d_output, 1) : input.size() / d_input;
  ANDIRON_ASSIGN(const std::optional<Operand<T>> added, optional_operand<T>(layer, "bias", bias));
  if (added) {
    ANDIRON_TRY(check_parameter(layer, "bias", added->shape(), Shape({d_output})));
    fill_rows(out.data(), rows, d_output, added->data());
  }
  const ProductSize size = {rows, d_output, d_input};
  if (d_input != 0 && is_taken_in_parts(stored)) {
    ANDIRON_TRY(multiply_in_parts(layer, size, input.data(), stored, is_transposed, out.data(),
                                  added.has_value()));
  } else {
    ANDIRON_ASSIGN(const Operand<T> matrix, Operand<T>::of(layer, stored));
    multiply(size, {input.data(), d_input},
             {matrix.data(), is_transposed ? d_input : d_output, is_transposed},
             {out.data(), d_output, added.has_value()});
  }
  return std::move(out).take();
}

template Result<Tensor> affine(std::string_view, const Operand<float>&, const Param&,
                               const std::optional<Param>&);
template Result<Tensor> affine(std::string_view, const Operand<double>&, const Param&,
                               const std::optional<Param>&);

Result<Tensor> Linear::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return compute_with("Linear", input,
                      [&](const auto& x) { return affine("Linear", x, weight, bias); });
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> Conv1D::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return compute_with("Conv1D", input,
                      [&](const auto& x) { return affine("Conv1D", x, weight, bias); });
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> SwiGlu::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return multiply(silu(linear_inner.forward(input)), linear_outer.forward(input));
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace nn
}  // namespace andiron::inline v1
