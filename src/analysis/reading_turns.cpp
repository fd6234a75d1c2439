// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/analysis/reading_turns_test.cpp
#include "src/analysis/reading_turns.h"

#include <algorithm>
#include <limits>

namespace andiron::inline v1::detail {
namespace {

bool reads_compressed_data(const CompressedInputs& inputs) {
  return inputs[0].source != nullptr || inputs[1].source != nullptr;
}

}  // namespace

ReadingTurns::Turn::Turn(ReadingTurns& all, const CompressedInputs& inputs) noexcept
    : all_(all), inputs_(inputs) {
  if (!reads_compressed_data(inputs_)) return;
  Lock lock(all_.mutex_);
  all_.changed_.wait(lock, [this] { return all_.has_room_for(inputs_); });
  all_.memory_ += all_.memory_for(inputs_);
  next_ = all_.first_;
  all_.first_ = this;
}

ReadingTurns::Turn::~Turn() {
  if (!reads_compressed_data(inputs_)) return;
  const Lock lock(all_.mutex_);
  Turn** place = &all_.first_;
  while (*place != this) place = &(*place)->next_;
  *place = next_;
  all_.memory_ -= all_.memory_for(inputs_);
  all_.changed_.notify_all();
}

bool ReadingTurns::is_read(const ByteSource* source) const noexcept {
  for (const Turn* turn = first_; turn != nullptr; turn = turn->next_) {
    for (const CompressedData& data : turn->inputs_) {
      if (data.source == source) return true;
    }
  }
  return false;
}

std::uint64_t ReadingTurns::memory_for(const CompressedInputs& inputs) const noexcept {
  const auto& [a, b] = inputs;
  std::uint64_t memory = 0;
  if (a.source != nullptr && !is_read(a.source)) memory += a.memory;
  if (b.source != nullptr && b.source != a.source && !is_read(b.source)) memory += b.memory;
  return memory;
}

bool ReadingTurns::has_room_for(const CompressedInputs& inputs) const noexcept {
  if (first_ == nullptr) return true;
  const std::uint64_t memory = memory_for(inputs);
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  for (const CompressedData& data : inputs) {
    if (data.source != nullptr) most = std::min(most, data.most_memory);
  }
  return memory == 0 || memory_ + memory <= most;
}

}  // namespace andiron::inline v1::detail
