// SPDX-License-Identifier: MIT OR Apache-2.0
// Deflate data and its checksum: by zlib, or in WebAssembly by our own streams.
#pragma once

#if !defined(__wasi__)
#include <zlib.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "src/codec/deflate/streams.h"

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

#if !defined(__wasi__)

/// Deflated by zlib, without header and trailer.
inline std::string deflated(std::string_view content, int level = 9,
                            int strategy = Z_DEFAULT_STRATEGY) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, -15, 8, strategy) != Z_OK) std::abort();
  std::string out(deflateBound(&stream, static_cast<uLong>(content.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (::deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::uint32_t crc_of_text(std::string_view text) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

#else

/// Deflated, without header and trailer.
inline std::string deflated(std::string_view content) {
  const auto stream = detail::new_deflate_stream();
  if (stream == nullptr) std::abort();
  return deflated_by(*stream, content, content.size() + 1, std::size_t{64} * 1024);
}

inline std::uint32_t crc_of_text(std::string_view text) {
  return detail::continue_crc(0, std::as_bytes(std::span(text)));
}

#endif

}  // namespace andiron::test
