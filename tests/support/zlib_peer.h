// SPDX-License-Identifier: MIT OR Apache-2.0
// What zlib makes of data, in one go.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/support/inflating.h"

namespace andiron::test {

/// Without header and trailer.
inline std::string deflated_by_zlib(std::string_view content, int level = 9,
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

inline Inflation inflated_by_zlib(std::string_view data) {
  using State = detail::InflateStream::State;
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) std::abort();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  Inflation inflation;
  std::string room(64 * 1024, '\0');
  int code = Z_OK;
  do {
    stream.next_out = reinterpret_cast<Bytef*>(room.data());
    stream.avail_out = static_cast<uInt>(room.size());
    code = ::inflate(&stream, Z_NO_FLUSH);
    inflation.text.append(room, 0, room.size() - stream.avail_out);
  } while (code == Z_OK && stream.avail_out == 0);
  if (code == Z_STREAM_END) {
    inflation.state = State::ended;
    inflation.taken = data.size() - stream.avail_in;
  } else if (code == Z_DATA_ERROR) {
    inflation.state = State::damaged;
  } else if (code != Z_OK && code != Z_BUF_ERROR) {
    std::abort();
  }
  inflateEnd(&stream);
  return inflation;
}

inline std::uint32_t crc_by_zlib(std::string_view text) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

}  // namespace andiron::test
