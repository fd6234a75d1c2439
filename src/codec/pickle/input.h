// SPDX-License-Identifier: MIT OR Apache-2.0
// The bytes of a pickle in order, from a source that need not be in memory.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/error.h"

namespace andiron::inline v1::detail {

// A little-endian number.
template <class Number>
Number load_number(const char* at) noexcept {
  // Written out rather than as a loop, which compilers know to be one load.
  return [at]<std::size_t... i>(std::index_sequence<i...>) {
    return static_cast<Number>(((std::uint64_t{static_cast<unsigned char>(at[i])} << 8 * i) | ...));
  }(std::make_index_sequence<sizeof(Number)>());
}

// A window into the source, which its owner fills. Bytes stay where they are once they are ready:
// whoever takes the memory keeps all views valid.
class PickleInput {
 public:
  // Small, as a pickle may be small and lie in front of gigabytes of data.
  static constexpr std::size_t first_window_bytes = 4 * 1024;
  static constexpr std::size_t largest_window_bytes = 1024 * 1024;

  // REQUIRES: begin <= end; the source outlives the input.
  PickleInput(const ByteSource& source, std::uint64_t begin, std::uint64_t end) noexcept
      : source_(&source), begin_(begin), next_(begin), end_(end) {}

  const char* at() const noexcept { return at_; }
  // Bytes in memory from at() on.
  std::size_t ready() const noexcept { return static_cast<std::size_t>(window_end_ - at_); }
  // Bytes up to the end, in memory or not.
  std::uint64_t left() const noexcept { return end_ - position(); }
  // Where at() lies in the source.
  std::uint64_t position() const noexcept { return next_ - ready(); }
  // The same of another place in the window.
  std::uint64_t position_of(const char* place) const noexcept {
    return next_ - static_cast<std::size_t>(window_end_ - place);
  }
  std::uint64_t begin() const noexcept { return begin_; }
  std::uint64_t end() const noexcept { return end_; }
  // Whether it may reach over all of a source that lies in memory.
  bool is_all_of_memory() const noexcept {
    return source_->in_memory() && begin_ == 0 && end_ == source_->size();
  }

  // Whether so many bytes are in memory; if not, it is hungry for them. REQUIRES: count <= left().
  bool has(std::uint64_t count) noexcept {
    assert(count <= left());
    if (count <= ready()) return true;
    wanted_end_ = position() + count;
    return false;
  }
  bool is_hungry() const noexcept { return wanted_end_ != 0; }

  // A frame of so many bytes begins here.
  void begin_frame(std::uint64_t size) noexcept { frame_end_ = position() + size; }
  bool is_in_frame() const noexcept { return position() < frame_end_; }
  // Whether `count` bytes, `ahead` of at(), begin in the frame and end behind it.
  bool leaves_frame(std::uint64_t count, std::uint64_t ahead = 0) const noexcept {
    const std::uint64_t begin = position() + ahead;
    return begin < frame_end_ && count > frame_end_ - begin;
  }
  // The end of what is ready, or of the frame if that comes first.
  const char* ready_end() const noexcept {
    return is_in_frame() && leaves_frame(ready()) ? at_ + (frame_end_ - position()) : window_end_;
  }
  // Moves the window on to at(), over at least what is wanted, and tells which part of it is to be
  // read before anything else is done. OutOfMemory.
  struct Unread {
    std::uint64_t offset;
    std::span<std::byte> bytes;
  };
  Result<Unread> next_window();

  // REQUIRES: within what is ready, or just behind it.
  void move_to(const char* at) noexcept { at_ = at; }
  // REQUIRES: count <= ready().
  void advance(std::size_t count) noexcept {
    assert(count <= ready());
    at_ += count;
  }
  // Passes over bytes without reading those that are not in memory. REQUIRES: count <= left().
  void skip(std::uint64_t count) noexcept;

  // REQUIRES: ready() has its bytes.
  template <class Number>
  Number take() noexcept {
    assert(sizeof(Number) <= ready());
    const auto number = load_number<Number>(at_);
    at_ += sizeof(Number);
    return number;
  }

  // What all that was ready lies in.
  std::vector<Bytes> take_memory() noexcept { return std::move(memory_); }

 private:
  const ByteSource* source_;
  std::uint64_t begin_;
  std::uint64_t next_;  // in the source, what lies behind the window
  std::uint64_t end_;
  std::uint64_t wanted_end_ = 0;  // in the source; 0 when nothing is wanted
  std::uint64_t frame_end_ = 0;   // in the source; of the last frame, which may lie behind
  const char* at_ = nullptr;
  const char* window_end_ = nullptr;
  std::size_t window_bytes_ = first_window_bytes;
  std::vector<Bytes> memory_;
};

}  // namespace andiron::inline v1::detail
