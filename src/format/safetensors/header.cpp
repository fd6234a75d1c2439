// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/safetensors_reader_test.cpp
#include "src/format/safetensors/header.h"

#include <array>

#include "src/core/little_endian.h"
#include "src/core/try.h"

namespace andiron {
inline namespace v1 {
namespace detail {

Result<Bytes> read_safetensors_header(const ByteSource& source, const Limits& limits) {
  if (source.size() < safetensors_length_bytes) {
    return Error{.code = ErrorCode::truncated,
                 .message = "the file is too short for SafeTensors",
                 .file = source.name(),
                 .found = std::to_string(source.size()) + " bytes",
                 .expected = "at least 8",
                 .hint = "the download may be incomplete"};
  }
  std::array<std::byte, safetensors_length_bytes> length_bytes;
  ANDIRON_TRY(source.read_at(0, length_bytes));
  const std::uint64_t length = load_u64(length_bytes.data());
  if (length > limits.header_bytes) {
    return Error{.code = ErrorCode::header_too_large,
                 .message = "the header is larger than allowed",
                 .file = source.name(),
                 .found = std::to_string(length) + " bytes",
                 .expected = "at most " + std::to_string(limits.header_bytes),
                 .hint = "this may not be a SafeTensors file"};
  }
  if (length > source.size() - safetensors_length_bytes) {
    return Error{.code = ErrorCode::truncated,
                 .message = "the header passes the end of the file",
                 .file = source.name(),
                 .found = std::to_string(source.size()) + " bytes in the file",
                 .expected = "at least " + std::to_string(safetensors_length_bytes + length),
                 .hint = "the download may be incomplete"};
  }
  ANDIRON_ASSIGN(Bytes header, Bytes::allocate(static_cast<std::size_t>(length)));
  ANDIRON_TRY(source.read_at(safetensors_length_bytes, header.writable()));
  return header;
}

}  // namespace detail
}  // namespace v1
}  // namespace andiron
