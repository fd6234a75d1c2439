// SPDX-License-Identifier: MIT OR Apache-2.0
// How the payload of a quantized tensor lies in its bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "andiron/quant_scheme.h"
#include "andiron/shape.h"

namespace andiron::inline v1::detail {

// Values and scales row by row, the packed dimension last.
struct StoredLayout {
  Shape shape;
  std::size_t last;         // dimension of `shape`
  std::size_t packed;       // the dimension that changed places with the last
  std::uint64_t lines = 1;  // along the last dimension
  std::uint64_t line_bytes;
  // Along each dimension, the extent of a block and the number of blocks. Without blocks, the whole
  // tensor is one.
  std::array<std::uint64_t, max_rank> extents = {};
  std::array<std::uint64_t, max_rank> grid = {};
  std::uint64_t scales = 1;

  // REQUIRES: the scheme fits the shape, no dimension is 0.
  StoredLayout(const QuantScheme& scheme, const Shape& tensor_shape);

  // Which row of scales, of grid[last] each, belongs to a line.
  std::uint64_t row_of_scales(std::uint64_t line) const;
};

// The dtype that a scale is stored as.
constexpr DType dtype_of(QuantParam param) noexcept {
  constexpr DType dtypes[] = {DType::f32, DType::f16, DType::bf16, DType::f8e8m0, DType::f8e4m3fn};
  return dtypes[static_cast<unsigned>(param)];
}

// Of the scales that follow the values: one for each block, or one for the tensor.
constexpr QuantParam scale_param(const QuantScheme& scheme) noexcept {
  if (scheme.has_blocks) return scheme.block_param;
  return scheme.has_tensor_scale ? scheme.tensor_param : QuantParam::f32;
}

// The bits that a value takes. Fields lie in bytes from the low bits up, which is also how they lie
// in little-endian words.
constexpr unsigned field_bits(const QuantScheme& scheme) noexcept {
  return 8 * unit_bytes(scheme) / values_per_unit(scheme);
}

// What a field stands for, for each of its contents.
std::array<float, 256> field_values(const QuantScheme& scheme);

// Whether the payload can be dequantized and has the right size; the errors are those of
// dequantize().
Status check_payload(const QuantScheme& scheme, const std::string& raw_name, const Shape& shape,
                     std::uint64_t byte_size);

}  // namespace andiron::inline v1::detail
