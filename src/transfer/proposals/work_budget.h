// SPDX-License-Identifier: MIT OR Apache-2.0
// Work that may still be done.
#pragma once

#include <algorithm>
#include <cstdint>

namespace andiron {
inline namespace v1 {
namespace detail {

// A unit is about a microsecond: a name renamed, compared or looked up.
class WorkBudget {
 public:
  explicit WorkBudget(std::uint64_t units) : left_(units) {}

  // Whether there is something left.
  bool spend(std::uint64_t units) {
    left_ -= std::min(left_, units);
    return left_ > 0;
  }
  bool is_spent() const noexcept { return left_ == 0; }

 private:
  std::uint64_t left_;
};

}  // namespace detail
}  // namespace v1
}  // namespace andiron
