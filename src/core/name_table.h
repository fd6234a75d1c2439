// SPDX-License-Identifier: MIT OR Apache-2.0
// A hash table from names to positions, with open addressing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "andiron/error.h"
#include "src/core/shared_array.h"

namespace andiron::inline v1::detail {

// Hashes a name with a seed that differs between processes, so that no file can force collisions.
std::uint64_t hash_name(std::string_view name) noexcept;

class NameTable {
 public:
  // Forgets all names and makes room for `count`.
  Status reset(std::size_t count);
  Status make_private() { return slots_.make_private(); }
  std::size_t capacity() const noexcept { return slots_.size() / 2; }

  // Position stored for `name`; `name_at(position)` gives the name stored there.
  template <class NameAt>
  std::optional<std::uint32_t> find(std::string_view name, NameAt name_at) const {
    if (slots_.size() == 0) return std::nullopt;
    const std::uint64_t hash = hash_name(name);
    const Slot& slot = slots_[probe(name, hash, name_at)];
    if (slot.position == none) return std::nullopt;
    return slot.position;
  }

  // Asks for the memory that a name with this hash will need.
  void prefetch(std::uint64_t hash) const noexcept {
    __builtin_prefetch(&slots_[static_cast<std::size_t>(hash) & (slots_.size() - 1)], 1);
  }

  // Stores `position` for `name`, or returns the position that already has it. REQUIRES: fewer than
  // capacity() names are stored.
  template <class NameAt>
  std::optional<std::uint32_t> insert(std::string_view name, std::uint32_t position,
                                      NameAt name_at) {
    return insert(name, hash_name(name), position, name_at);
  }
  template <class NameAt>
  std::optional<std::uint32_t> insert(std::string_view name, std::uint64_t hash,
                                      std::uint32_t position, NameAt name_at) {
    const std::size_t at = probe(name, hash, name_at);
    if (slots_[at].position != none) return slots_[at].position;
    slots_.set(at, {static_cast<std::uint32_t>(hash >> 32), position});
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Slot {
    std::uint32_t
        tag;  // upper half of the hash: most other names are told apart without a look at them
    std::uint32_t position;
  };

  template <class NameAt>
  std::size_t probe(std::string_view name, std::uint64_t hash, NameAt name_at) const {
    const std::size_t mask = slots_.size() - 1;
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    std::size_t at = static_cast<std::size_t>(hash) & mask;
    while (slots_[at].position != none &&
           (slots_[at].tag != tag || name_at(slots_[at].position) != name)) {
      at = (at + 1) & mask;
    }
    return at;
  }

  SharedArray<Slot> slots_;  // a power of two, at most half full
};

}  // namespace andiron::inline v1::detail
