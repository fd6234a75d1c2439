// SPDX-License-Identifier: MIT OR Apache-2.0
// A growing array of plain records: large ones sit on huge pages, growing reports failure, and
// fresh room is not cleared.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "andiron/bytes.h"
#include "andiron/error.h"
#include "src/core/huge_page_memory.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {

template <class T>
class PickleArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  std::size_t size() const noexcept { return size_; }
  // How many more can be pushed.
  std::size_t room() const noexcept { return capacity_ - size_; }
  const T* data() const noexcept { return reinterpret_cast<const T*>(memory_.data()); }
  T* data() noexcept { return const_cast<T*>(std::as_const(*this).data()); }
  const T& operator[](std::size_t index) const noexcept { return data()[index]; }
  T& operator[](std::size_t index) noexcept { return data()[index]; }

  // REQUIRES: there is room.
  void push(const T& item) noexcept {
    if constexpr (sizeof(T) == sizeof(std::uint64_t)) {
      const auto word = std::bit_cast<std::uint64_t>(item);
      std::memcpy(static_cast<void*>(data() + size_++), &word, sizeof(word));
    } else {
      data()[size_++] = item;
    }
  }
  void append(const T* items, std::size_t count) noexcept {
    T* to = data() + size_;
    size_ += count;
    // Most runs are of two or three.
    if (count > 8) {
      std::memcpy(to, items, count * sizeof(T));
      return;
    }
    for (std::size_t i = 0; i < count; ++i) to[i] = items[i];
  }
  // A new item, to be filled in place.
  T& emplace() noexcept { return *::new (static_cast<void*>(data() + size_++)) T(); }
  // Drops what is behind the first `count`.
  void shrink(std::size_t count) noexcept { size_ = count; }

  // Room for `count` items in all.
  Status reserve(std::size_t count) {
    if (count <= capacity_) return {};
    const std::size_t bytes = index_block_bytes(count * sizeof(T));
    ANDIRON_ASSIGN(Bytes larger, Bytes::allocate(bytes));
    if (size_ != 0) std::memcpy(larger.writable().data(), memory_.data(), size_ * sizeof(T));
    memory_ = std::move(larger);
    capacity_ = bytes / sizeof(T);
    return {};
  }

 private:
  Bytes memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace andiron::inline v1::detail
