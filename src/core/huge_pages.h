// SPDX-License-Identifier: MIT OR Apache-2.0
// What memory asks of the system's pages. Implemented in src/io, where all system calls are.
#pragma once

#include <cstddef>

namespace andiron::inline v1 {

/// Asks for huge pages under the part of the range that can have them. Only a wish: it changes
/// speed, never behaviour, and where the system refuses nothing happens.
void advise_huge_pages(void* begin, std::size_t bytes) noexcept;

}  // namespace andiron::inline v1
