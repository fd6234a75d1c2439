// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/safetensors_reader_test.cpp
#include "src/format/safetensors/header.h"

#include <array>

#include "src/codec/file_json.h"
#include "src/core/check_limit.h"
#include "src/core/little_endian.h"
#include "src/core/text/in_quotes.h"
#include "src/core/text/utf8.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {

Result<std::string> safetensors_metadata_json(const Metadata& metadata, const Limits& limits) {
  std::string out = "{";
  for (const auto& [key, value] : metadata) {
    const bool has_nul = (key + value).find('\0') != std::string::npos;
    if (has_nul || !is_utf8(key) || !is_utf8(value)) {
      return Error{.code = ErrorCode::bad_header,
                   .message = has_nul ? "metadata contains a NUL byte" : "metadata must be UTF-8",
                   .found = in_quotes(key)};
    }
    if (out.size() > 1) out += ',';
    append_file_json_string(out, key);
    out += ':';
    append_file_json_string(out, value);
    ANDIRON_TRY(check_limit(out.size(), limits.metadata_bytes,
                            {"too much metadata", &Limits::metadata_bytes, "bytes"}));
  }
  return out + "}";
}

Status finish_safetensors_header(std::string& header, std::uint64_t alignment,
                                 const Limits& limits) {
  const std::uint64_t end = header.size();
  const std::uint64_t padded = (end + alignment - 1) / alignment * alignment;
  const std::uint64_t length = padded - safetensors_length_bytes;
  if (length > limits.header_bytes) {
    Error error = over_limit(std::to_string(length), limits.header_bytes,
                             {"the header would be larger than allowed", nullptr, "bytes"});
    error.code = ErrorCode::header_too_large;
    error.hint =
        end > limits.header_bytes ? Message(Advice::write_shards) : "choose a smaller alignment";
    return error;
  }
  header.append(static_cast<std::size_t>(padded - end), ' ');
  store_u64(length, reinterpret_cast<std::byte*>(header.data()));
  return {};
}

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
    Error error = over_limit(
        std::to_string(length), limits.header_bytes,
        {"the header is larger than allowed", &Limits::header_bytes, "bytes", source.name()});
    error.code = ErrorCode::header_too_large;
    error.hint += "; it may not be a SafeTensors file";
    return error;
  }
  if (length > source.size() - safetensors_length_bytes) {
    return Error{.code = ErrorCode::truncated,
                 .message = "the header extends past the end of the file",
                 .file = source.name(),
                 .found = std::to_string(source.size()) + " bytes in the file",
                 .expected = "at least " + std::to_string(safetensors_length_bytes + length),
                 .hint = "the download may be incomplete"};
  }
  ANDIRON_ASSIGN(Bytes header, Bytes::allocate(length));
  ANDIRON_TRY(source.read_at(safetensors_length_bytes, header.writable()));
  return header;
}

}  // namespace andiron::inline v1::detail
