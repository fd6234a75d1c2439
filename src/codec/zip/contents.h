// SPDX-License-Identifier: MIT OR Apache-2.0
// What a zip reader keeps of inflated entries, and what it counts of them.
// Tested by tests/codec/zip_reader_sources_test.cpp
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/bytes.h"
#include "andiron/error.h"
#include "src/core/check_limit.h"
#include "src/core/lock.h"

namespace andiron::inline v1::detail {

// Contents that were used last. A model of many deflated entries is not to stay in memory
// whole, and one that tensors view in turn is not to be inflated for each.
class RecentContents {
 public:
  std::optional<Bytes> find(std::uint32_t entry) {
    const Lock lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const Kept& kept) { return kept.entry == entry; });
    if (found == kept_.end()) return std::nullopt;
    std::rotate(found, found + 1, kept_.end());
    return kept_.back().content;
  }

  // Each that had to be inflated again makes room for one more, up to `most_again` bytes: as many
  // are in use at the same time, perhaps by threads.
  void add(std::uint32_t entry, const Bytes& content, bool again, std::uint64_t most_again) {
    const Lock lock(mutex_);
    if (again) ++in_use_;
    kept_.push_back({entry, content});
    bytes_ += content.size();
    while (kept_.size() > 1) {
      if (bytes_ <= most_bytes && kept_.size() <= most_entries) break;
      if (bytes_ <= most_again && kept_.size() <= in_use_) break;
      drop_first();
    }
  }

  // Lets go of contents until there is room for so many bytes more.
  void make_room(std::uint64_t bytes, std::uint64_t most) {
    const Lock lock(mutex_);
    while (!kept_.empty() && bytes_ + bytes > most) drop_first();
  }

 private:
  void drop_first() {
    bytes_ -= kept_.front().content.size();
    kept_.erase(kept_.begin());
  }

  static constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
  static constexpr std::size_t most_entries = 64;
  struct Kept {
    std::uint32_t entry;
    Bytes content;
  };
  Mutex mutex_;
  std::vector<Kept> kept_;
  std::uint64_t bytes_ = 0;
  std::size_t in_use_ = 1;
};

// Contents that are being inflated and used, and what that takes. Those that do not fit beside
// others wait for them: how many threads read is no reason to refuse a file.
class ContentsInUse {
 public:
  class Use {
   public:
    Use(ContentsInUse& all, std::uint64_t bytes, std::uint64_t most) : all_(all), bytes_(bytes) {
      Lock lock(all_.mutex_);
      all_.changed_.wait(lock, [&] { return all_.bytes_ == 0 || all_.bytes_ + bytes <= most; });
      all_.bytes_ += bytes;
    }
    ~Use() {
      const Lock lock(all_.mutex_);
      all_.bytes_ -= bytes_;
      all_.changed_.notify_all();
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    ContentsInUse& all_;
    std::uint64_t bytes_;
  };

 private:
  Mutex mutex_;
  Condition changed_;
  std::uint64_t bytes_ = 0;
};

// Work that nobody asked for. Small tensors that use large entries in turn, more of them than
// memory may hold, would have one inflated for each.
class InflatedAgain {
 public:
  void hand_out(std::uint64_t bytes) noexcept { handed_out_ += bytes; }
  // Counts bytes that are to be inflated again. Fails with LimitExceeded if these are more than
  // were handed out, and `most` besides.
  Status charge(std::uint64_t bytes, std::uint64_t most, std::string_view file) {
    const std::uint64_t again = again_ += bytes;
    const std::uint64_t allowed = most + handed_out_;
    if (again <= allowed) return {};
    again_ -= bytes;
    return over_limit(std::to_string(again), allowed,
                      {"deflated entries were inflated again too often, for little of each",
                       "inflated_bytes", "bytes", file});
  }

 private:
  std::atomic<std::uint64_t> handed_out_ = 0;
  std::atomic<std::uint64_t> again_ = 0;
};

}  // namespace andiron::inline v1::detail
