// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/bytes_test.cpp
#include "andiron/bytes.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include "src/core/huge_page_memory.h"
#include "src/core/sole_owner.h"
#include "src/core/try.h"

namespace andiron::inline v1 {

Result<Bytes> Bytes::allocate(std::uint64_t wanted) ANDIRON_NO_THROW {
  if (wanted == 0) return Bytes();
  const auto size = static_cast<std::size_t>(wanted);
  const bool large = size >= huge_page_bytes;
  void* memory = nullptr;
  // The allocator rounds up to the alignment: the very largest sizes would wrap to 0.
  if (wanted <= std::uint64_t{PTRDIFF_MAX} - huge_page_bytes) {
    memory = large ? detail::take_large_block(size)
                   : ::operator new(size, std::align_val_t(alignment), std::nothrow);
  }
  if (memory == nullptr) {
    return Error{.code = ErrorCode::out_of_memory,
                 .message = "not enough memory",
                 .found = std::to_string(wanted) + " bytes needed",
                 .hint = Advice::read_in_parts};
  }
  Bytes bytes;
  bytes.owner_ = std::shared_ptr<void>(memory, [large, size](void* p) {
    if (large) {
      detail::give_large_block(p, size);
    } else {
      ::operator delete(p, std::align_val_t(alignment));
    }
  });
  bytes.data_ = {static_cast<const std::byte*>(memory), size};
  bytes.allocated_ = true;
  return bytes;
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Bytes> Bytes::copy(std::span<const std::byte> data) ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(Bytes bytes, allocate(data.size()));
  if (!data.empty()) std::memcpy(bytes.writable().data(), data.data(), data.size());
  return bytes;
}
ANDIRON_OR_OUT_OF_MEMORY

template <class Memory>
Bytes Bytes::own_all(Memory data) {
  auto owner = std::make_shared<Memory>(std::move(data));
  Bytes bytes;
  bytes.data_ = std::as_bytes(std::span(*owner));
  bytes.owner_ = std::move(owner);
  bytes.allocated_ = true;
  return bytes;
}

Bytes Bytes::own(std::vector<std::byte> data) { return own_all(std::move(data)); }
Bytes Bytes::own(std::vector<std::uint8_t> data) { return own_all(std::move(data)); }
Bytes Bytes::own(std::string data) { return own_all(std::move(data)); }

Bytes Bytes::borrow(std::span<const std::byte> data) noexcept { return share(nullptr, data); }

Bytes Bytes::share(std::shared_ptr<const void> owner, std::span<const std::byte> data) noexcept {
  Bytes bytes;
  bytes.owner_ = std::move(owner);
  bytes.data_ = data;
  return bytes;
}

Bytes Bytes::adopt(std::shared_ptr<void> owner, std::span<std::byte> data) noexcept {
  Bytes bytes = share(std::move(owner), data);
  bytes.allocated_ = true;
  return bytes;
}

Result<Bytes> Bytes::slice(std::size_t offset, std::size_t count) const ANDIRON_NO_THROW {
  if (offset > size() || count > size() - offset) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "a slice goes past the end",
                 .found = std::to_string(count) + " bytes from " + std::to_string(offset),
                 .expected = "a range within " + std::to_string(size()) + " bytes"};
  }
  Bytes part = *this;
  part.data_ = data_.subspan(offset, count);
  return part;
}
ANDIRON_OR_OUT_OF_MEMORY

std::span<std::byte> Bytes::writable() noexcept {
  if (!allocated_ || !detail::is_sole_owner(owner_)) return {};
  return {const_cast<std::byte*>(data_.data()), data_.size()};
}

}  // namespace andiron::inline v1
