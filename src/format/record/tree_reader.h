// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads records into archives, whatever their encoding.
#pragma once

#include <cstdint>
#include <string>

#include "andiron/archive.h"
#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "andiron/open.h"
#include "src/core/memory_budget.h"
#include "src/format/record/cursor.h"

namespace andiron::inline v1::detail {

// What a record is read from.
struct RecordOrigin {
  ByteSourcePtr file;     // what is opened
  ByteSourcePtr content;  // the same, or what a compressed file inflates to
  std::string packaging;
  std::uint64_t held_bytes = 0;  // of the content in memory that count against the limit
};

// The tree that `cursor`, which goes over the content, gives.
Result<Archive> read_tree(const RecordOrigin& origin, RecordCursor& cursor,
                          const OpenOptions& options, MemoryBudget& budget);

}  // namespace andiron::inline v1::detail
