// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/huge_page_memory_test.cpp
#include "src/core/huge_page_memory.h"

#include <array>
#include <new>

#include "andiron/bytes.h"
#include "src/core/advise_huge_pages.h"
#include "src/core/lock.h"

namespace andiron::inline v1::detail {
namespace {

// Reuse would hide what AddressSanitizer looks for. g++ and clang tell of it in different ways.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool reuses = false;
#elif defined(__has_feature)
constexpr bool reuses = !__has_feature(address_sanitizer);
#else
constexpr bool reuses = true;
#endif
// What opening a PyTorch file of 100 000 tensors takes, and some more.
constexpr std::size_t most_kept = reuses ? std::size_t{96} << 20 : 0;
constexpr auto alignment = std::align_val_t(Bytes::huge_page_bytes);

// Whole pages, so that blocks of nearly one size fit each other.
std::size_t rounded_to_pages(std::size_t size) {
  return (size + Bytes::huge_page_bytes - 1) / Bytes::huge_page_bytes * Bytes::huge_page_bytes;
}

struct Block {
  void* memory = nullptr;
  std::size_t size = 0;
};

Mutex mutex;
std::array<Block, 16> kept;  // empty places have no memory
std::size_t kept_bytes = 0;

}  // namespace

void* take_large_block(std::size_t size) noexcept {
  size = rounded_to_pages(size);
  {
    const Lock lock(mutex);
    for (Block& block : kept) {
      if (block.size != size) continue;
      kept_bytes -= size;
      block.size = 0;
      return block.memory;
    }
  }
  void* memory = ::operator new(size, alignment, std::nothrow);
  if (memory != nullptr) advise_huge_pages(memory, size);
  return memory;
}

void give_large_block(void* block, std::size_t size) noexcept {
  size = rounded_to_pages(size);
  {
    const Lock lock(mutex);
    for (Block& place : kept) {
      if (place.size != 0 || kept_bytes + size > most_kept) continue;
      kept_bytes += size;
      place = {block, size};
      return;
    }
  }
  ::operator delete(block, alignment);
}

void free_kept_blocks(std::uint64_t wanted) noexcept {
  const Lock lock(mutex);
  bool is_found = false;
  for (Block& block : kept) {
    const bool is_wanted =
        !is_found && block.size >= wanted && block.size - wanted < Bytes::huge_page_bytes;
    is_found = is_found || is_wanted;
    if (block.size == 0 || is_wanted) continue;
    ::operator delete(block.memory, alignment);
    kept_bytes -= block.size;
    block = {};
  }
}

}  // namespace andiron::inline v1::detail
