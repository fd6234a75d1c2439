// SPDX-License-Identifier: MIT OR Apache-2.0
// What one file may make of its bytes. A few bytes can refer to each other often enough to ask for
// gigabytes, so everything that opening a file makes is charged here: before it is
// made, or right after where it cannot be more than some tens of times the text that lists it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "andiron/error.h"
#include "andiron/limits.h"

namespace andiron::inline v1::detail {

// One per open; the tree of values, which is built later, goes on with a copy. A charge is what the
// thing takes at its worst, moments of growth and a listing of it included.
class MemoryBudget {
 public:
  // Of a file of this size, which messages name. Its companions are added when they are opened.
  MemoryBudget(std::uint64_t file_bytes, const Limits& limits, std::string file);
  void add_file(std::uint64_t file_bytes);

  // Counts memory. Fails with LimitExceeded if that is more than is left; `what` asks for it.
  Status charge(std::uint64_t bytes, std::string_view what) {
    if (bytes > left_) return over_memory(bytes, what);
    left_ -= bytes;
    return {};
  }
  // Counts tensors, or names of what is skipped, and their text.
  Status charge_entries(std::uint64_t count, std::uint64_t text_bytes) {
    return charge(cost_of(entry_bytes, count, text_bytes), "names and entries");
  }
  // The same for one, whose text is in memory.
  Status charge_entry(std::size_t text_bytes) {
    return charge(entry_bytes + listed * text_bytes, "names and entries");
  }
  // Counts values of a tree, and their text.
  Status charge_values(std::uint64_t count, std::uint64_t text_bytes) {
    return charge(cost_of(value_bytes, count, text_bytes), "values");
  }
  // Counts the data of a tensor, which a load may ask for. Fails with LimitExceeded if all tensors
  // together are far larger than what the files hold.
  Status charge_data(std::uint64_t bytes, std::string_view tensor) {
    if (bytes > data_left_) return over_data(bytes, tensor);
    data_left_ -= bytes;
    return {};
  }
  // Compressed data is larger than the file that has it: so many bytes are there besides.
  void add_data(std::uint64_t bytes);

  // Of so many things and their text; all there is where that does not fit 64 bits.
  static constexpr std::uint64_t cost_of(std::uint64_t each, std::uint64_t count,
                                         std::uint64_t text_bytes) {
    std::uint64_t things = 0;
    std::uint64_t text = 0;
    std::uint64_t both = 0;
    const bool fits = !__builtin_mul_overflow(each, count, &things) &&
                      !__builtin_mul_overflow(listed, text_bytes, &text) &&
                      !__builtin_add_overflow(things, text, &both);
    return fits ? both : ~std::uint64_t{0};
  }

  // The most that may be charged, so far.
  std::uint64_t most() const noexcept { return most_; }

  // A tensor takes an entry, a slot in the table of names, and a row or a JSON object in a listing.
  static constexpr std::uint64_t entry_bytes = 1024;
  // A value takes a place in a list or dict that grows, and some text in a listing.
  static constexpr std::uint64_t value_bytes = 64;
  // A byte of text is kept, and escaped in a listing into up to six, in a buffer that grows.
  static constexpr std::uint64_t listed = 16;

 private:
  Error over_memory(std::uint64_t bytes, std::string_view what) const;
  Error over_data(std::uint64_t bytes, std::string_view tensor) const;

  Limits limits_;
  std::string file_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t most_ = 0;
  std::uint64_t left_ = 0;
  std::uint64_t data_bytes_ = 0;
  std::uint64_t most_data_ = 0;
  std::uint64_t data_left_ = 0;
};

}  // namespace andiron::inline v1::detail
