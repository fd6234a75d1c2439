// SPDX-License-Identifier: MIT OR Apache-2.0
// The records that end a zip archive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "andiron/limits.h"

namespace andiron::inline v1::detail {

// Where the directory lies: it ends where these records begin.
struct ZipEnd {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;  // of entries, for which the directory is large enough
};

// The end record of an archive that ends at `end`, and its ZIP64 form where there is one, which
// must agree.
Result<ZipEnd> read_zip_end(const ByteSource& source, std::uint64_t end, const Limits& limits);

// Where the archive ends: before the file does where its last record says so, and bytes follow,
// which a note tells.
Result<std::uint64_t> find_zip_end(const ByteSource& source, std::vector<Message>& notes);

Error zip_on_several_disks(const ByteSource& source);

}  // namespace andiron::inline v1::detail
