// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/dequantized_source_test.cpp
#include "src/core/dequantized_source.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "andiron/byte_source.h"
#include "andiron/tensor.h"
#include "src/core/expression.h"
#include "src/core/kernels/convert.h"
#include "src/core/quantized_layout.h"
#include "src/core/read_whole_units.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::uint64_t values_at_once = 16 * 1024;

// The numbers in the order in which the payload has them.
class DequantizedSource final : public ByteSource {
 public:
  DequantizedSource(TensorSnapshot payload, const QuantScheme& scheme)
      : payload_(std::move(payload)),
        scheme_(scheme),
        layout_(scheme, payload_.shape()),
        field_value_(field_values(scheme)) {}
  std::uint64_t size() const noexcept override {
    return layout_.lines * layout_.shape[layout_.last] * sizeof(float);
  }
  const std::string& name() const noexcept override { return payload_.full_path(); }
  CompressedData compressed_data() const noexcept override {
    return expression_of(payload_).compressed_data();
  }
  const StoredLayout& layout() const noexcept { return layout_; }

  // Before the first read. One for all elements, and with the scale of each block where there are
  // both.
  Status read_tensor_scale() {
    if (scheme_.level() == QuantLevel::block) return {};
    const QuantParam param = scheme_.has_tensor_scale ? scheme_.tensor_param : QuantParam::f32;
    const std::uint64_t place =
        scheme_.has_blocks ? layout_.scales * byte_width(scale_param(scheme_)) : 0;
    return read_scales(param, scales_begin() + place, std::span(&tensor_scale_, 1));
  }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    const auto read = [&](std::uint64_t at, std::span<std::byte> room) -> Status {
      Buffers buffers;
      const std::uint64_t length = layout_.shape[layout_.last];
      for (std::uint64_t element = at / sizeof(float); !room.empty();) {
        const std::uint64_t first = element % length;
        const auto count = static_cast<std::size_t>(
            std::min<std::uint64_t>({length - first, room.size() / sizeof(float), values_at_once}));
        ANDIRON_TRY(read_run(element / length, first, room.first(count * sizeof(float)), buffers));
        room = room.subspan(count * sizeof(float));
        element += count;
      }
      return {};
    };
    return read_whole_units(sizeof(float), size(), offset, out, read);
  }

  struct Buffers {
    std::vector<std::byte> values;
    std::vector<float> scales;
  };

  std::uint64_t scales_begin() const noexcept { return layout_.lines * layout_.line_bytes; }

  Status read_scales(QuantParam param, std::uint64_t offset, std::span<float> out) const {
    std::array<std::byte, 4096> stored;
    const std::size_t width = byte_width(param);
    while (!out.empty()) {
      const std::size_t count = std::min(out.size(), stored.size() / width);
      ANDIRON_TRY(payload_.read_part(offset, std::span(stored).first(count * width)));
      convert(dtype_of(param), stored.data(), DType::f32, reinterpret_cast<std::byte*>(out.data()),
              count);
      out = out.subspan(count);
      offset += count * width;
    }
    return {};
  }

  // Elements of one line, from `first` on.
  Status read_run(std::uint64_t line, std::uint64_t first, std::span<std::byte> out,
                  Buffers& buffers) const {
    const std::uint64_t count = out.size() / sizeof(float);
    const unsigned bits = field_bits(scheme_);
    const std::uint64_t first_byte = first * bits / 8;
    buffers.values.resize(
        static_cast<std::size_t>(ceil_divide((first + count) * bits, 8) - first_byte));
    ANDIRON_TRY(payload_.read_part(line * layout_.line_bytes + first_byte, buffers.values));

    const std::uint64_t extent = layout_.extents[layout_.last];
    const std::uint64_t first_block = first / extent;
    buffers.scales.assign(static_cast<std::size_t>((first + count - 1) / extent - first_block + 1),
                          tensor_scale_);
    if (scheme_.has_blocks) {
      const std::uint64_t scale =
          layout_.row_of_scales(line) * layout_.grid[layout_.last] + first_block;
      const QuantParam param = scale_param(scheme_);
      ANDIRON_TRY(read_scales(param, scales_begin() + scale * byte_width(param), buffers.scales));
      if (scheme_.has_tensor_scale) {
        for (float& one : buffers.scales) one *= tensor_scale_;
      }
    }

    const unsigned mask = (1u << bits) - 1;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t bit = (first + i) * bits;
      const unsigned byte =
          std::to_integer<unsigned>(buffers.values[static_cast<std::size_t>(bit / 8 - first_byte)]);
      const float scale =
          buffers.scales[static_cast<std::size_t>((first + i) / extent - first_block)];
      const float number = field_value_[byte >> bit % 8 & mask] * scale;
      std::memcpy(out.data() + i * sizeof number, &number, sizeof number);
    }
    return {};
  }

  TensorSnapshot payload_;
  QuantScheme scheme_;
  StoredLayout layout_;
  std::array<float, 256> field_value_;
  float tensor_scale_ = 1;
};

}  // namespace

Result<TensorSnapshot> dequantized(const TensorSnapshot& snapshot) {
  const QuantScheme scheme = *snapshot.scheme();
  if (Status status =
          check_payload(scheme, snapshot.raw_name(), snapshot.shape(), snapshot.byte_size());
      !status) {
    Error error = std::move(status).error();
    error.tensor = snapshot.full_path();
    return error;
  }
  ANDIRON_ASSIGN(const std::uint64_t count, snapshot.shape().element_count());
  if (count == 0) {
    ANDIRON_ASSIGN(const Tensor none, Tensor::zeros(DType::f32, snapshot.shape()));
    return TensorSnapshot(snapshot.full_path(), none);
  }
  ANDIRON_TRY(snapshot.shape().byte_count(DType::f32));
  const auto source = std::make_shared<DequantizedSource>(snapshot, scheme);
  ANDIRON_TRY(source->read_tensor_scale());
  const StoredLayout& layout = source->layout();
  ANDIRON_ASSIGN(TensorSnapshot stored,
                 TensorSnapshot::from_source(snapshot.full_path(), source, 0, source->size(),
                                             DType::f32, layout.shape));
  if (layout.packed != layout.last) {
    ANDIRON_ASSIGN(stored, stored.transpose(layout.packed, layout.last));
  }
  // A scalar is stored as one line of one value.
  return snapshot.shape().rank() == 0 ? stored.reshape({})
                                      : Result<TensorSnapshot>(std::move(stored));
}

}  // namespace andiron::inline v1::detail
