// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/read_ahead_test.cpp
#include "src/core/read_ahead.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "andiron/bytes.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t window_bytes = 128 * 1024;
// A read that begins so far behind the last one still follows it: headers lie in between.
constexpr std::uint64_t largest_gap = 8 * 1024;
// So many reads in order, and it is worth reading more.
constexpr int worth_it = 4;
// What cannot be read may lie behind what is asked for: so many reads go by before the next try.
constexpr int wait_after_fault = 1000;

struct Window {
  std::uint64_t owner = 0;
  Bytes memory = {};
  std::uint64_t begin = 0;  // in the source
  std::size_t filled = 0;
  std::uint64_t last_end = 0;  // of the last read
  int in_order = 0;            // reads that followed another, as far as that counts

  bool holds(std::uint64_t offset, std::size_t count) const noexcept {
    return offset >= begin && offset - begin <= filled && count <= filled - (offset - begin);
  }
  bool allocate() {
    if (!memory.empty()) return true;
    Result<Bytes> fresh = Bytes::allocate(window_bytes);
    if (fresh) memory = *std::move(fresh);
    return fresh.ok();
  }
};

std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

ReadAhead::ReadAhead(const ByteSource& source) noexcept : source_(source), id_(next_id()) {}

Status ReadAhead::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  thread_local Window window;
  if (window.owner != id_) window = {.owner = id_, .memory = std::move(window.memory)};
  const bool follows = offset >= window.last_end && offset - window.last_end <= largest_gap;
  window.in_order = follows ? std::min(window.in_order + 1, worth_it) : 0;
  window.last_end = offset + out.size();
  if (!window.holds(offset, out.size()) && window.in_order >= worth_it) {
    // The source may read ahead, too: an archive can lie within another.
    Window filled{.owner = id_, .memory = std::move(window.memory), .last_end = window.last_end};
    const std::uint64_t left = source_.size() - std::min(offset, source_.size());
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, left));
    filled.in_order = -wait_after_fault;
    if (filled.allocate() && source_.read_at(offset, filled.memory.writable().first(count))) {
      filled.in_order = worth_it;
      filled.begin = offset;
      filled.filled = count;
    }
    window = std::move(filled);
  }
  if (!window.holds(offset, out.size())) return source_.read_at(offset, out);
  if (!out.empty()) {
    std::memcpy(out.data(), window.memory.data() + (offset - window.begin), out.size());
  }
  return {};
}

}  // namespace andiron::inline v1::detail
