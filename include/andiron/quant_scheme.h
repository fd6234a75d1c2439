// SPDX-License-Identifier: MIT OR Apache-2.0
// QuantScheme: how the payload of a quantized tensor is encoded. Freestanding. tensor.h has
// dequantize().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace andiron::inline v1 {

/// The type of a quantized value: a signed integer (q...), or a small float given by its code.
enum class QuantValue : std::uint8_t {
  q8f,   ///< -128 to 127
  e5m2,  ///< as f8e5m2
  e4m3,  ///< as f8e4m3fn
  q4f,   ///< -8 to 7
  e2m1,  ///< as f4e2m1
  q2f,   ///< -2 to 1
  q8s,   ///< -127 to 127
  q4s,   ///< -7 to 7
  q2s,   ///< -1 to 1
};

/// The type of a scale.
enum class QuantParam : std::uint8_t {
  f32,
  f16,
  bf16,
  ue8m0,  ///< a power of two, as f8e8m0
  ue4m3,  ///< as f8e4m3fn, never negative
};

/// How values are packed into bytes.
enum class QuantStore : std::uint8_t {
  native,         ///< one byte per value
  packed_native,  ///< two e2m1 codes per byte, the first in the low four bits; others as native
  packed_u32,     ///< as many as fit into little-endian 32-bit words, the first in the low bits
};

/// How values become elements.
enum class QuantMode : std::uint8_t {
  symmetric,  ///< element = value x scale
  lookup,     ///< values are indices into a table that is not in the file
};

/// What a scale applies to.
enum class QuantLevel : std::uint8_t { tensor, block, block_and_tensor };

/// The block that shares a scale: its size along the last `rank` dimensions, and 1 along the
/// others.
struct QuantBlock {
  static constexpr std::size_t max_rank = 5;
  std::uint8_t size[max_rank] = {1, 1, 1, 1, 1};
  std::uint8_t rank = 0;

  constexpr std::span<const std::uint8_t> dims() const noexcept {
    return {size, rank < max_rank ? rank : max_rank};
  }
  /// Sizes beyond `rank` are ignored.
  friend constexpr bool operator==(const QuantBlock& a, const QuantBlock& b) noexcept {
    if (a.dims().size() != b.dims().size()) return false;
    for (std::size_t i = 0; i < a.dims().size(); ++i) {
      if (a.dims()[i] != b.dims()[i]) return false;
    }
    return true;
  }
};

/// The scheme of a quantized tensor. The payload is the values, then the scales (one per block, or
/// one for the tensor), then the tensor's scale if there are both. Nothing is between them.
struct QuantScheme {
  QuantValue value = QuantValue::q8f;
  QuantStore store = QuantStore::packed_u32;
  /// For packed stores: the dimension that is packed, counted from the last one, which is 0. Values
  /// and block scales are row-major after this dimension is swapped with the last.
  std::uint64_t packed_dim = 0;
  QuantMode mode = QuantMode::symmetric;
  /// There is a scale for the whole tensor. If this and has_blocks are false, there still is one,
  /// an f32.
  bool has_tensor_scale = false;
  QuantParam tensor_param = QuantParam::f32;
  bool has_blocks = false;
  QuantBlock block = {};
  QuantParam block_param = QuantParam::f32;

  constexpr QuantLevel level() const noexcept {
    if (!has_blocks) return QuantLevel::tensor;
    return has_tensor_scale ? QuantLevel::block_and_tensor : QuantLevel::block;
  }
  friend constexpr bool operator==(const QuantScheme&, const QuantScheme&) = default;
};

/// Bits per value: 8, 4 or 2.
constexpr unsigned bit_width(QuantValue value) noexcept {
  constexpr unsigned char widths[] = {8, 8, 8, 4, 4, 2, 8, 4, 2};
  return widths[static_cast<unsigned>(value)];
}

/// Bytes per scale.
constexpr unsigned byte_width(QuantParam param) noexcept {
  constexpr unsigned char widths[] = {4, 2, 2, 1, 1};
  return widths[static_cast<unsigned>(param)];
}

// The names in Burn's files.
constexpr std::string_view name_of(QuantValue value) noexcept {
  constexpr std::string_view names[] = {"Q8F", "E5M2", "E4M3", "Q4F", "E2M1",
                                        "Q2F", "Q8S",  "Q4S",  "Q2S"};
  return names[static_cast<unsigned>(value)];
}
constexpr std::string_view name_of(QuantParam param) noexcept {
  constexpr std::string_view names[] = {"F32", "F16", "BF16", "UE8M0", "UE4M3"};
  return names[static_cast<unsigned>(param)];
}
constexpr std::string_view name_of(QuantStore store) noexcept {
  constexpr std::string_view names[] = {"Native", "PackedNative", "PackedU32"};
  return names[static_cast<unsigned>(store)];
}
constexpr std::string_view name_of(QuantMode mode) noexcept {
  return mode == QuantMode::lookup ? "Lookup" : "Symmetric";
}

namespace detail {
// Values are stored in units of whole bytes. Each line of values ends with a whole unit.
constexpr unsigned unit_bytes(const QuantScheme& scheme) noexcept {
  return scheme.store == QuantStore::packed_u32 ? 4 : 1;
}
constexpr unsigned values_per_unit(const QuantScheme& scheme) noexcept {
  if (scheme.store == QuantStore::packed_u32) return 32 / bit_width(scheme.value);
  return scheme.store == QuantStore::packed_native && scheme.value == QuantValue::e2m1 ? 2 : 1;
}

constexpr std::uint64_t ceil_divide(std::uint64_t count, std::uint64_t by) noexcept {
  return count / by + (count % by != 0);
}
}  // namespace detail

/// Computes the bytes of a payload of this shape. Returns false if the scheme does not fit the
/// shape (a packed dimension or a block that the shape does not have, a block of size 0), or if the
/// size does not fit in 64 bits.
constexpr bool quantized_byte_count(const QuantScheme& scheme, std::span<const std::uint64_t> shape,
                                    std::uint64_t& bytes) noexcept {
  const std::size_t rank = shape.size();
  const bool is_packed = scheme.store != QuantStore::native;
  // A scalar is one line of one value.
  if (is_packed && scheme.packed_dim >= (rank == 0 ? 1 : rank)) return false;
  const std::size_t block_rank = scheme.has_blocks ? scheme.block.rank : 0;
  if (block_rank > rank || block_rank > QuantBlock::max_rank) return false;

  std::uint64_t value_bytes = detail::unit_bytes(scheme);
  std::uint64_t scales = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t from_last = rank - 1 - d;
    const bool is_line = from_last == (is_packed ? scheme.packed_dim : 0);
    const unsigned per_unit = is_line ? detail::values_per_unit(scheme) : 1;
    const std::uint64_t units = detail::ceil_divide(shape[d], per_unit);
    if (__builtin_mul_overflow(value_bytes, units, &value_bytes)) return false;
    if (!scheme.has_blocks) continue;
    const std::uint64_t extent =
        from_last < block_rank ? scheme.block.size[block_rank - 1 - from_last] : 1;
    if (extent == 0) return false;
    const std::uint64_t blocks = detail::ceil_divide(shape[d], extent);
    if (__builtin_mul_overflow(scales, blocks, &scales)) return false;
  }

  const QuantLevel level = scheme.level();
  const QuantParam alone = scheme.has_tensor_scale ? scheme.tensor_param : QuantParam::f32;
  const unsigned scale_bytes = byte_width(level == QuantLevel::tensor ? alone : scheme.block_param);
  const unsigned last_bytes =
      level == QuantLevel::block_and_tensor ? byte_width(scheme.tensor_param) : 0;
  return !__builtin_mul_overflow(scales, scale_bytes, &scales) &&
         !__builtin_add_overflow(value_bytes, scales, &bytes) &&
         !__builtin_add_overflow(bytes, last_bytes, &bytes);
}

}  // namespace andiron::inline v1
