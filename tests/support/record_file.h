// SPDX-License-Identifier: MIT OR Apache-2.0
// Records put together by hand, and read from memory.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "andiron/bytes.h"
#include "andiron/open.h"
#include "andiron/write.h"
#include "src/codec/msgpack_writer.h"
#include "src/format/record/record.h"
#include "tests/support/bytes_of_text.h"

namespace andiron::test {

inline Result<Archive> read_record(std::string_view file, const OpenOptions& options = {}) {
  return detail::read_record({memory_source(bytes_of_text(file)), options});
}

inline Result<std::string> write_record(const Archive& archive, const WriteOptions& options = {},
                                        bool gzip = false) {
  MemorySink sink;
  Result<std::uint64_t> bytes =
      detail::write_record({archive, sink, options, gzip ? ".mpk.gz" : ".mpk"});
  if (!bytes) return std::move(bytes).error();
  const Bytes written = sink.take();
  EXPECT_EQ(*bytes, written.size());
  return std::string(written.text());
}

/// MessagePack text, put together by the functions of MsgpackWriter.
class Msgpack {
 public:
  detail::MsgpackWriter write{text_};
  const std::string& text() const { return text_; }

  /// {"bytes": ..., "shape": ..., "dtype": ...}
  void tensor(std::string_view bytes, std::initializer_list<std::uint64_t> shape,
              std::string_view dtype) {
    write.begin_map(3);
    write.text("bytes");
    write.begin_bytes(bytes.size());
    text_ += bytes;
    write.text("shape");
    write.begin_list(shape.size());
    for (const std::uint64_t dim : shape) write.unsigned_integer(dim);
    write.text("dtype");
    write.text(dtype);
  }
  /// {"id": ..., "param": tensor}
  void param(std::string_view id, std::string_view bytes,
             std::initializer_list<std::uint64_t> shape, std::string_view dtype) {
    write.begin_map(2);
    write.text("id");
    write.text(id);
    write.text("param");
    tensor(bytes, shape, dtype);
  }
  /// A record up to its item, which the caller adds.
  void begin_record(std::string_view float_name = "f32", std::string_view int_name = "i32",
                    std::string_view settings = "FullPrecisionSettings") {
    write.begin_map(2);
    write.text("metadata");
    write.begin_map(5);
    const std::pair<std::string_view, std::string_view> entries[] = {
        {"float", float_name}, {"int", int_name},      {"format", "a recorder"},
        {"version", "0.13.2"}, {"settings", settings},
    };
    for (const auto& [key, value] : entries) {
      write.text(key);
      write.text(value);
    }
    write.text("item");
  }

 private:
  std::string text_;
};

}  // namespace andiron::test
