// SPDX-License-Identifier: MIT OR Apache-2.0
// PyTorch's files, of every release. The byte layouts are in docs/formats/pytorch.md.
#pragma once

#include <string>
#include <string_view>

#include "andiron/archive.h"
#include "andiron/byte_source.h"
#include "andiron/open.h"

namespace andiron::inline v1::detail {

// Whether a file that begins so is a pickle, of a release of PyTorch before 1.6 or of anything.
bool is_pickle(std::string_view head);

// A zip archive, a tar archive, or pickles, found by content.
Result<Archive> read_pytorch(const ByteSourcePtr& source, const OpenOptions& options);

// A folder of torch.distributed.checkpoint, by the path of the `.metadata` in it.
Result<Archive> read_distributed(const std::string& metadata_path, const OpenOptions& options);

}  // namespace andiron::inline v1::detail
