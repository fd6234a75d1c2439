// SPDX-License-Identifier: MIT OR Apache-2.0
// NumPy's files: an array in .npy, several in .npz. The byte layouts are in docs/formats/numpy.md.
#pragma once

#include "src/format/formats.h"

namespace andiron::inline v1::detail {

bool is_numpy(const FileHead& head);

// Entry NAME.npy of an archive is tensor NAME; a lone array has the empty name. Of each array its
// header is read, and nothing else.
Result<Archive> read_numpy(const ReadContext& context);

// An .npy file holds one tensor.
Result<std::uint64_t> write_numpy(const WriteContext& context);
Kept kept_by_numpy(const KeptContext& context);

}  // namespace andiron::inline v1::detail
