// SPDX-License-Identifier: MIT OR Apache-2.0
// Compressed data that several workers read: they share what they can, and wait for memory.
#pragma once

#include <cstdint>

#include "src/core/lock.h"
#include "src/core/reading_order.h"

namespace andiron::inline v1::detail {

// Who reads compressed data takes a turn. Data that would not fit into memory beside what others
// read waits until they are done; otherwise, each worker would push out what another one needs.
class ReadingTurns {
 public:
  // A worker has one turn at a time. The inputs must live as long as it.
  class Turn {
   public:
    Turn(ReadingTurns& all, const CompressedInputs& inputs) noexcept;
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    friend class ReadingTurns;
    ReadingTurns& all_;
    const CompressedInputs& inputs_;
    Turn* next_ = nullptr;
  };

 private:
  bool is_read(const ByteSource* source) const noexcept;
  // Of inputs that nobody reads yet.
  std::uint64_t memory_for(const CompressedInputs& inputs) const noexcept;
  bool has_room_for(const CompressedInputs& inputs) const noexcept;

  Mutex mutex_;
  Condition changed_;
  Turn* first_ = nullptr;     // of all that read compressed data now
  std::uint64_t memory_ = 0;  // of that data
};

}  // namespace andiron::inline v1::detail
