// SPDX-License-Identifier: MIT OR Apache-2.0
// Records of Burn up to 0.21: what its file recorders wrote. Named ones in MessagePack or JSON, and
// bincode, which holds tensors in the order of a Rust struct's fields, without names. The byte
// layout is in docs/formats/mpk.md.
#pragma once

#include "src/format/formats.h"

namespace andiron::inline v1::detail {

bool is_record(const FileHead& head);
// MessagePack, JSON or bincode, plain or gzip, found by content. Unsupported for bincode unless the
// options tell the tensors that are expected.
Result<Archive> read_record(const ReadContext& context);

// MessagePack, compressed where the ending says so. A dry run that would compress gives 0.
Result<std::uint64_t> write_record(const WriteContext& context);
Kept kept_by_record(const KeptContext& context);

}  // namespace andiron::inline v1::detail
