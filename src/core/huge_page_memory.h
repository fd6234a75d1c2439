// SPDX-License-Identifier: MIT OR Apache-2.0
// Reuses the memory of large buffers: the system must find and clear fresh pages, which takes
// several times as long as filling them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "andiron/bytes.h"

namespace andiron::inline v1::detail {

// Returns `size` bytes, aligned to huge pages and requesting them, or nullptr. Safe from several
// threads at once.
void* take_large_block(std::size_t size) noexcept;
// Frees a block. Up to 96 MiB are kept for later calls.
void give_large_block(void* block, std::size_t size) noexcept;
// Returns what is kept to the system, but for one block that a call for `wanted` bytes takes.
void free_kept_blocks(std::uint64_t wanted) noexcept;

// What to allocate for `bytes` of an index of a file: a page fault for each 4 KiB costs more than a
// huge page that is used in part.
constexpr std::size_t index_block_bytes(std::size_t bytes) noexcept {
  return bytes > Bytes::huge_page_bytes / 8 ? std::max(bytes, Bytes::huge_page_bytes) : bytes;
}

}  // namespace andiron::inline v1::detail
