// SPDX-License-Identifier: MIT OR Apache-2.0
// Huge pages for large buffers.
#include "src/core/advise_huge_pages.h"

#include <cstdint>

#include "andiron/bytes.h"
#include "src/io/system_calls.h"

namespace andiron::inline v1 {

void advise_huge_pages(void* begin, std::size_t bytes) noexcept {
  constexpr std::size_t page = Bytes::huge_page_bytes;
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(begin) % page) % page;
  if (bytes < before + page) return;
  const std::size_t whole = (bytes - before) / page * page;
  system_calls().advise_huge_pages(static_cast<std::byte*>(begin) + before, whole);
}

}  // namespace andiron::inline v1
