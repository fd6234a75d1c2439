// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory for large buffers, reused: fresh pages, which the system must find and clear, cost several
// times what it takes to fill them.
#pragma once

#include <cstddef>

namespace andiron {
inline namespace v1 {
namespace detail {

// Memory of `size` bytes, aligned to and asking for huge pages; nullptr when there is none. Safe
// from several threads.
void* take_large_block(std::size_t size) noexcept;
// Gives it back. Up to 96 MiB are kept for later calls, the rest goes back to the system.
void give_large_block(void* block, std::size_t size) noexcept;

}  // namespace detail
}  // namespace v1
}  // namespace andiron
