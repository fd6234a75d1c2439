// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/quantized_test.cpp and tests/core/quant_scheme_test.cpp
#include "andiron/tensor.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "andiron/dtype.h"
#include "andiron/limits.h"
#include "andiron/snapshot.h"
#include "src/core/kernels/convert.h"
#include "src/core/quantized_layout.h"
#include "src/core/quantized_rows.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace {

// Reads a scheme's text from its front, part by part.
class SchemeText {
 public:
  explicit SchemeText(std::string_view text) : rest_(text) {}

  bool take(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }

  // The name of one of the kinds up to `last`; none of them begins with another.
  template <class Kind>
  bool take_name(Kind& kind, Kind last) {
    for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i) {
      kind = static_cast<Kind>(i);
      if (take(name_of(kind))) return true;
    }
    return false;
  }
  bool take_param(QuantParam& param) { return take_name(param, QuantParam::ue4m3); }

  // Digits without leading zeros.
  template <class Number>
  bool take_number(Number& number) {
    const char* const begin = rest_.data();
    const auto [end, error] = std::from_chars(begin, begin + rest_.size(), number);
    if (error != std::errc() || (*begin == '0' && end != begin + 1)) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - begin));
    return true;
  }

  bool take_store(QuantScheme& scheme) {
    if (!take_name(scheme.store, QuantStore::packed_u32)) return false;
    if (scheme.store == QuantStore::native) return true;
    return take("(") && take_number(scheme.packed_dim) && take(")");
  }

  bool take_block(QuantBlock& block) {
    if (!take("[")) return false;
    while (!take("]")) {
      if (block.rank == QuantBlock::max_rank || (block.rank != 0 && !take(","))) return false;
      if (!take_number(block.size[block.rank++])) return false;
    }
    return true;
  }

  bool take_scheme(QuantScheme& scheme) {
    if (!take("QFloat(") || !take_name(scheme.value, QuantValue::q2s) || !take(",") ||
        !take_store(scheme) || !take(",") || !take_name(scheme.mode, QuantMode::lookup)) {
      return false;
    }
    scheme.has_tensor_scale = take(",tensor=");
    if (scheme.has_tensor_scale && !take_param(scheme.tensor_param)) return false;
    scheme.has_blocks = take(",block=");
    if (scheme.has_blocks &&
        (!take_block(scheme.block) || !take(":") || !take_param(scheme.block_param))) {
      return false;
    }
    return take(")") && rest_.empty();
  }

 private:
  std::string_view rest_;
};

struct Range {
  std::uint64_t first;
  std::uint64_t count;
};

// The scales of some blocks, with the tensor's own one in each. Scales are multiplied first, as
// Burn does it, so that both give the same numbers. REQUIRES: `from` has `total` scales.
Result<Bytes> read_scales(const QuantScheme& scheme, std::uint64_t total, Range wanted,
                          const std::byte* from) {
  const std::uint64_t count = wanted.count;
  const QuantParam param = detail::scale_param(scheme);
  ANDIRON_ASSIGN(Bytes bytes, Bytes::allocate(count * sizeof(float)));
  auto* const scales = reinterpret_cast<float*>(bytes.writable().data());
  convert(detail::dtype_of(param), from + wanted.first * byte_width(param), DType::f32,
          bytes.writable().data(), static_cast<std::size_t>(count));
  if (scheme.level() == QuantLevel::block_and_tensor) {
    float tensor_scale = 1;
    convert(detail::dtype_of(scheme.tensor_param), from + total * byte_width(param), DType::f32,
            reinterpret_cast<std::byte*>(&tensor_scale), 1);
    for (std::uint64_t i = 0; i < count; ++i) scales[i] *= tensor_scale;
  }
  return bytes;
}

// Numbers of some lines, in the order they are stored; all of them unless there are two dimensions.
template <unsigned bits>
void expand_lines(const detail::StoredLayout& layout, Range lines,
                  const std::array<float, 256>& field_value, const std::byte* line,
                  const float* scales, float* out) {
  const std::uint64_t length = layout.shape[layout.last];
  const std::uint64_t extent = layout.extents[layout.last];
  line += lines.first * layout.line_bytes;
  std::array<std::uint64_t, max_rank> position = {lines.first};
  for (std::uint64_t i = 0; i < lines.count; ++i) {
    const float* scale = scales;
    for (std::uint64_t begin = 0; begin < length; begin += extent, ++scale) {
      const std::uint64_t end = std::min(begin + extent, length);
      for (std::uint64_t j = begin; j < end; ++j) {
        const unsigned byte = std::to_integer<unsigned>(line[j * bits / 8]);
        const unsigned field = byte >> (j * bits % 8) & ((1u << bits) - 1);
        out[j] = field_value[field] * *scale;
      }
    }
    if (i + 1 == lines.count) break;
    line += layout.line_bytes;
    out += length;
    // On to the next line, and to its row of scales where a block ends.
    std::uint64_t row = layout.grid[layout.last];
    for (std::size_t d = layout.last; d-- > 0;) {
      if (++position[d] < layout.shape[d]) {
        if (position[d] % layout.extents[d] == 0) scales += row;
        break;
      }
      position[d] = 0;
      scales -= (layout.grid[d] - 1) * row;
      row *= layout.grid[d];
    }
  }
}

// The size of the payload was checked before.
Result<Bytes> expand(const QuantScheme& scheme, const detail::StoredLayout& layout, Range lines,
                     const Bytes& payload) {
  const std::byte* const values = payload.data();
  // The scales of the lines; those of a whole tensor are all.
  Range wanted = {0, layout.scales};
  if (lines.count != layout.lines) {
    const std::uint64_t per_row = layout.grid[layout.last];
    const std::uint64_t first_row = lines.first / layout.extents[0];
    const std::uint64_t end_row = detail::ceil_divide(lines.first + lines.count, layout.extents[0]);
    wanted = {first_row * per_row, (end_row - first_row) * per_row};
  }
  ANDIRON_ASSIGN(const Bytes scale_bytes, read_scales(scheme, layout.scales, wanted,
                                                      values + layout.lines * layout.line_bytes));
  ANDIRON_ASSIGN(Bytes numbers,
                 Bytes::allocate(lines.count * layout.shape[layout.last] * sizeof(float)));
  const auto* const scales = reinterpret_cast<const float*>(scale_bytes.data());
  auto* const out = reinterpret_cast<float*>(numbers.writable().data());
  const std::array<float, 256> field_value = detail::field_values(scheme);
  switch (detail::field_bits(scheme)) {
    case 8:
      expand_lines<8>(layout, lines, field_value, values, scales, out);
      break;
    case 4:
      expand_lines<4>(layout, lines, field_value, values, scales, out);
      break;
    default:
      expand_lines<2>(layout, lines, field_value, values, scales, out);
  }
  return numbers;
}

}  // namespace

std::string quant_scheme_text(const QuantScheme& scheme) {
  std::string text = "QFloat(";
  text.append(name_of(scheme.value)).append(",").append(name_of(scheme.store));
  if (scheme.store != QuantStore::native) {
    text.append("(").append(std::to_string(scheme.packed_dim)).append(")");
  }
  text.append(",").append(name_of(scheme.mode));
  if (scheme.has_tensor_scale) text.append(",tensor=").append(name_of(scheme.tensor_param));
  if (scheme.has_blocks) {
    text += ",block=[";
    for (const std::uint8_t extent : scheme.block.dims()) {
      text.append(std::to_string(extent)).append(",");
    }
    if (text.back() == ',') text.pop_back();
    text.append("]:").append(name_of(scheme.block_param));
  }
  return text += ")";
}

Result<QuantScheme> quant_scheme_from_text(std::string_view text) ANDIRON_NO_THROW {
  QuantScheme scheme;
  if (SchemeText(text).take_scheme(scheme)) return scheme;
  return Error{.code = ErrorCode::invalid_argument,
               .message = "not a quantization scheme",
               .found = std::string(text),
               .expected = "one like " + quant_scheme_text({}),
               .hint = "quant_scheme_text gives the text of a scheme"};
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> dequantize(const Tensor& tensor) ANDIRON_NO_THROW {
  const std::optional<QuantScheme> scheme = tensor.scheme();
  if (!scheme) {
    return Error{.code = ErrorCode::dtype_mismatch,
                 .message = "the tensor is not quantized",
                 .found = tensor.dtype_text(),
                 .expected = std::string(dtype_name(DType::qfloat)),
                 .hint = "cast its snapshot to f32"};
  }
  ANDIRON_TRY(
      detail::check_payload(*scheme, tensor.raw_name(), tensor.shape(), tensor.byte_size()));
  ANDIRON_ASSIGN(const std::uint64_t count, tensor.shape().element_count());
  if (count == 0) return Tensor::zeros(DType::f32, tensor.shape());

  const detail::StoredLayout layout(*scheme, tensor.shape());
  ANDIRON_TRY(layout.shape.byte_count(DType::f32));
  ANDIRON_ASSIGN(Bytes numbers, expand(*scheme, layout, {0, layout.lines}, tensor.bytes()));
  if (layout.packed == layout.last) {
    return Tensor::from_bytes(DType::f32, tensor.shape(), std::move(numbers));
  }
  ANDIRON_ASSIGN(const Tensor stored,
                 Tensor::from_bytes(DType::f32, layout.shape, std::move(numbers)));
  ANDIRON_ASSIGN(const TensorSnapshot swapped_back,
                 TensorSnapshot("", stored).transpose(layout.packed, layout.last));
  return swapped_back.read();
}
ANDIRON_OR_OUT_OF_MEMORY

namespace detail {

bool has_quantized_rows(const Tensor& tensor) {
  const std::optional<QuantScheme> scheme = tensor.scheme();
  if (!scheme || tensor.shape().rank() != 2 || tensor.shape()[0] == 0 || tensor.shape()[1] == 0 ||
      !check_payload(*scheme, tensor.raw_name(), tensor.shape(), tensor.byte_size())) {
    return false;
  }
  const detail::StoredLayout layout(*scheme, tensor.shape());
  return layout.packed == layout.last;
}

Result<Tensor> dequantize_rows(const Tensor& tensor, std::uint64_t first, std::uint64_t count) {
  const QuantScheme scheme = *tensor.scheme();
  const detail::StoredLayout layout(scheme, tensor.shape());
  ANDIRON_ASSIGN(Bytes numbers, expand(scheme, layout, {first, count}, tensor.bytes()));
  return Tensor::from_bytes(DType::f32, {count, tensor.shape()[1]}, std::move(numbers));
}

}  // namespace detail

}  // namespace andiron::inline v1
