// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/embedding_test.cpp
#include "andiron/nn/embedding.h"

#include <cstring>
#include <vector>

#include "src/core/quantized_rows.h"
#include "src/nn/forward/operand.h"
#include "src/nn/forward/parallel.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

constexpr std::uint64_t invalid = ~std::uint64_t{0};

template <class T>
Result<std::vector<std::uint64_t>> widened(const Tensor& indices) {
  ANDIRON_ASSIGN(const std::vector<T> values, indices.to_vector<T>());
  std::vector<std::uint64_t> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    result[i] = values[i] < 0 ? invalid : static_cast<std::uint64_t>(values[i]);
  }
  return result;
}

// The indices; those below 0 as `invalid`.
Result<std::vector<std::uint64_t>> read_indices(const Tensor& indices) {
  switch (indices.dtype()) {
    case DType::u8:
      return widened<std::uint8_t>(indices);
    case DType::i8:
      return widened<std::int8_t>(indices);
    case DType::u16:
      return widened<std::uint16_t>(indices);
    case DType::i16:
      return widened<std::int16_t>(indices);
    case DType::u32:
      return widened<std::uint32_t>(indices);
    case DType::i32:
      return widened<std::int32_t>(indices);
    case DType::u64:
      return widened<std::uint64_t>(indices);
    case DType::i64:
      return widened<std::int64_t>(indices);
    default:
      return Error{.code = ErrorCode::dtype_mismatch,
                   .message = "Embedding: the indices are not integers",
                   .found = indices.dtype_text(),
                   .expected = "an integer dtype, such as i64"};
  }
}

// The shape of the result: that of the indices, and the width of the table.
Shape rows_shape(const Tensor& indices, const Tensor& table) {
  std::vector<std::uint64_t> dims(indices.shape().begin(), indices.shape().end());
  dims.push_back(table.shape()[1]);
  return Shape(std::span<const std::uint64_t>(dims));
}

// The rows of a table, in its dtype.
Result<Tensor> look_up(const Tensor& indices, const std::vector<std::uint64_t>& rows,
                       const Tensor& table) {
  const Shape shape = rows_shape(indices, table);
  ANDIRON_ASSIGN(const std::uint64_t size, shape.byte_count(table.dtype()));
  ANDIRON_ASSIGN(Bytes bytes, Bytes::allocate(size));
  std::byte* const out = bytes.writable().data();
  const std::size_t row_bytes = rows.empty() ? 0 : static_cast<std::size_t>(size / rows.size());
  if (row_bytes > 0) {
    parallel_for(rows.size(), row_grain(row_bytes), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        std::memcpy(out + i * row_bytes, table.bytes().data() + rows[i] * row_bytes, row_bytes);
      }
    });
  }
  return Tensor::from_bytes(table.dtype(), shape, std::move(bytes));
}

// The same of a quantized table, of which only these rows are dequantized.
Result<Tensor> look_up_quantized(const Tensor& indices, const std::vector<std::uint64_t>& rows,
                                 const Tensor& table) {
  ANDIRON_ASSIGN(NewTensor<float> out, NewTensor<float>::of(rows_shape(indices, table)));
  const auto columns = static_cast<std::size_t>(table.shape()[1]);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ANDIRON_ASSIGN(const Tensor row, detail::dequantize_rows(table, rows[i], 1));
    std::memcpy(out.data() + i * columns, row.bytes().data(), row.byte_size());
  }
  return std::move(out).take();
}

}  // namespace

Result<Tensor> Embedding::forward(const Result<Tensor>& indices) const ANDIRON_NO_THROW {
  if (!indices) return indices.error();
  ANDIRON_ASSIGN(const std::vector<std::uint64_t> rows, read_indices(*indices));
  Result<Tensor> value = weight.val();
  if (!value) return parameter_error("Embedding", "weight", std::move(value).error());
  Tensor table = *std::move(value);
  if (table.shape().rank() != 2) {
    return shape_error("Embedding", "its weight is not a matrix", table.shape(),
                       "[n_embedding, d_model]");
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < table.shape()[0]) continue;
    return argument_error(
        "Embedding", "an index is outside the table",
        rows[i] == invalid ? "an index below 0" : "the index " + std::to_string(rows[i]),
        "0 to " + std::to_string(table.shape()[0] - (table.shape()[0] > 0 ? 1 : 0)) +
            " for the weight " + table.shape().to_string());
  }
  if (table.dtype() == DType::qfloat && detail::has_quantized_rows(table)) {
    return look_up_quantized(*indices, rows, table);
  }
  if (table.dtype() == DType::qfloat) {
    ANDIRON_ASSIGN(table, dequantize(table));
  }
  return compute_with("Embedding", look_up(*indices, rows, table),
                      [](const auto& found) -> Result<Tensor> { return found.tensor(); });
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace nn
}  // namespace andiron::inline v1
