// SPDX-License-Identifier: MIT OR Apache-2.0
// What a zip reader keeps of inflated entries, and what it counts of them.
// Tested by tests/codec/zip_contents_test.cpp and tests/codec/zip_reader_sources_test.cpp
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "andiron/bytes.h"
#include "andiron/error.h"
#include "src/core/check_limit.h"
#include "src/core/lock.h"

namespace andiron::inline v1::detail {

// The contents that are being inflated or read, and those that were used last. A model of many
// deflated entries is not to stay in memory whole, and one that tensors view in turn is not to be
// inflated for each. All of them together stay within what is allowed, unless one alone is more.
class InflatedContents {
  struct Item {
    std::uint32_t entry;
    std::uint64_t memory;
    unsigned users;
    std::optional<Bytes> content;  // none while it is being inflated
  };
  using Place = std::list<Item>::iterator;

 public:
  // While it lives, the content stays.
  class Use {
   public:
    Use(Use&& other) noexcept : all_(std::exchange(other.all_, nullptr)), place_(other.place_) {}
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (all_ != nullptr) all_->end(place_);
    }
    // REQUIRES: it was found, or kept.
    const Bytes& content() const { return *place_->content; }

   private:
    friend class InflatedContents;
    Use(InflatedContents& all, Place place) : all_(&all), place_(place) {}
    InflatedContents* all_;
    Place place_;
  };

  std::optional<Use> find(std::uint32_t entry) {
    const Lock lock(mutex_);
    const auto found = std::find_if(items_.begin(), items_.end(), [&](const Item& item) {
      return item.entry == entry && item.content;
    });
    if (found == items_.end()) return std::nullopt;
    begin(found);
    items_.splice(items_.end(), items_, found);
    return Use(*this, found);
  }

  // Before an entry is inflated, which takes so much memory: lets go of contents that nobody uses
  // until there is room, and waits for those that are used. How many threads read is no reason to
  // refuse a file.
  Use make_room(std::uint32_t entry, std::uint64_t memory, std::uint64_t most) {
    Lock lock(mutex_);
    std::list<Item> fresh;
    fresh.push_back({entry, memory, 0, std::nullopt});
    const auto has_room = [&] {
      drop_while([&] { return memory_ + memory > most; });
      return users_ == 0 || memory_ + memory <= most;
    };
    if (!has_room()) changed_.wait(lock, has_room);
    items_.splice(items_.end(), fresh);
    const Place place = std::prev(items_.end());
    memory_ += memory;
    begin(place);
    return Use(*this, place);
  }

  // After that. Each that had to be inflated again makes room for one more to be kept, up to
  // `most_again` bytes: as many are in use at the same time, perhaps by threads.
  void keep(const Use& use, Bytes content, bool again, std::uint64_t most_again) {
    const Lock lock(mutex_);
    if (again) ++wanted_;
    memory_ -= std::exchange(use.place_->memory, content.size());
    memory_ += use.place_->memory;
    use.place_->content = std::move(content);
    drop_while([&] {
      const bool is_little = memory_ <= usual_bytes && items_.size() <= usual_entries;
      const bool is_wanted = memory_ <= most_again && items_.size() <= wanted_;
      return !is_little && !is_wanted;
    });
    changed_.notify_all();
  }

 private:
  void begin(Place place) {
    ++place->users;
    ++users_;
  }
  void end(Place place) {
    const Lock lock(mutex_);
    --users_;
    if (--place->users == 0 && !place->content) drop(place);
    changed_.notify_all();
  }
  void drop(Place place) {
    memory_ -= place->memory;
    items_.erase(place);
  }
  // Those that were used longest ago, but none that is in use.
  template <class Goes>
  void drop_while(Goes goes_on) {
    for (Place place = items_.begin(); place != items_.end() && goes_on();) {
      const Place next = std::next(place);
      if (place->users == 0) drop(place);
      place = next;
    }
  }

  static constexpr std::uint64_t usual_bytes = std::uint64_t{64} << 20;
  static constexpr std::size_t usual_entries = 64;
  Mutex mutex_;
  Condition changed_;
  std::list<Item> items_;
  std::uint64_t memory_ = 0;
  std::size_t users_ = 0;
  std::size_t wanted_ = 1;
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
                       &Limits::inflated_bytes, "bytes", file});
  }

 private:
  std::atomic<std::uint64_t> handed_out_ = 0;
  std::atomic<std::uint64_t> again_ = 0;
};

}  // namespace andiron::inline v1::detail
