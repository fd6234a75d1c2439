// SPDX-License-Identifier: MIT OR Apache-2.0
// Bytes: a view of memory that keeps the memory alive.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/error.h"

namespace andiron::inline v1 {

/// A view of memory that keeps the memory alive: heap, a file mapping, a foreign buffer, or static
/// data without an owner. Copying and slicing are O(1) and share the owner. Safe to share between
/// threads: bytes do not change while they are shared.
class Bytes {
 public:
  /// Allocations of at least this size are aligned to huge pages and request them. When they are
  /// freed, up to 96 MiB are kept for the next allocation.
  static constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
  /// All allocations start at a multiple of this.
  static constexpr std::size_t alignment = 64;

  Bytes() = default;
  Bytes(const Bytes&) = default;
  Bytes& operator=(const Bytes&) = default;
  /// A moved-from Bytes is empty.
  Bytes(Bytes&& other) noexcept
      : owner_(std::move(other.owner_)),
        data_(std::exchange(other.data_, {})),
        allocated_(std::exchange(other.allocated_, false)) {}
  Bytes& operator=(Bytes&& other) noexcept {
    owner_ = std::move(other.owner_);
    data_ = std::exchange(other.data_, {});
    allocated_ = std::exchange(other.allocated_, false);
    return *this;
  }
  ~Bytes() = default;

  /// Allocates uninitialized memory; fill it through writable(). Fails with OutOfMemory.
  static Result<Bytes> allocate(std::uint64_t size);
  /// Copies `data`. Fails with OutOfMemory.
  static Result<Bytes> copy(std::span<const std::byte> data);
  /// Takes ownership of a container without copying it.
  static Bytes own(std::vector<std::byte> data);
  static Bytes own(std::vector<std::uint8_t> data);
  static Bytes own(std::string data);
  /// Refers to memory that outlives every use. Copies nothing, frees nothing.
  static Bytes borrow(std::span<const std::byte> data) noexcept;
  static Bytes borrow(std::vector<std::byte>&& data) = delete;
  /// Refers to foreign memory that `owner` keeps alive.
  static Bytes share(std::shared_ptr<const void> owner, std::span<const std::byte> data) noexcept;
  /// Like share(), but writable() may return the memory while nobody else holds `owner`.
  static Bytes adopt(std::shared_ptr<void> owner, std::span<std::byte> data) noexcept;

  std::span<const std::byte> span() const noexcept { return data_; }
  const std::byte* data() const noexcept { return data_.data(); }
  std::size_t size() const noexcept { return data_.size(); }
  bool empty() const noexcept { return data_.empty(); }
  /// The bytes as text.
  std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(data_.data()), data_.size()};
  }

  /// Returns `count` bytes from `offset`, sharing the owner. Fails with InvalidArgument if the
  /// range is outside this view.
  Result<Bytes> slice(std::size_t offset, std::size_t count) const;

  /// Returns the bytes for writing if nobody else can see them: allocated or adopted, with one
  /// owner. Otherwise returns an empty span.
  std::span<std::byte> writable() noexcept;

 private:
  template <class Memory>
  static Bytes own_all(Memory data);

  std::shared_ptr<const void> owner_;
  std::span<const std::byte> data_;
  bool allocated_ = false;
};

}  // namespace andiron::inline v1
