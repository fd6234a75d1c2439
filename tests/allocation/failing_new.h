// SPDX-License-Identifier: MIT OR Apache-2.0
// Allocations that fail when a test wants them to. The program that links failing_new.cpp gets its
// operator new, in all its forms.
#pragma once

#include <cstdint>

namespace andiron::test {

enum class Failing : bool {
  once,     ///< one allocation; there is memory for the error
  onwards,  ///< that one and all after it, as when memory is really used up
};

/// Makes operator new fail from the n-th call on this thread, counted from 1, until destroyed.
/// Allocations within RE2 succeed: it is not written to survive failures.
class FailingNew {
 public:
  FailingNew(std::uint64_t n, Failing how) noexcept;
  ~FailingNew();
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
};

/// Whether an allocation failed since the last FailingNew began.
bool has_failed() noexcept;

/// How many blocks of operator new this process holds.
std::int64_t live_allocations() noexcept;

}  // namespace andiron::test
