// SPDX-License-Identifier: MIT OR Apache-2.0
// The first bytes of a SafeTensors file.
#pragma once

#include <string>

#include "andiron/archive.h"
#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/limits.h"

namespace andiron::inline v1::detail {

inline constexpr std::size_t safetensors_length_bytes = 8;

// Metadata as the value of `__metadata__`, sorted by key.
Result<std::string> safetensors_metadata_json(const Metadata& metadata, const Limits& limits);

// Pads a header (8 bytes for its length, then the JSON text) with spaces so that data after it is
// aligned, and fills in the length.
Status finish_safetensors_header(std::string& header, std::uint64_t alignment,
                                 const Limits& limits);

// The header's text in memory of its own, its length checked against the limit and the file.
Result<Bytes> read_safetensors_header(const ByteSource& source, const Limits& limits);

}  // namespace andiron::inline v1::detail
