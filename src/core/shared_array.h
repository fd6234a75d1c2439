// SPDX-License-Identifier: MIT OR Apache-2.0
// A growing array for indexes of files: large ones sit on huge pages, growing reports failure, and
// copies share memory until make_private().
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>

#include "andiron/bytes.h"
#include "andiron/error.h"
#include "src/core/huge_page_memory.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {

template <class T>
class SharedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  std::size_t size() const noexcept { return size_; }
  const T& operator[](std::size_t index) const noexcept { return data()[index]; }
  std::span<const T> items() const noexcept { return {data(), size_}; }

  // Room for `count` items in all.
  Status reserve(std::size_t count) {
    if (memory_.size() / sizeof(T) >= count) return {};
    return move_to(count);
  }

  // Takes the items out of memory that a copy of this table can see.
  Status make_private() {
    if (memory_.empty() || !memory_.writable().empty()) return {};
    return move_to(memory_.size() / sizeof(T));
  }

  // REQUIRES of all that follow: the memory is private.
  Status reserve_one() {
    if (memory_.size() >= (size_ + 1) * sizeof(T)) return {};
    return reserve(2 * size_ + 16);
  }
  // A new item, to be filled in place: what is put together elsewhere and copied, field after field
  // and then as a whole, waits for its own stores. REQUIRES: reserve_one() succeeded.
  T& emplace() noexcept { return *::new (static_cast<void*>(mutable_data() + size_++)) T(); }
  Status push(const T& item) {
    ANDIRON_TRY(reserve_one());
    mutable_data()[size_++] = item;
    return {};
  }

  Status append(std::span<const T> items) {
    if (memory_.size() / sizeof(T) - size_ < items.size()) {
      ANDIRON_TRY(reserve(2 * size_ + 16 + items.size()));
    }
    for (const T& item : items) mutable_data()[size_++] = item;
    return {};
  }

  // `count` copies of `item`, replacing what was there.
  Status assign(std::size_t count, const T& item) {
    size_ = 0;
    ANDIRON_TRY(reserve(count));
    for (; size_ < count; ++size_) mutable_data()[size_] = item;
    return {};
  }

  void set(std::size_t index, const T& item) noexcept { mutable_data()[index] = item; }

 private:
  Status move_to(std::size_t capacity) {
    ANDIRON_ASSIGN(Bytes larger, Bytes::allocate(index_block_bytes(capacity * sizeof(T))));
    if (size_ != 0) std::memcpy(larger.writable().data(), memory_.data(), size_ * sizeof(T));
    memory_ = std::move(larger);
    return {};
  }
  const T* data() const noexcept { return reinterpret_cast<const T*>(memory_.data()); }
  T* mutable_data() noexcept { return const_cast<T*>(data()); }

  Bytes memory_;
  std::size_t size_ = 0;
};

}  // namespace andiron::inline v1::detail
