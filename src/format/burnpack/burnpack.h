// SPDX-License-Identifier: MIT OR Apache-2.0
// Burnpack files. The byte layout is in docs/formats/burnpack.md.
#pragma once

#include "src/format/formats.h"

namespace andiron::inline v1::detail {

bool is_burnpack(const FileHead& head);
Result<Archive> read_burnpack(const ReadContext& context);
Result<std::uint64_t> write_burnpack(const WriteContext& context);
Kept kept_by_burnpack(const KeptContext& context);

}  // namespace andiron::inline v1::detail
