// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory for large buffers, reused: fresh pages, which the system must find and clear, cost several
// times what it takes to fill them.
#pragma once

#include <algorithm>
#include <cstddef>

#include "andiron/bytes.h"

namespace andiron::inline v1::detail {

// Memory of `size` bytes, aligned to and asking for huge pages; nullptr when there is none. Safe
// from several threads.
void* take_large_block(std::size_t size) noexcept;
// Gives it back. Up to 96 MiB are kept for later calls, the rest goes back to the system.
void give_large_block(void* block, std::size_t size) noexcept;

// What to allocate for `bytes` of an index of a file: a page fault for each 4 KiB costs more than a
// huge page that is used in part.
constexpr std::size_t index_block_bytes(std::size_t bytes) noexcept {
  return bytes > Bytes::huge_page_bytes / 8 ? std::max(bytes, Bytes::huge_page_bytes) : bytes;
}

}  // namespace andiron::inline v1::detail
