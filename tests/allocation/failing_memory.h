// SPDX-License-Identifier: MIT OR Apache-2.0
// Allocations that fail when a test wants them to. The program that links failing_memory.cpp gets
// its operator new and its malloc, in all their forms.
#pragma once

#include <cstddef>
#include <cstdint>

namespace andiron::test {

enum class Failing : bool {
  once,     ///< one allocation; there is memory for the error
  onwards,  ///< that one and all after it, as when memory is really used up
};

/// Where an allocation comes from.
enum class Allocator : bool {
  operator_new,
  malloc,  ///< called by others than operator new: the C library, zlib, OpenSSL, exceptions
};

/// Makes allocations fail from the n-th on that this thread makes by `which`, counted from 1, until
/// destroyed. Those of libraries that do not survive a failure succeed (RE2, libgomp, and those of
/// oneDNN by malloc). Sanitizers have a malloc of their own, so there none of that kind is counted.
class FailingMemory {
 public:
  FailingMemory(std::uint64_t n, Failing how, Allocator which = Allocator::operator_new) noexcept;
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
};

/// No thread can have a block of more than so many bytes, until destroyed. This reaches what is
/// allocated inside oneDNN, too.
class LargestBlock {
 public:
  explicit LargestBlock(std::size_t bytes) noexcept;
  ~LargestBlock();
  LargestBlock(const LargestBlock&) = delete;
  LargestBlock& operator=(const LargestBlock&) = delete;
};

/// Whether malloc() is that of this program: sanitizers have their own.
extern const bool has_own_malloc;

/// Whether an allocation failed since the last FailingMemory began.
bool has_failed() noexcept;

/// How many blocks of operator new this process holds.
std::int64_t live_allocations() noexcept;

}  // namespace andiron::test
