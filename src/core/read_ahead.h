// SPDX-License-Identifier: MIT OR Apache-2.0
// Small reads of a source that follow each other, as those of the many small tensors of a model,
// come out of one larger read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "andiron/byte_source.h"
#include "andiron/error.h"

namespace andiron::inline v1::detail {

// Safe from several threads: each has one window of 128 KiB, into the source that it read last.
class ReadAhead {
 public:
  static constexpr std::size_t largest_read = 8 * 1024;

  // REQUIRES: the source outlives this.
  explicit ReadAhead(const ByteSource& source) noexcept;
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // As read_at() of the source, which a few reads in order fill a window from; a read by itself
  // brings its own bytes alone. What the window holds is not read again. REQUIRES:
  // out.size() <= largest_read.
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  const ByteSource& source_;
  const std::uint64_t id_;  // that windows know this one by
};

}  // namespace andiron::inline v1::detail
