// SPDX-License-Identifier: MIT OR Apache-2.0
// Schemes of quantization for tests, put together from parts.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "andiron/quant_scheme.h"
#include "andiron/shape.h"

namespace andiron::test {

inline constexpr QuantValue values[] = {QuantValue::q8f, QuantValue::e5m2, QuantValue::e4m3,
                                        QuantValue::q4f, QuantValue::e2m1, QuantValue::q2f,
                                        QuantValue::q8s, QuantValue::q4s,  QuantValue::q2s};
inline constexpr QuantStore stores[] = {QuantStore::native, QuantStore::packed_native,
                                        QuantStore::packed_u32};
inline constexpr QuantParam params[] = {QuantParam::f32, QuantParam::f16, QuantParam::bf16,
                                        QuantParam::ue8m0, QuantParam::ue4m3};

inline QuantBlock block_of(std::initializer_list<unsigned> extents) {
  QuantBlock block;
  for (const unsigned extent : extents) {
    block.size[block.rank++] = static_cast<std::uint8_t>(extent);
  }
  return block;
}

inline QuantScheme per_tensor(QuantValue value, QuantStore store, std::uint64_t packed_dim = 0) {
  return {.value = value, .store = store, .packed_dim = packed_dim};
}

inline QuantScheme per_block(QuantScheme scheme, QuantBlock block, QuantParam param) {
  scheme.has_blocks = true;
  scheme.block = block;
  scheme.block_param = param;
  return scheme;
}

inline QuantScheme with_tensor_scale(QuantScheme scheme, QuantParam param) {
  scheme.has_tensor_scale = true;
  scheme.tensor_param = param;
  return scheme;
}

/// What size_of() says of schemes that do not fit.
inline constexpr std::uint64_t no_size = ~std::uint64_t{0};

inline std::uint64_t size_of(const QuantScheme& scheme, const Shape& shape) {
  std::uint64_t bytes = 0;
  return quantized_byte_count(scheme, shape.dims(), bytes) ? bytes : no_size;
}

}  // namespace andiron::test
