// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/freestanding/msgpack_reader_test.cpp
#include "src/codec/msgpack_writer.h"

#include <bit>

namespace andiron::inline v1::detail {

void MsgpackWriter::put(unsigned marker) { out_ += static_cast<char>(marker); }

void MsgpackWriter::put(unsigned marker, std::uint64_t number, unsigned count) {
  put(marker);
  for (unsigned i = count; i-- > 0;) out_ += static_cast<char>(number >> 8 * i & 0xff);
}

void MsgpackWriter::put_size(unsigned first_marker, std::uint64_t size) {
  if (size <= 0xff) return put(first_marker, size, 1);
  if (size <= 0xffff) return put(first_marker + 1, size, 2);
  put(first_marker + 2, size, 4);
}

void MsgpackWriter::nil() { put(0xc0); }

void MsgpackWriter::boolean(bool value) { put(value ? 0xc3 : 0xc2); }

void MsgpackWriter::integer(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= 0) return unsigned_integer(bits);
  if (value >= -32) return put(static_cast<unsigned>(bits & 0xff));
  if (value >= INT8_MIN) return put(0xd0, bits, 1);
  if (value >= INT16_MIN) return put(0xd1, bits, 2);
  if (value >= INT32_MIN) return put(0xd2, bits, 4);
  put(0xd3, bits, 8);
}

void MsgpackWriter::unsigned_integer(std::uint64_t value) {
  if (value <= 0x7f) return put(static_cast<unsigned>(value));
  if (value <= 0xffffffff) return put_size(0xcc, value);
  put(0xcf, value, 8);
}

void MsgpackWriter::floating(double value) { put(0xcb, std::bit_cast<std::uint64_t>(value), 8); }

void MsgpackWriter::text(std::string_view value) {
  if (value.size() <= 31) {
    put(0xa0 | static_cast<unsigned>(value.size()));
  } else {
    put_size(0xd9, value.size());
  }
  out_ += value;
}

void MsgpackWriter::begin_bytes(std::uint64_t size) { put_size(0xc4, size); }

void MsgpackWriter::begin_list(std::uint64_t count) {
  if (count <= 15) return put(0x90 | static_cast<unsigned>(count));
  if (count <= 0xffff) return put(0xdc, count, 2);
  put(0xdd, count, 4);
}

void MsgpackWriter::begin_map(std::uint64_t count) {
  if (count <= 15) return put(0x80 | static_cast<unsigned>(count));
  if (count <= 0xffff) return put(0xde, count, 2);
  put(0xdf, count, 4);
}

}  // namespace andiron::inline v1::detail
