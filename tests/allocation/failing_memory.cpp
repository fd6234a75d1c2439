// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/allocation/failing_memory.h"

#include <execinfo.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace andiron::test {
namespace {

std::atomic<std::int64_t> live = 0;
std::atomic<std::size_t> largest_block = SIZE_MAX;
thread_local std::uint64_t calls_left = 0;  // until one fails; 0 where none is to fail
thread_local Failing mode = Failing::once;
thread_local Allocator counted = Allocator::operator_new;
thread_local bool failed = false;
// What operator new and the look at the stack ask malloc for is not counted.
thread_local bool is_within = false;

struct Within {
  Within() noexcept { is_within = true; }
  ~Within() { is_within = before; }
  const bool before = is_within;
};

// Libraries that are not written to survive a failure: of RE2 and OpenMP the process ends, and
// oneDNN 2.6 uses what malloc returned. An exception passes through oneDNN to us.
struct FragileLibrary {
  const char* name;
  bool survives_new;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};
using FragileLibraries = std::array<FragileLibrary, 4>;

int find_code(dl_phdr_info* loaded, std::size_t, void* wanted) {
  for (FragileLibrary& library : *static_cast<FragileLibraries*>(wanted)) {
    if (std::strstr(loaded->dlpi_name, library.name) == nullptr) continue;
    for (int i = 0; i < loaded->dlpi_phnum; ++i) {
      const auto& part = loaded->dlpi_phdr[i];
      if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
      library.begin = loaded->dlpi_addr + part.p_vaddr;
      library.end = library.begin + part.p_memsz;
    }
  }
  return 0;
}

bool is_called_by_a_fragile_library(Allocator which) {
  static const FragileLibraries libraries = [] {
    FragileLibraries found = {
        {{"libre2", false}, {"libgomp", false}, {"libomp", false}, {"libdnnl", true}}};
    dl_iterate_phdr(find_code, &found);
    return found;
  }();
  std::array<void*, 256> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  return std::any_of(frames.begin(), frames.begin() + count, [&](void* frame) {
    const auto at = reinterpret_cast<std::uintptr_t>(frame);
    return std::any_of(libraries.begin(), libraries.end(), [&](const FragileLibrary& library) {
      const bool survives = library.survives_new && which == Allocator::operator_new;
      return !survives && at >= library.begin && at < library.end;
    });
  });
}

bool is_to_fail(Allocator which) {
  if (calls_left == 0 || is_within) return false;
  // When memory is used up, it is so for all.
  const bool is_used_up = failed && mode == Failing::onwards;
  if ((which != counted && !is_used_up) || --calls_left != 0) return false;
  // Only now, as looking at the stack is slow. The next one fails in place of theirs.
  const Within within;
  if (is_called_by_a_fragile_library(which)) {
    calls_left = 1;
    return false;
  }
  failed = true;
  if (mode == Failing::onwards) calls_left = 1;
  return true;
}

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (is_to_fail(Allocator::operator_new)) return nullptr;
  const Within within;
  // As new does, even nothing has an address of its own.
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* memory = alignment <= alignof(std::max_align_t)
                     ? std::malloc(size == 0 ? 1 : size)
                     : std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* memory = allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

constexpr std::size_t usual = 1;

}  // namespace

FailingMemory::FailingMemory(std::uint64_t n, Failing how, Allocator which) noexcept {
  failed = false;
  mode = how;
  counted = which;
  calls_left = n;
}
FailingMemory::~FailingMemory() { calls_left = 0; }

LargestBlock::LargestBlock(std::size_t bytes) noexcept { largest_block = bytes; }
LargestBlock::~LargestBlock() { largest_block = SIZE_MAX; }

bool has_failed() noexcept { return failed; }
std::int64_t live_allocations() noexcept { return live.load(std::memory_order_relaxed); }

}  // namespace andiron::test

using andiron::test::allocate;
using andiron::test::allocate_or_throw;
using andiron::test::release;
using andiron::test::usual;

void* operator new(std::size_t size) { return allocate_or_throw(size, usual); }
void* operator new[](std::size_t size) { return allocate_or_throw(size, usual); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, usual);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, usual);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  release(memory);
}

#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ANDIRON_MALLOC_OF_OTHERS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ANDIRON_MALLOC_OF_OTHERS
#endif
#endif

#if defined(ANDIRON_MALLOC_OF_OTHERS)
const bool andiron::test::has_own_malloc = false;
#else
const bool andiron::test::has_own_malloc = true;

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace andiron::test {
namespace {

template <class Real>
void* unless_it_is_to_fail(std::size_t size, Real real) noexcept {
  if (size <= largest_block && !is_to_fail(Allocator::malloc)) return real();
  errno = ENOMEM;
  return nullptr;
}

}  // namespace
}  // namespace andiron::test

using andiron::test::unless_it_is_to_fail;

extern "C" {

void* malloc(std::size_t size) noexcept {
  return unless_it_is_to_fail(size, [&] { return __libc_malloc(size); });
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  return unless_it_is_to_fail(count * size, [&] { return __libc_calloc(count, size); });
}
void* realloc(void* memory, std::size_t size) noexcept {
  return unless_it_is_to_fail(size, [&] { return __libc_realloc(memory, size); });
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return unless_it_is_to_fail(size, [&] { return __libc_memalign(alignment, size); });
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  void* const memory = memalign(alignment, size);
  if (memory != nullptr) *out = memory;
  return memory != nullptr ? 0 : ENOMEM;
}

}  // extern "C"

#endif
