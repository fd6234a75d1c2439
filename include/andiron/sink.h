// SPDX-License-Identifier: MIT OR Apache-2.0
// Where bytes go. Implement Sink to write weights to your own destination. Exceptions that it
// throws pass through.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstdint>
#include <span>

#include "andiron/bytes.h"
#include "andiron/error.h"

namespace andiron::inline v1 {

/// Takes bytes in order. Used by one thread at a time.
class Sink {
 public:
  virtual ~Sink() = default;

  /// Announces the total size, so that a full disk fails before the first write. Optional.
  virtual Status reserve(std::uint64_t total) { return static_cast<void>(total), Status(); }
  /// Appends all of `data`, or fails.
  virtual Status write(std::span<const std::byte> data) = 0;
};

/// Collects the bytes in memory.
class MemorySink : public Sink {
 public:
  Status reserve(std::uint64_t total) override;
  Status write(std::span<const std::byte> data) override;
  /// Returns the bytes. The sink is empty afterwards.
  Bytes take();

 private:
  Bytes data_;
  std::size_t used_ = 0;
};

}  // namespace andiron::inline v1
