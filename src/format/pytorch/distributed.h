// SPDX-License-Identifier: MIT OR Apache-2.0
// Folders of torch.distributed.checkpoint.
#pragma once

#include "src/format/formats.h"

namespace andiron::inline v1::detail {

// The checkpoint whose `.metadata` this is. REQUIRES: context.files.
Result<Archive> read_distributed(const ReadContext& context);

}  // namespace andiron::inline v1::detail
