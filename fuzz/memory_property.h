// SPDX-License-Identifier: MIT OR Apache-2.0
// How much memory is held, by the count of the sanitizer's allocator.
#pragma once

#include <sanitizer/allocator_interface.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace andiron::fuzz {

// The most that opening, listing and printing a file may hold at once.
constexpr std::int64_t most_held_for(std::size_t file_bytes) {
  return (std::int64_t{32} << 20) + 64 * static_cast<std::int64_t>(file_bytes);
}

// Counts from its construction on. There may be one at a time.
class HeldMemory {
 public:
  HeldMemory() {
    static const bool is_installed =
        __sanitizer_install_malloc_and_free_hooks(count_allocated, count_freed) != 0;
    static_cast<void>(is_installed);
    held() = 0;
    highest() = 0;
  }
  std::int64_t most() const { return highest(); }

 private:
  static std::atomic<std::int64_t>& held() {
    static std::atomic<std::int64_t> bytes;
    return bytes;
  }
  static std::atomic<std::int64_t>& highest() {
    static std::atomic<std::int64_t> bytes;
    return bytes;
  }
  static void count_allocated(const volatile void*, std::size_t size) {
    const std::int64_t now = held() += static_cast<std::int64_t>(size);
    if (now > highest()) highest() = now;
  }
  static void count_freed(const volatile void* memory) {
    if (memory == nullptr) return;
    held() -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(memory));
  }
};

}  // namespace andiron::fuzz
