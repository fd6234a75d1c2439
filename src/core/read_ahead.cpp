// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/read_ahead_test.cpp
#include "src/core/read_ahead.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "andiron/error.h"
#include "src/core/lock.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t window_bytes = 128 * 1024;
// A read that begins so far behind the last one still follows it: headers lie in between.
constexpr std::uint64_t largest_gap = 8 * 1024;
// So many reads in order, and it is worth reading more.
constexpr int worth_it = 4;
// What cannot be read may lie behind what is asked for: so many reads go by before the next try.
constexpr int wait_after_fault = 1000;

// What a thread knows of the source that it read last.
struct LastReads {
  std::uint64_t owner = 0;
  ReadAhead::Window window = {};
  std::uint64_t end = 0;  // of the last read
  int in_order = 0;       // reads that followed another, as far as that counts
};

LastReads& last_reads() {
  ANDIRON_THREAD_LOCAL LastReads last;
  return last;
}

std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

ReadAhead::ReadAhead() noexcept : id_(next_id()) {}

bool ReadAhead::copy(std::uint64_t offset, std::span<std::byte> out) const {
  LastReads& last = last_reads();
  if (last.owner != id_) {
    last = {.owner = id_, .window = {.memory = std::move(last.window.memory)}};
  }
  // Asked for again after a window was read, it is still the same read.
  if (offset + out.size() != last.end) {
    const bool follows = offset >= last.end && offset - last.end <= largest_gap;
    last.in_order = follows ? std::min(last.in_order + 1, worth_it) : 0;
    last.end = offset + out.size();
  }
  const Window& window = last.window;
  if (offset < window.offset || offset - window.offset > window.size) return false;
  const auto skipped = static_cast<std::size_t>(offset - window.offset);
  if (out.size() > window.size - skipped) return false;
  if (!out.empty()) std::memcpy(out.data(), window.memory.data() + skipped, out.size());
  return true;
}

ReadAhead::Window ReadAhead::next_window(std::uint64_t offset, std::uint64_t source_size) const {
  LastReads& last = last_reads();
  if (last.in_order < worth_it) return {};
  // Taken out: the source may read ahead, too, as an archive can lie within another.
  Window window{.memory = std::move(last.window.memory), .offset = offset};
  last.window = {};
  if (window.memory.empty()) {
    Result<Bytes> fresh = Bytes::allocate(window_bytes);
    if (!fresh) return {};
    window.memory = *std::move(fresh);
  }
  window.size = static_cast<std::size_t>(
      std::min<std::uint64_t>(window_bytes, source_size - std::min(offset, source_size)));
  return window;
}

void ReadAhead::keep(Window window) const {
  LastReads& last = last_reads();
  if (window.has_failed) window.size = 0;
  const std::uint64_t end = last.owner == id_ ? last.end : window.offset;
  last = {.owner = id_, .end = end, .in_order = window.has_failed ? -wait_after_fault : worth_it};
  last.window = std::move(window);
}

}  // namespace andiron::inline v1::detail
