// SPDX-License-Identifier: MIT OR Apache-2.0
// The header in front of each entry's data, which repeats what the directory tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "src/codec/zip_directory.h"

namespace andiron::inline v1::detail {

// Unsupported, with the reason, for an entry that is encrypted, a patch, or compressed by a method
// other than deflate.
Status check_zip_entry_is_readable(const ByteSource& source, const ZipEntry& entry);

// Reads the header of an entry, which must agree with the directory, and tells where the data
// begins; it ends before `end`. `head` may hold what was read of the file from the header on.
Result<std::uint64_t> check_zip_local_header(const ByteSource& source, const ZipEntry& entry,
                                             std::uint64_t end, std::span<const std::byte> head);

}  // namespace andiron::inline v1::detail
