// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "andiron/sink.h"
#include "src/codec/gzip.h"
#include "tests/support/deflating.h"
#include "tests/support/zip_writing.h"

namespace andiron::test {

inline std::string gzipped(std::string_view content) {
  MemorySink sink;
  const auto gzip = detail::GzipSink::create(sink).value();
  gzip->write(std::as_bytes(std::span(content))).value();
  gzip->finish().value();
  return std::string(sink.take().text());
}

/// A member put together by hand.
struct GzipMember {
  std::string content = "some text, some text";
  std::optional<std::string> extra = {};
  std::optional<std::string> name = {};
  std::optional<std::string> comment = {};
  bool is_text = false;
  bool has_crc = false;

  std::string header() const {
    std::string bytes("\x1f\x8b\x08\0abcd\2\3", 10);
    bytes[3] = static_cast<char>(is_text << 0 | has_crc << 1 | extra.has_value() << 2 |
                                 name.has_value() << 3 | comment.has_value() << 4);
    if (extra) bytes += little_endian(static_cast<std::uint16_t>(extra->size())) + *extra;
    if (name) bytes += *name + '\0';
    if (comment) bytes += *comment + '\0';
    if (has_crc) bytes += little_endian(static_cast<std::uint16_t>(crc_of_text(bytes)));
    return bytes;
  }
  std::string file() const {
    return header() + deflated(content) +
           little_endian(crc_of_text(content), static_cast<std::uint32_t>(content.size()));
  }
};

}  // namespace andiron::test
