// SPDX-License-Identifier: MIT OR Apache-2.0
// UTF-8, one code point at a time. Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace andiron::inline v1 {

struct CodePoint {
  std::uint32_t value = 0;
  unsigned length = 0;  // bytes taken; 0 when the bytes at this place are not UTF-8
};

// Decodes the code point at `at`, refusing overlong forms, surrogates and values past U+10FFFF.
// REQUIRES: at < end.
constexpr CodePoint decode_utf8(const char* at, const char* end) noexcept {
  auto byte = [&](unsigned i) { return static_cast<unsigned char>(at[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const unsigned length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || end - at < static_cast<std::ptrdiff_t>(length)) return {};
  std::uint32_t value = lead & (0x7fu >> length);
  for (unsigned i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
    return {};
  return {value, length};
}

constexpr bool is_utf8(std::string_view text) noexcept {
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const unsigned length = decode_utf8(at, end).length;
    if (length == 0) return false;
    at += length;
  }
  return true;
}

// Writes a code point; `out` has room for 4 bytes. Returns how many were written.
constexpr unsigned encode_utf8(std::uint32_t value, char* out) noexcept {
  auto put = [&](unsigned i, std::uint32_t byte) { out[i] = static_cast<char>(byte); };
  if (value < 0x80) return put(0, value), 1;
  if (value < 0x800) return put(0, 0xc0 | value >> 6), put(1, 0x80 | (value & 0x3f)), 2;
  if (value < 0x10000) {
    put(0, 0xe0 | value >> 12);
    put(1, 0x80 | (value >> 6 & 0x3f));
    put(2, 0x80 | (value & 0x3f));
    return 3;
  }
  put(0, 0xf0 | value >> 18);
  put(1, 0x80 | (value >> 12 & 0x3f));
  put(2, 0x80 | (value >> 6 & 0x3f));
  put(3, 0x80 | (value & 0x3f));
  return 4;
}

}  // namespace andiron::inline v1
