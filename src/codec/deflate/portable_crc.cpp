// SPDX-License-Identifier: MIT OR Apache-2.0
// CRC-32, eight bytes at a time. Tested by tests/codec/portable_crc_test.cpp
#include <array>

#include "src/codec/deflate/portable.h"
#include "src/core/little_endian.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::uint32_t crc_divisor = 0xedb88320;  // its bits reversed
constexpr std::size_t crc_lanes = 8;

using CrcTable = std::array<std::uint32_t, 256>;

// Table n has what a byte comes to when n more bytes follow it.
constexpr std::array<CrcTable, crc_lanes> crc_tables = [] {
  std::array<CrcTable, crc_lanes> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1) * crc_divisor;
    tables[0][byte] = crc;
  }
  for (std::size_t lane = 1; lane < crc_lanes; ++lane) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[lane - 1][byte];
      tables[lane][byte] = crc >> 8 ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}();

}  // namespace

std::uint32_t portable_crc(std::uint32_t crc, std::span<const std::byte> data) noexcept {
  crc = ~crc;
  for (; data.size() >= crc_lanes; data = data.subspan(crc_lanes)) {
    const std::uint64_t bytes = load_u64(data.data()) ^ crc;
    crc = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < crc_lanes; ++i) {
      crc ^= crc_tables[crc_lanes - 1 - i][bytes >> 8 * i & 0xff];
    }
  }
  for (const std::byte byte : data) {
    crc = crc >> 8 ^ crc_tables[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
  }
  return ~crc;
}

}  // namespace andiron::inline v1::detail
