// SPDX-License-Identifier: MIT OR Apache-2.0
// Where bytes go. Implement it to write weights to places we do not know.
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

  /// Announces how many bytes will come, so that a full disk is known before the first. Optional.
  virtual Status reserve(std::uint64_t total) { return static_cast<void>(total), Status(); }
  /// Appends all of `data`, or fails.
  virtual Status write(std::span<const std::byte> data) = 0;
};

/// Collects the bytes in memory.
class MemorySink : public Sink {
 public:
  Status reserve(std::uint64_t total) override;
  Status write(std::span<const std::byte> data) override;
  /// What was written; the sink is empty afterwards.
  Bytes take();

 private:
  Bytes data_;
  std::size_t used_ = 0;
};

}  // namespace andiron::inline v1
