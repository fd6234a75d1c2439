// SPDX-License-Identifier: MIT OR Apache-2.0
// Records of Burn up to 0.21: what its file recorders wrote, named and in MessagePack or JSON. The
// byte layout is in docs/formats/mpk.md.
#pragma once

#include <cstdint>
#include <string_view>

#include "andiron/archive.h"
#include "andiron/byte_source.h"
#include "andiron/open.h"
#include "andiron/sink.h"
#include "andiron/write.h"

namespace andiron::inline v1::detail {

// Whether a file that begins so is a MessagePack record: a map whose first key is "metadata" or
// "item".
bool is_msgpack_record(std::string_view head);
// The same of JSON: an object whose first key is "item", or which names one of Burn's recorders.
bool is_json_record(std::string_view head);

// MessagePack or JSON, plain or gzip, found by content. NotAWeightFile for a gzip file of other
// content, before it is inflated, unless the options name the format.
Result<Archive> read_record(const ByteSourcePtr& source, const OpenOptions& options);

// MessagePack, compressed or not. Returns how many bytes that took; 0 for a dry run that would
// compress.
Result<std::uint64_t> write_record(const Archive& archive, Sink& sink, const WriteOptions& options,
                                   bool gzip);

}  // namespace andiron::inline v1::detail
