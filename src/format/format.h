// SPDX-License-Identifier: MIT OR Apache-2.0
// What every weight format offers to open() and write().
#pragma once

#include <string>

#include "andiron/archive.h"
#include "andiron/byte_source.h"
#include "andiron/open.h"
#include "andiron/sink.h"
#include "andiron/write.h"

namespace andiron {
inline namespace v1 {
namespace detail {

Result<Archive> read_safetensors(const ByteSourcePtr& source, const OpenOptions& options);
Status write_safetensors(const Archive& archive, Sink& sink, const WriteOptions& options,
                         std::uint64_t& bytes_written);

// `*.safetensors.index.json` at `path`, with its text.
Result<Archive> read_sharded(const std::string& path, std::string_view index_text,
                             const OpenOptions& options);
Result<WriteReport> write_sharded(const Archive& archive, const std::string& path,
                                  const WriteOptions& options);

}  // namespace detail
}  // namespace v1
}  // namespace andiron
