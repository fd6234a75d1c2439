// SPDX-License-Identifier: MIT OR Apache-2.0
// Numbers in files, which are little-endian whatever the machine. Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>

namespace andiron::inline v1 {

constexpr std::uint16_t load_u16(const std::byte* at) noexcept {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(at[0]) |
                                    std::to_integer<unsigned>(at[1]) << 8);
}

constexpr std::uint32_t load_u32(const std::byte* at) noexcept {
  return std::to_integer<std::uint32_t>(at[0]) | std::to_integer<std::uint32_t>(at[1]) << 8 |
         std::to_integer<std::uint32_t>(at[2]) << 16 | std::to_integer<std::uint32_t>(at[3]) << 24;
}

constexpr std::uint64_t load_u64(const std::byte* at) noexcept {
  return load_u32(at) | std::uint64_t{load_u32(at + 4)} << 32;
}

constexpr void store_u64(std::uint64_t value, std::byte* out) noexcept {
  for (unsigned i = 0; i < 8; ++i) out[i] = static_cast<std::byte>(value >> 8 * i & 0xff);
}

}  // namespace andiron::inline v1
