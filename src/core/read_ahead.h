// SPDX-License-Identifier: MIT OR Apache-2.0
// Combines small sequential reads, such as those of many small tensors, into larger ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "andiron/bytes.h"

namespace andiron::inline v1::detail {

// Keeps a window of what was read and decides what to read next; the caller reads:
//
//   if (!ahead.copy(offset, out)) {
//     ReadAhead::Window window = ahead.next_window(offset, source.size());
//     if (!window.bytes().empty()) {
//       window.has_failed = !source.read_at(offset, window.bytes()).ok();
//       ahead.keep(std::move(window));
//     }
//     if (!ahead.copy(offset, out)) ANDIRON_TRY(source.read_at(offset, out));
//   }
//
// Safe from several threads at once: each has one window of 128 KiB, into the source it read last.
class ReadAhead {
 public:
  static constexpr std::size_t largest_read = 8 * 1024;

  struct Window {
    Bytes memory;
    std::size_t size = 0;
    std::uint64_t offset = 0;  // in the source
    bool has_failed = false;

    std::span<std::byte> bytes() { return memory.writable().first(size); }
  };

  ReadAhead() noexcept;
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Copies what the window holds; false where it does not. REQUIRES: out.size() <= largest_read.
  bool copy(std::uint64_t offset, std::span<std::byte> out) const;

  // After copy() found nothing: what to read from `offset` on for the sake of what will follow.
  // Empty where a read by itself is enough: a few in order make the others worth it.
  Window next_window(std::uint64_t offset, std::uint64_t source_size) const;

  // What was read, or what could not be, which is then not tried again for a while: it may lie
  // behind what is asked for.
  void keep(Window window) const;

 private:
  const std::uint64_t id_;  // that windows know this one by
};

}  // namespace andiron::inline v1::detail
