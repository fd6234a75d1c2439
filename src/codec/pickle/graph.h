// SPDX-License-Identifier: MIT OR Apache-2.0
// The graph of values that a pickle describes. Nothing in it was imported, called or constructed. A
// class or function is its name; a call is an object that remembers what would have been called.
//
// Values are handles of 4 bytes into flat arrays, so a checkpoint with a hundred thousand tensors,
// about thirty values each, needs no allocation per value. The graph may have cycles and shared
// values: code that walks it counts steps and keeps its own stack.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "andiron/bytes.h"
#include "src/codec/pickle/array.h"

namespace andiron::inline v1::detail {

enum class PickleKind : std::uint8_t {
  none,
  boolean,
  integer,      // fits 64 bits
  big_integer,  // does not: its blob is two's complement, little-endian
  real,
  text,      // UTF-8; lone surrogates have become U+FFFD
  old_text,  // a str of Python 2: bytes, which may be meant as text
  bytes,     // bytes or bytearray
  tuple,
  list,
  dict,
  set,
  frozen_set,
  global,      // a class or function by name
  object,      // what a call would have made
  persistent,  // something outside of the pickle, by an id
};

struct PickleValue {
  static constexpr unsigned index_bits = 27;

  static constexpr std::uint32_t largest_index = (std::uint32_t{1} << index_bits) - 1;

  PickleKind kind : 4;
  bool inlined : 1;  // an integer that `index` has the low bits of
  // In the array of its kind; the value itself of a boolean.
  std::uint32_t index : index_bits;

  constexpr PickleValue() noexcept : PickleValue(PickleKind::none, false, 0) {}
  constexpr PickleValue(PickleKind of_kind, bool as_inlined, std::size_t at) noexcept
      : kind(of_kind), inlined(as_inlined), index(static_cast<std::uint32_t>(at) & largest_index) {}

  static constexpr PickleValue of(PickleKind kind, std::size_t index) noexcept {
    return {kind, false, index};
  }
  // Whether an integer needs no place in an array.
  static constexpr bool fits(std::int64_t number) noexcept {
    constexpr std::int64_t half = std::int64_t{1} << (index_bits - 1);
    return number >= -half && number < half;
  }
  // REQUIRES: fits(number).
  static constexpr PickleValue of_integer(std::int64_t number) noexcept {
    return {PickleKind::integer, true, static_cast<std::size_t>(number)};
  }
  // REQUIRES: inlined.
  constexpr std::int64_t integer() const noexcept {
    constexpr unsigned above = 32 - index_bits;
    return static_cast<std::int32_t>(index << above) >> above;
  }

  friend bool operator==(const PickleValue&, const PickleValue&) = default;
};
static_assert(sizeof(PickleValue) == 4);

// Text, bytes or the digits of a large integer.
struct PickleBlob {
  // Null where the run is longer than what is kept in memory: it can be read from the source.
  const char* data = nullptr;
  std::uint64_t size = 0;
  // Where the bytes lie in the source; `decoded` where they do not lie there as they are.
  std::uint64_t offset = decoded;

  static constexpr std::uint64_t decoded = ~std::uint64_t{0};
  // Empty where the run is not in memory.
  std::string_view view() const noexcept {
    return data == nullptr ? std::string_view()
                           : std::string_view(data, static_cast<std::size_t>(size));
  }
};

struct PickleGlobal {
  std::string_view module;
  std::string_view name;

  bool is(std::string_view other_module, std::string_view other_name) const noexcept {
    return module == other_module && name == other_name;
  }
};

// Values that were added to a container in runs, in order.
struct PickleRuns {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t first = none;
  std::uint32_t last = none;
  std::uint32_t count = 0;
};

struct PickleRun {
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
  std::uint32_t next = PickleRuns::none;
};

// callable(*args) or callable.__new__(*args, **kwargs), of NEWOBJ, INST and OBJ; which of the two
// it was is not kept.
struct PickleObject {
  PickleValue callable = {};
  PickleValue args = {};    // a tuple; of TorchScript's enums any value
  PickleValue kwargs = {};  // a dict, or none
  // Number of what came later, which most objects have none of.
  std::uint32_t additions = none;

  static constexpr std::uint32_t none = ~std::uint32_t{0};
};

// What an object gets after it is created.
struct PickleAdditions {
  PickleRuns items = {};   // appended to it, or added as to a set
  PickleRuns pairs = {};   // set on it as on a dict: key, value, key, value
  PickleRuns states = {};  // given to it by BUILD, in order; nearly always at most one
};

class PickleGraph;

// A range over the content of a container.
class PickleItems {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = PickleValue;
    using difference_type = std::ptrdiff_t;
    using pointer = const PickleValue*;
    using reference = const PickleValue&;

    Iterator() = default;
    reference operator*() const noexcept { return *at_; }
    pointer operator->() const noexcept { return at_; }
    Iterator& operator++() noexcept {
      if (++at_ == run_end_) enter(next_run_);
      return *this;
    }
    Iterator operator++(int) noexcept {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept { return a.at_ == b.at_; }

   private:
    friend class PickleItems;
    void enter(std::uint32_t run) noexcept;
    const PickleGraph* graph_ = nullptr;
    const PickleValue* at_ = nullptr;  // null at the end
    const PickleValue* run_end_ = nullptr;
    std::uint32_t next_run_ = PickleRuns::none;
  };

  PickleItems() = default;
  PickleItems(const PickleGraph* graph, PickleRuns runs) noexcept : size_(runs.count) {
    begin_.graph_ = graph;
    begin_.enter(runs.first);
  }
  // Values that lie side by side.
  explicit PickleItems(std::span<const PickleValue> values) noexcept
      : size_(static_cast<std::uint32_t>(values.size())) {
    if (values.empty()) return;
    begin_.at_ = values.data();
    begin_.run_end_ = values.data() + values.size();
  }
  Iterator begin() const noexcept { return begin_; }
  Iterator end() const noexcept { return {}; }
  std::uint32_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  // All values, where they lie side by side.
  std::optional<std::span<const PickleValue>> only_run() const noexcept {
    if (size_ == 0) return std::span<const PickleValue>();
    if (begin_.run_end_ - begin_.at_ != static_cast<std::ptrdiff_t>(size_)) return std::nullopt;
    return std::span(begin_.at_, begin_.run_end_);
  }

 private:
  Iterator begin_;
  std::uint32_t size_ = 0;
};

// REQUIRES for all accessors: the value belongs to this graph and has the right kind. Moving a
// graph keeps its values and views valid.
class PickleGraph {
 public:
  PickleValue root() const noexcept { return root_; }
  // Where the pickle ended in its source: behind STOP.
  std::uint64_t end() const noexcept { return end_; }
  // Whether values were left on the stack, which no pickler does.
  bool has_leftovers() const noexcept { return has_leftovers_; }

  static bool boolean(PickleValue value) noexcept { return value.index != 0; }
  std::int64_t integer(PickleValue value) const noexcept {
    return value.inlined ? value.integer() : integers_[value.index];
  }
  double real(PickleValue value) const noexcept { return reals_[value.index]; }
  // Of text, old_text, bytes and big_integer.
  const PickleBlob& blob(PickleValue value) const noexcept { return blobs_[value.index]; }
  // Of a tuple, list, set or frozen_set its values; of an object what was appended.
  PickleItems items(PickleValue value) const noexcept;
  // The values of a tuple or frozen_set as one span.
  std::span<const PickleValue> tuple(PickleValue value) const noexcept;
  // Of a dict, or of an object: key, value, key, value. Keys may occur again: the last one counts.
  PickleItems pairs(PickleValue value) const noexcept;
  PickleItems states(PickleValue object) const noexcept;
  const PickleGlobal& global(PickleValue value) const noexcept { return globals_[value.index]; }
  // All of them, each once.
  std::span<const PickleGlobal> globals() const noexcept {
    return {globals_.data(), globals_.size()};
  }
  const PickleObject& object(PickleValue value) const noexcept { return objects_[value.index]; }
  // Whether nothing was added to an object after it was made.
  bool is_as_made(PickleValue object) const noexcept {
    return objects_[object.index].additions == PickleObject::none;
  }
  // The ids of everything persistent, in the order of the pickle.
  std::span<const PickleValue> persistent_ids() const noexcept {
    return {persistent_.data(), persistent_.size()};
  }
  // The id of something persistent.
  PickleValue persistent_id(PickleValue value) const noexcept { return persistent_[value.index]; }

  // Containers (tuples, lists, dicts, sets, objects) are numbered from 0 on, for walks that must
  // know where they have been. REQUIRES: the value is one.
  std::size_t container_count() const noexcept {
    return tuples_.size() + containers_.size() + objects_.size();
  }
  std::size_t container_number(PickleValue value) const noexcept {
    if (is_fixed(value.kind)) return value.index;
    if (value.kind != PickleKind::object) return tuples_.size() + value.index;
    return tuples_.size() + containers_.size() + value.index;
  }

 private:
  friend class PickleBuilder;
  friend class PickleItems::Iterator;

  // Where in values_ a tuple or frozen set lies, which is whole when it is made.
  struct Extent {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };
  PickleAdditions additions(PickleValue object) const noexcept {
    const std::uint32_t number = objects_[object.index].additions;
    return number == PickleObject::none ? PickleAdditions() : additions_[number];
  }
  static bool is_fixed(PickleKind kind) noexcept {
    return kind == PickleKind::tuple || kind == PickleKind::frozen_set;
  }

  PickleValue root_;
  std::uint64_t end_ = 0;
  bool has_leftovers_ = false;
  PickleArray<PickleValue> values_;  // what runs and tuples are made of
  PickleArray<PickleRun> runs_;
  PickleArray<std::int64_t> integers_;
  PickleArray<double> reals_;
  PickleArray<PickleBlob> blobs_;
  PickleArray<Extent> tuples_;          // and frozen sets
  PickleArray<PickleRuns> containers_;  // lists, dicts and sets
  PickleArray<PickleGlobal> globals_;
  PickleArray<PickleObject> objects_;
  PickleArray<PickleAdditions> additions_;
  PickleArray<PickleValue> persistent_;
  std::vector<Bytes> memory_;  // what views point into
};

inline void PickleItems::Iterator::enter(std::uint32_t run) noexcept {
  if (run == PickleRuns::none) {
    *this = {};
    return;
  }
  const PickleRun& entered = graph_->runs_[run];
  at_ = &graph_->values_[entered.begin];
  run_end_ = at_ + entered.count;
  next_run_ = entered.next;
}

inline PickleItems PickleGraph::items(PickleValue value) const noexcept {
  if (is_fixed(value.kind)) return PickleItems(tuple(value));
  const bool is_object = value.kind == PickleKind::object;
  return {this, is_object ? additions(value).items : containers_[value.index]};
}

inline std::span<const PickleValue> PickleGraph::tuple(PickleValue value) const noexcept {
  const Extent extent = tuples_[value.index];
  return {values_.data() + extent.begin, extent.count};
}

inline PickleItems PickleGraph::pairs(PickleValue value) const noexcept {
  const bool is_object = value.kind == PickleKind::object;
  return {this, is_object ? additions(value).pairs : containers_[value.index]};
}

inline PickleItems PickleGraph::states(PickleValue object) const noexcept {
  return {this, additions(object).states};
}

}  // namespace andiron::inline v1::detail
