// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/quantized_test.cpp
#include "src/core/quantized_layout.h"

#include <utility>

namespace andiron::inline v1::detail {

StoredLayout::StoredLayout(const QuantScheme& scheme, const Shape& tensor_shape)
    : shape(tensor_shape.rank() == 0 ? Shape({1}) : tensor_shape), last(shape.rank() - 1) {
  packed = last;
  if (scheme.store != QuantStore::native) packed -= static_cast<std::size_t>(scheme.packed_dim);
  const std::span<const std::uint8_t> block = scheme.block.dims();
  for (std::size_t d = 0; d <= last; ++d) {
    const std::size_t from_last = last - d;
    if (!scheme.has_blocks) {
      extents[d] = shape[d];
    } else {
      extents[d] = from_last < block.size() ? block[block.size() - 1 - from_last] : 1;
    }
  }
  std::swap(shape[packed], shape[last]);
  std::swap(extents[packed], extents[last]);
  for (std::size_t d = 0; d <= last; ++d) {
    grid[d] = ceil_divide(shape[d], extents[d]);
    scales *= grid[d];
    if (d != last) lines *= shape[d];
  }
  line_bytes = ceil_divide(shape[last], values_per_unit(scheme)) * unit_bytes(scheme);
}

std::uint64_t StoredLayout::row_of_scales(std::uint64_t line) const {
  std::uint64_t row = 0;
  std::uint64_t step = 1;
  for (std::size_t d = last; d-- > 0;) {
    row += line % shape[d] / extents[d] * step;
    line /= shape[d];
    step *= grid[d];
  }
  return row;
}

std::array<float, 256> field_values(const QuantScheme& scheme) {
  const unsigned bits = field_bits(scheme);
  std::array<float, 256> values = {};
  const auto decode = [&](DType dtype) {
    for (unsigned field = 0; field < 1u << bits; ++field) {
      values[field] = static_cast<float>(decode_float(dtype, field));
    }
  };
  switch (scheme.value) {
    case QuantValue::e5m2:
      decode(DType::f8e5m2);
      break;
    case QuantValue::e4m3:
      decode(DType::f8e4m3fn);
      break;
    case QuantValue::e2m1:
      decode(DType::f4e2m1);
      break;
    default: {
      const int count = 1 << bits;
      for (int field = 0; field < count; ++field) {
        values[static_cast<unsigned>(field)] =
            static_cast<float>(field < count / 2 ? field : field - count);
      }
    }
  }
  return values;
}

Status check_payload(const QuantScheme& scheme, const std::string& raw_name, const Shape& shape,
                     std::uint64_t byte_size) {
  if (scheme.mode == QuantMode::lookup) {
    return Error{.code = ErrorCode::unsupported,
                 .message = "the values are indices into a table that is not in the file",
                 .found = raw_name,
                 .expected = "the mode Symmetric",
                 .hint = "dequantize it in the program that has the table"};
  }
  const bool is_float = scheme.value == QuantValue::e5m2 || scheme.value == QuantValue::e4m3 ||
                        scheme.value == QuantValue::e2m1;
  if (is_float && scheme.store == QuantStore::native) {
    return Error{.code = ErrorCode::unsupported,
                 .message = "cannot tell whether the values are integers or float codes",
                 .found = raw_name,
                 .expected = "a packed store, or integers",
                 .hint =
                     "Burn's CPU backends write integers here, its GPU backends float codes; "
                     "dequantize it in Burn"};
  }
  const std::string kind = raw_name + " " + shape.to_string();
  std::uint64_t wanted = 0;
  if (!quantized_byte_count(scheme, shape.dims(), wanted)) {
    return Error{.code = ErrorCode::size_mismatch,
                 .message = "the quantization scheme does not fit the shape",
                 .found = kind,
                 .expected = "a packed dimension and blocks that the shape has",
                 .hint = "the packed dimension counts from the last one, which is 0"};
  }
  if (wanted != byte_size) {
    return Error{.code = ErrorCode::size_mismatch,
                 .message = "the payload size does not match scheme and shape",
                 .found = std::to_string(byte_size) + " bytes",
                 .expected = std::to_string(wanted) + " bytes for " + kind,
                 .hint = "a payload holds the values, each line padded, and then the scales"};
  }
  return {};
}

}  // namespace andiron::inline v1::detail
