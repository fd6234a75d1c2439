// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/pickle_machine_test.cpp
#include "src/codec/pickle/builder.h"

#include <algorithm>
#include <iterator>

namespace andiron::inline v1::detail {

bool PickleBuilder::add_run(PickleRuns& runs, std::span<const PickleValue> values) {
  if (values.empty()) return true;
  if (!has_room(graph_.values_, values.size()) || !has_room(graph_.runs_)) return false;
  const auto begin = static_cast<std::uint32_t>(graph_.values_.size());
  const auto count = static_cast<std::uint32_t>(values.size());
  graph_.values_.append(values.data(), values.size());
  runs.count += count;
  // Values that are added one by one to one container are one run.
  if (runs.last != PickleRuns::none) {
    PickleRun& last = graph_.runs_[runs.last];
    if (last.begin + last.count == begin) {
      last.count += count;
      return true;
    }
  }
  const auto run = static_cast<std::uint32_t>(graph_.runs_.size());
  graph_.runs_.push({begin, count, PickleRuns::none});
  if (runs.last == PickleRuns::none) {
    runs.first = run;
  } else {
    graph_.runs_[runs.last].next = run;
  }
  runs.last = run;
  return true;
}

bool PickleBuilder::decoded_text(std::size_t size, char*& out) {
  constexpr std::size_t block_bytes = 64 * 1024;
  if (size > text_memory_.size() - text_used_) {
    Result<Bytes> block = Bytes::allocate(std::max(size, block_bytes));
    if (!block) return took_place(std::move(block).error());
    text_memory_ = *std::move(block);
    text_used_ = 0;
    graph_.memory_.push_back(text_memory_);
  }
  out = const_cast<char*>(text_memory_.text().data()) + text_used_;
  text_used_ += size;
  return true;
}

// As many as the rest of the input needs if it goes on as it began, which saves moving them. What
// follows may be gigabytes of data, or something else than what was there, so that there are
// bounds: a few times as many, or, where the input lies in memory itself, a little memory.
std::size_t PickleBuilder::next_capacity(std::size_t size, std::size_t more,
                                         std::size_t item_bytes) const noexcept {
  constexpr std::uint64_t enough_to_tell = 4 * 1024;
  constexpr std::size_t little_memory = 8 * 1024 * 1024;
  const std::uint64_t passed = input_.position() - input_.begin();
  const std::uint64_t all = input_.end() - input_.begin();
  const double parts = 1.0625 * static_cast<double>(all) / static_cast<double>(passed + 1);
  const bool is_foreseen = input_.is_all_of_memory() && passed >= enough_to_tell;
  const std::size_t bound = std::max(16 * size, is_foreseen ? little_memory / item_bytes : 0);
  // Compared as floating point: what is expected may be more than fits.
  const double expected = static_cast<double>(size) * std::max(parts, 2.0);
  const auto capacity = static_cast<std::size_t>(std::min(expected, static_cast<double>(bound)));
  return std::max({capacity, size + more, std::size_t{64}});
}

PickleGraph PickleBuilder::finish(PickleValue root, bool has_leftovers, PickleInput& input) && {
  graph_.root_ = root;
  graph_.end_ = input.position();
  graph_.has_leftovers_ = has_leftovers;
  std::vector<Bytes> windows = input.take_memory();
  graph_.memory_.insert(graph_.memory_.end(), std::make_move_iterator(windows.begin()),
                        std::make_move_iterator(windows.end()));
  return std::move(graph_);
}

}  // namespace andiron::inline v1::detail
