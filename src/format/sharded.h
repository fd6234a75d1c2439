// SPDX-License-Identifier: MIT OR Apache-2.0
// Models spread over several files, with Hugging Face's index:
//
//   {"metadata": {"total_size": bytes, ...},
//    "weight_map": {"tensor": "model-00001-of-00002.safetensors", ...}}
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/format/formats.h"

namespace andiron::inline v1::detail {

// The model whose index this is; NotAWeightFile for other JSON.
Result<Archive> read_sharded(const ReadContext& context);

// Tensors in archive order, a new shard whenever the next tensor does not fit.
std::vector<std::vector<std::size_t>> plan_shards(const Archive& archive, std::uint64_t most);
// `named`: the format, and the end of the path.
Result<WriteReport> write_sharded(const Archive& archive, const std::string& path,
                                  const NamedFormat& named,
                                  const std::vector<std::vector<std::size_t>>& shards,
                                  const WriteOptions& options);

}  // namespace andiron::inline v1::detail
