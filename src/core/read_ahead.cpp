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

class Window {
 public:
  Window() = default;

  Status read_at(std::uint64_t owner, const ByteSource& source, std::uint64_t offset,
                 std::span<std::byte> out) {
    if (owner != owner_) *this = Window(owner, std::move(memory_));
    const bool follows = offset >= last_end_ && offset - last_end_ <= largest_gap;
    in_order_ = follows ? std::min(in_order_ + 1, worth_it) : 0;
    last_end_ = offset + out.size();
    if (!holds(offset, out.size()) && in_order_ >= worth_it) fill(source, offset);
    if (!holds(offset, out.size())) return source.read_at(offset, out);
    if (!out.empty()) std::memcpy(out.data(), memory_.data() + (offset - begin_), out.size());
    return {};
  }

 private:
  Window(std::uint64_t owner, Bytes memory) : owner_(owner), memory_(std::move(memory)) {}

  bool holds(std::uint64_t offset, std::size_t count) const noexcept {
    return offset >= begin_ && offset - begin_ <= filled_ && count <= filled_ - (offset - begin_);
  }

  void fill(const ByteSource& source, std::uint64_t offset) {
    // The source may read ahead, too: an archive can lie within another.
    Window filled(owner_, std::move(memory_));
    filled.last_end_ = last_end_;
    const std::uint64_t left = source.size() - std::min(offset, source.size());
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, left));
    filled.in_order_ = -wait_after_fault;
    if (filled.allocate() && source.read_at(offset, filled.memory_.writable().first(count))) {
      filled.in_order_ = worth_it;
      filled.begin_ = offset;
      filled.filled_ = count;
    }
    *this = std::move(filled);
  }

  bool allocate() {
    if (!memory_.empty()) return true;
    Result<Bytes> memory = Bytes::allocate(window_bytes);
    if (memory) memory_ = *std::move(memory);
    return memory.ok();
  }

  std::uint64_t owner_ = 0;
  Bytes memory_;
  std::uint64_t begin_ = 0;  // in the source
  std::size_t filled_ = 0;
  std::uint64_t last_end_ = 0;  // of the last read
  int in_order_ = 0;            // reads that followed another, as far as that counts
};

std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

ReadAhead::ReadAhead(const ByteSource& source) noexcept : source_(source), id_(next_id()) {}

Status ReadAhead::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  thread_local Window window;
  return window.read_at(id_, source_, offset, out);
}

}  // namespace andiron::inline v1::detail
