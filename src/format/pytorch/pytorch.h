// SPDX-License-Identifier: MIT OR Apache-2.0
// PyTorch's files, of every release. The byte layouts are in docs/formats/pytorch.md.
#pragma once

#include "src/format/formats.h"

namespace andiron::inline v1::detail {

bool is_pytorch(const FileHead& head);

// A zip archive, a tar archive, or pickles, found by content. A `.metadata` stands for the folder
// of torch.distributed.checkpoint that it lies in.
Result<Archive> read_pytorch(const ReadContext& context);

}  // namespace andiron::inline v1::detail
