// SPDX-License-Identifier: MIT OR Apache-2.0
// Which tensors of an archive are the same bytes. Tested by tests/core/archive_ties_test.cpp
#include <algorithm>
#include <tuple>

#include "andiron/archive.h"
#include "src/core/archive_state.h"
#include "src/core/expression.h"
#include "src/core/sort.h"

namespace andiron::inline v1 {

namespace {

// Arrangements of the bytes at one place that are told apart: more are an attack on our time.
constexpr std::size_t most_arrangements = 64;

}  // namespace

std::vector<std::optional<std::size_t>> Archive::ties() const {
  struct Start {
    const ByteSource* source;
    std::uint64_t offset;
    std::size_t index;
    bool is_before(const Start& other) const {
      return std::tie(source, offset, index) < std::tie(other.source, other.offset, other.index);
    }
  };
  std::vector<Start> places;
  places.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) {
    const detail::ArchiveEntry& entry = state_->entries[i];
    if (entry.byte_size == 0) continue;
    if (entry.snapshot == detail::ArchiveEntry::none) {
      places.push_back({state_->files[entry.file].source.get(), entry.offset, i});
      continue;
    }
    std::uint64_t offset = 0;
    const auto& expression = state_->snapshots[entry.snapshot].expression_;
    if (const ByteSource* source = expression->place(offset)) places.push_back({source, offset, i});
  }
  detail::sort(places.begin(), places.end(),
               [](const Start& a, const Start& b) { return a.is_before(b); });

  const auto is_same = [&](std::size_t a, std::size_t b) {
    const detail::ArchiveEntry& first = state_->entries[a];
    const detail::ArchiveEntry& second = state_->entries[b];
    const bool is_run = first.snapshot == detail::ArchiveEntry::none;
    if (is_run != (second.snapshot == detail::ArchiveEntry::none)) return false;
    if (!is_run) {
      return state_->snapshots[first.snapshot].is_same_data(state_->snapshots[second.snapshot]);
    }
    const TensorInfo one = info(a);
    const TensorInfo other = info(b);
    return one.dtype == other.dtype && one.byte_size == other.byte_size &&
           (!is_opaque(one.dtype) || one.file_dtype == other.file_dtype) &&
           std::equal(one.shape.begin(), one.shape.end(), other.shape.begin(), other.shape.end());
  };
  std::vector<std::optional<std::size_t>> ties(size());
  // Those that begin at one place are next to each other, the first of the file in front.
  std::vector<std::size_t> distinct;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool begins = i == 0 || places[i].source != places[i - 1].source ||
                        places[i].offset != places[i - 1].offset;
    if (begins) distinct.clear();
    const auto same = std::find_if(distinct.begin(), distinct.end(), [&](std::size_t other) {
      return is_same(other, places[i].index);
    });
    if (same != distinct.end()) {
      ties[places[i].index] = *same;
    } else if (distinct.size() < most_arrangements) {
      distinct.push_back(places[i].index);
    }
  }
  return ties;
}

}  // namespace andiron::inline v1
