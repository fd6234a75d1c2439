// SPDX-License-Identifier: MIT OR Apache-2.0
// Deflate data and its checksum.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "src/codec/deflate/streams.h"
#if !defined(__wasi__)
#include "tests/support/zlib_peer.h"
#endif

namespace andiron::test {

/// In pieces of these sizes.
inline std::string deflated_by(detail::DeflateStream& stream, std::string_view text,
                               std::size_t in_piece, std::size_t out_piece) {
  std::string data;
  std::string room(out_piece, '\0');
  for (std::size_t at = 0;;) {
    const std::string_view in = text.substr(at, in_piece);
    const auto step =
        stream.step(std::as_bytes(std::span(in)), std::as_writable_bytes(std::span(room)),
                    at + in.size() == text.size());
    if (step.taken > in.size() || step.made > room.size()) std::abort();
    at += step.taken;
    data.append(room, 0, step.made);
    if (at == text.size() && step.made < room.size()) return data;
  }
}

/// One block with the fixed code: runs of a byte are matches, everything else is a literal.
inline std::string deflated_as_runs(std::string_view text) {
  std::string data;
  unsigned held = 0;
  unsigned held_bits = 0;
  const auto put = [&](unsigned bits, unsigned count) {
    held |= bits << held_bits;
    for (held_bits += count; held_bits >= 8; held_bits -= 8, held >>= 8) {
      data += static_cast<char>(held & 0xff);
    }
  };
  // Codes begin with their highest bit.
  const auto put_code = [&](unsigned code, unsigned count) {
    for (unsigned bit = count; bit-- > 0;) put(code >> bit & 1, 1);
  };
  constexpr std::size_t longest = 258;
  put(0b011, 3);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t run = 0;
    while (at != 0 && run < longest && at + run < text.size() && text[at + run] == text[at - 1]) {
      ++run;
    }
    if (run == longest) {
      put_code(0b11000101, 8);  // length 258
      put_code(0, 5);           // distance 1
      at += run;
      continue;
    }
    const auto byte = static_cast<unsigned char>(text[at++]);
    if (byte < 144) {
      put_code(0b00110000U + byte, 8);
    } else {
      put_code(0b110010000U + byte - 144, 9);
    }
  }
  put_code(0, 7);  // the end of the block
  put(0, 7);
  return data;
}

/// Without header and trailer; by a stranger, where there is one.
inline std::string deflated(std::string_view content) {
#if defined(__wasi__)
  return deflated_as_runs(content);
#else
  return deflated_by_zlib(content);
#endif
}

/// In blocks as long as they may be, without compression.
inline std::string deflated_as_it_is(std::string_view content) {
  std::string data;
  do {
    const std::string_view block = content.substr(0, 0xffff);
    content.remove_prefix(block.size());
    data += content.empty() ? '\1' : '\0';
    for (const std::size_t number : {block.size(), ~block.size()}) {
      data += static_cast<char>(number & 0xff);
      data += static_cast<char>(number >> 8 & 0xff);
    }
    data += block;
  } while (!content.empty());
  return data;
}

/// CRC-32 as it is defined, byte by byte.
inline std::uint32_t crc_of_text(std::string_view text, std::uint32_t before = 0) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> remainders{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      remainders[byte] = byte;
      for (int bit = 0; bit < 8; ++bit) {
        const bool divides = (remainders[byte] & 1) != 0;
        remainders[byte] = remainders[byte] >> 1 ^ (divides ? 0xedb88320U : 0U);
      }
    }
    return remainders;
  }();
  std::uint32_t crc = ~before;
  for (const char byte : text) {
    crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return ~crc;
}

}  // namespace andiron::test
