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

/// Without header and trailer; by a stranger, where there is one.
inline std::string deflated(std::string_view content) {
#if defined(__wasi__)
  const auto stream = detail::new_deflate_stream();
  if (stream == nullptr) std::abort();
  return deflated_by(*stream, content, content.size() + 1, std::size_t{64} * 1024);
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
