// SPDX-License-Identifier: MIT OR Apache-2.0
// SHA-256 (FIPS 180-4) in plain C++.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace andiron::inline v1::detail {

class Sha256Portable {
 public:
  void update(std::span<const std::byte> data) noexcept;
  std::array<std::uint8_t, 32> finish() noexcept;

 private:
  static constexpr std::size_t block_bytes = 64;
  void absorb(const std::byte* block) noexcept;

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, block_bytes> partial_;
  std::size_t partial_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace andiron::inline v1::detail
