// SPDX-License-Identifier: MIT OR Apache-2.0
// What core needs from the system's memory pages. Implemented in src/io, which has all system
// calls.
#pragma once

#include <cstddef>

namespace andiron::inline v1 {

/// Requests huge pages for the part of the range that can have them. A hint only: it changes speed,
/// never behavior. If the system refuses, nothing happens.
void advise_huge_pages(void* begin, std::size_t bytes) noexcept;

}  // namespace andiron::inline v1
