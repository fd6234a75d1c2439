// SPDX-License-Identifier: MIT OR Apache-2.0
// Numbers as text. Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace andiron::inline v1::detail {

class Decimal {
 public:
  explicit constexpr Decimal(std::uint64_t value) noexcept {
    // Firmware divides 32 bits in one instruction, and 64 in a function.
    while (value >> 32 != 0) {
      put(static_cast<unsigned>(value % 10));
      value /= 10;
    }
    auto rest = static_cast<std::uint32_t>(value);
    do {
      put(rest % 10);
      rest /= 10;
    } while (rest != 0);
  }
  constexpr std::string_view text() const noexcept { return {digits_ + at_, sizeof digits_ - at_}; }

 private:
  constexpr void put(unsigned digit) noexcept { digits_[--at_] = static_cast<char>('0' + digit); }

  char digits_[20] = {};
  std::size_t at_ = sizeof digits_;
};

}  // namespace andiron::inline v1::detail
