// SPDX-License-Identifier: MIT OR Apache-2.0
// The work that may still be done.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace andiron::inline v1::detail {

// A unit is about a microsecond: a name renamed, compared or looked up.
class WorkBudget {
 public:
  explicit WorkBudget(std::uint64_t units) : left_(units) {}

  // Returns false if nothing is left.
  bool spend(std::uint64_t units) {
    left_ -= std::min(left_, units);
    return left_ > 0;
  }
  bool is_spent() const noexcept { return left_ == 0; }

 private:
  std::uint64_t left_;
};

// The work of aligning two names.
inline std::uint64_t work_to_compare(std::string_view a, std::string_view b) {
  constexpr std::uint64_t characters_squared = 2048;
  return 1 + std::uint64_t{a.size()} * b.size() / characters_squared;
}

}  // namespace andiron::inline v1::detail
