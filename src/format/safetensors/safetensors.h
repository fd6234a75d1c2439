// SPDX-License-Identifier: MIT OR Apache-2.0
// SafeTensors files. The byte layout is in docs/formats/safetensors.md.
#pragma once

#include "src/format/formats.h"

namespace andiron::inline v1::detail {

bool is_safetensors(const FileHead& head);
Result<Archive> read_safetensors(const ReadContext& context);
Result<std::uint64_t> write_safetensors(const WriteContext& context);
Kept kept_by_safetensors(const KeptContext& context);

}  // namespace andiron::inline v1::detail
