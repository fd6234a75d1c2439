// SPDX-License-Identifier: MIT OR Apache-2.0
// Tells whether shared memory has only one owner.
#pragma once

#include <atomic>
#include <memory>

namespace andiron::inline v1::detail {

// True when `owner` is the last one, and all that former owners did on other threads is done.
template <class T>
bool is_sole_owner(const std::shared_ptr<T>& owner) noexcept {
  if (owner.use_count() != 1) return false;
#if !defined(__SANITIZE_THREAD__)  // which does not know fences
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
  return true;
}

}  // namespace andiron::inline v1::detail
