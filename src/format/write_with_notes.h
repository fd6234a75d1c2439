// SPDX-License-Identifier: MIT OR Apache-2.0
// Writing for callers whose report tells of the archive, too.
#pragma once

#include <string>

#include "andiron/write.h"

namespace andiron::inline v1::detail {

// As write(), with the archive's notes before those on the file. They are put together before the
// file is in place, as nothing may fail after that.
Result<WriteReport> write_with_notes(const Archive& archive, const std::string& path,
                                     const WriteOptions& options);

}  // namespace andiron::inline v1::detail
