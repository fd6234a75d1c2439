// SPDX-License-Identifier: MIT OR Apache-2.0
// What every weight format offers to open() and write().
#pragma once

#include <string>
#include <vector>

#include "andiron/archive.h"
#include "andiron/byte_source.h"
#include "andiron/open.h"
#include "andiron/sink.h"
#include "andiron/write.h"

namespace andiron::inline v1::detail {

Result<Archive> read_safetensors(const ByteSourcePtr& source, const OpenOptions& options);
// Writes the given tensors of an archive; returns how many bytes that took.
Result<std::uint64_t> write_safetensors(const Archive& archive, std::vector<std::size_t> tensors,
                                        Metadata metadata, Sink& sink, const WriteOptions& options);

Result<Archive> read_burnpack(const ByteSourcePtr& source, const OpenOptions& options);
// Returns how many bytes that took.
Result<std::uint64_t> write_burnpack(const Archive& archive, Sink& sink,
                                     const WriteOptions& options);

// `*.safetensors.index.json` at `path`, with its text.
Result<Archive> read_sharded(const std::string& path, std::string_view index_text,
                             const OpenOptions& options);
// Tensors in archive order, a new shard whenever the next tensor does not fit.
std::vector<std::vector<std::size_t>> plan_shards(const Archive& archive, std::uint64_t most);
Result<WriteReport> write_sharded(const Archive& archive, const std::string& path,
                                  const std::vector<std::vector<std::size_t>>& shards,
                                  const WriteOptions& options);

}  // namespace andiron::inline v1::detail
