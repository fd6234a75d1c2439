// SPDX-License-Identifier: MIT OR Apache-2.0
// The header before each entry's data, which repeats the directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "src/codec/zip/directory.h"

namespace andiron::inline v1::detail {

// Unsupported, with the reason, for an entry that is encrypted, a patch, or compressed by a method
// other than deflate.
Status check_zip_entry_is_readable(const ByteSource& source, const ZipEntry& entry);

// How many bytes the header takes, by `head`, which holds the file from the header on; where that
// is too short to tell, what tells.
std::uint64_t zip_local_header_size(const ZipEntry& entry, std::span<const std::byte> head);

// Compares the header of an entry with the directory, and tells where the data begins; it ends
// before `end`. REQUIRES: `head` holds the file from the header on, as far as the header goes, or
// all before `end`.
Result<std::uint64_t> check_zip_local_header(const ByteSource& source, const ZipEntry& entry,
                                             std::uint64_t end, std::span<const std::byte> head);

}  // namespace andiron::inline v1::detail
