// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/snapshot_test.cpp
#include "src/core/element_map.h"

#include <algorithm>
#include <cstring>

#include "src/core/kernels/convert.h"

namespace andiron::inline v1::detail {
namespace {

void swap_each(std::byte* data, std::size_t width, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) std::reverse(data + i * width, data + (i + 1) * width);
}

template <class T>
void negate_integers(std::byte* data, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    value = static_cast<T>(T{0} - value);
    std::memcpy(data + i * sizeof(T), &value, sizeof(T));
  }
}

// Flips the sign bit, the top bit of the last byte, of every `every`-th float from `first` on.
void flip_signs(std::byte* data, std::size_t width, std::size_t first, std::size_t every,
                std::size_t count) {
  for (std::size_t i = first; i < count; i += every) data[(i + 1) * width - 1] ^= std::byte{0x80};
}

void negate(DType dtype, std::byte* data, std::size_t count) {
  const std::size_t width = bit_width(dtype) / 8;
  if (is_complex(dtype)) return flip_signs(data, width / 2, 0, 1, 2 * count);
  if (dtype == DType::f8e4m3fnuz || dtype == DType::f8e5m2fnuz) {
    // Zero and NaN, the two patterns without a sign, stay.
    for (std::size_t i = 0; i < count; ++i) {
      if ((data[i] & std::byte{0x7f}) != std::byte{0}) data[i] ^= std::byte{0x80};
    }
    return;
  }
  if (is_float(dtype)) return flip_signs(data, width, 0, 1, count);
  switch (width) {
    case 1:
      return negate_integers<std::uint8_t>(data, count);
    case 2:
      return negate_integers<std::uint16_t>(data, count);
    case 4:
      return negate_integers<std::uint32_t>(data, count);
    default:
      return negate_integers<std::uint64_t>(data, count);
  }
}

}  // namespace

ElementMap ElementMap::then(ElementStep step) const {
  ElementMap longer = *this;
  longer.steps_.push_back(step);
  return longer;
}

void ElementMap::run(Buffer& source, std::byte* out, std::size_t count) const noexcept {
  Buffer other;
  std::byte* now = source.data();
  std::byte* next = other.data();
  DType dtype = stored_;
  if (swaps_) {
    const unsigned parts = is_complex(dtype) ? 2 : 1;
    swap_each(now, bit_width(dtype) / 8 / parts, count * parts);
  }
  for (const ElementStep& step : steps_) {
    switch (step.kind) {
      case ElementStep::Kind::cast:
        convert(dtype, now, step.to, next, count);
        std::swap(now, next);
        break;
      case ElementStep::Kind::negate:
        negate(dtype, now, count);
        break;
      case ElementStep::Kind::conjugate:
        flip_signs(now, bit_width(dtype) / 16, 1, 2, 2 * count);
        break;
    }
    dtype = step.to;
  }
  std::memcpy(out, now, count * (bit_width(dtype) / 8));
}

}  // namespace andiron::inline v1::detail
