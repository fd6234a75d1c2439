// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory with an owner.
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
/// data that needs no owner. Copying and slicing cost O(1) and share the owner. Safe to share
/// between threads, as the bytes do not change while they are shared.
class Bytes {
 public:
  /// Memory of at least this size is aligned to, and asks for, huge pages. When it is freed, up to
  /// 96 MiB are kept for the next allocation.
  static constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
  /// All memory that we allocate starts on a multiple of this.
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

  /// Fresh memory of unspecified content, to be filled through `writable()`. OutOfMemory when it
  /// cannot be had.
  static Result<Bytes> allocate(std::uint64_t size);
  /// A private copy.
  static Result<Bytes> copy(std::span<const std::byte> data);
  /// Takes over a vector without copying.
  static Bytes own(std::vector<std::byte> data);
  static Bytes own(std::vector<std::uint8_t> data);
  static Bytes own(std::string data);
  /// Memory that outlives every use: nothing is copied, nothing is freed.
  static Bytes borrow(std::span<const std::byte> data) noexcept;
  static Bytes borrow(std::vector<std::byte>&& data) = delete;
  /// Foreign memory, kept alive by `owner`.
  static Bytes share(std::shared_ptr<const void> owner, std::span<const std::byte> data) noexcept;
  /// Foreign memory that `writable()` may give out, for as long as nobody else holds `owner`.
  static Bytes adopt(std::shared_ptr<void> owner, std::span<std::byte> data) noexcept;

  std::span<const std::byte> span() const noexcept { return data_; }
  const std::byte* data() const noexcept { return data_.data(); }
  std::size_t size() const noexcept { return data_.size(); }
  bool empty() const noexcept { return data_.empty(); }
  std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(data_.data()), data_.size()};
  }

  /// `count` bytes from `offset`, sharing the owner. InvalidArgument when the range leaves this
  /// view.
  Result<Bytes> slice(std::size_t offset, std::size_t count) const;

  /// The bytes for writing when nobody else can see them (allocated or adopted, one owner);
  /// otherwise an empty span.
  std::span<std::byte> writable() noexcept;

 private:
  template <class Memory>
  static Bytes own_all(Memory data);

  std::shared_ptr<const void> owner_;
  std::span<const std::byte> data_;
  bool allocated_ = false;
};

}  // namespace andiron::inline v1
