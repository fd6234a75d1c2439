// SPDX-License-Identifier: MIT OR Apache-2.0
// The last bytes that were inflated, which matches may repeat.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "src/codec/deflate/portable_symbols.h"

namespace andiron::inline v1::detail {

class InflateWindow {
 public:
  InflateWindow() noexcept {}  // leaves its memory as it is

  void clear() noexcept { used_ = 0; }
  std::size_t used() const noexcept { return used_; }

  void append(std::span<const std::byte> bytes) noexcept {
    bytes = bytes.last(std::min(bytes.size(), ring_.size()));
    used_ = std::min(used_ + bytes.size(), ring_.size());
    while (!bytes.empty()) {
      const std::size_t count = std::min(bytes.size(), ring_.size() - next_);
      std::memcpy(&ring_[next_], bytes.data(), count);
      next_ = (next_ + count) % ring_.size();
      bytes = bytes.subspan(count);
    }
  }

  // Copies bytes from so far before the end. Returns how many, as the window may end before.
  // REQUIRES: 0 < back <= used(), and room for one byte or more.
  std::size_t copy(std::size_t back, std::span<std::byte> out) const noexcept {
    const std::size_t from = (next_ - back) % ring_.size();
    const std::size_t count = std::min({out.size(), back, ring_.size() - from});
    std::memcpy(out.data(), &ring_[from], count);
    return count;
  }

 private:
  std::array<std::byte, deflate_window_bytes> ring_;  // a power of two
  std::size_t used_ = 0;
  std::size_t next_ = 0;
};

}  // namespace andiron::inline v1::detail
