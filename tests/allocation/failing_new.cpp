// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/allocation/failing_new.h"

#include <execinfo.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace andiron::test {
namespace {

std::atomic<std::int64_t> live = 0;
thread_local std::uint64_t calls_left = 0;  // until one fails; 0 where none is to fail
thread_local Failing mode = Failing::once;
thread_local bool failed = false;

struct CodeRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

int find_re2(dl_phdr_info* library, std::size_t, void* found) {
  if (std::strstr(library->dlpi_name, "libre2") == nullptr) return 0;
  auto& range = *static_cast<CodeRange*>(found);
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& part = library->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    range.begin = library->dlpi_addr + part.p_vaddr;
    range.end = range.begin + part.p_memsz;
  }
  return 1;
}

bool is_called_by_re2() {
  static const CodeRange re2 = [] {
    CodeRange range;
    dl_iterate_phdr(find_re2, &range);
    return range;
  }();
  std::array<void*, 256> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int i = 0; i < count; ++i) {
    const auto at = reinterpret_cast<std::uintptr_t>(frames[static_cast<std::size_t>(i)]);
    if (at >= re2.begin && at < re2.end) return true;
  }
  return false;
}

bool is_to_fail() {
  if (calls_left == 0 || --calls_left != 0) return false;
  // Only now, as looking at the stack is slow. The next one fails in place of RE2's.
  if (is_called_by_re2()) {
    calls_left = 1;
    return false;
  }
  failed = true;
  if (mode == Failing::onwards) calls_left = 1;
  return true;
}

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (is_to_fail()) return nullptr;
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

FailingNew::FailingNew(std::uint64_t n, Failing how) noexcept {
  failed = false;
  mode = how;
  calls_left = n;
}
FailingNew::~FailingNew() { calls_left = 0; }

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
