// SPDX-License-Identifier: MIT OR Apache-2.0
// Deflated data whose size is known, and the checksum that archives keep of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "andiron/error.h"

namespace andiron::inline v1::detail {

// Whether deflate can make that much of so little: at best, a bit stands for 129 bytes.
constexpr bool can_inflate_to(std::uint64_t stored_bytes, std::uint64_t bytes) noexcept {
  return bytes / (8 * 129) <= stored_bytes;
}

inline Error no_memory_for_zlib() {
  return Error{.code = ErrorCode::out_of_memory, .message = "not enough memory for zlib"};
}

// Inflates data that comes in parts into memory of a known size. BadArchive
// where the two do not fit, OutOfMemory where zlib has none.
class Inflater {
 public:
  // Memory is filled exactly and the data ends with it, or only its beginning is of interest.
  enum class Wanted : std::uint8_t { all, head };

  Inflater(std::span<std::byte> out, Wanted wanted);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // The next bytes of the data. A head that is full takes them and looks no further.
  Status take(std::span<const std::byte> part);
  bool is_full() const noexcept { return out_.empty(); }
  // No more data is to come.
  Status finish();

 private:
  struct Stream;

  std::unique_ptr<Stream> stream_;  // null without memory
  std::span<std::byte> out_;        // what is left of it
  Wanted wanted_;
  bool has_ended_ = false;
};

// Of all bytes so far: `before` is the checksum of those in front of `data`.
std::uint32_t crc_of(std::span<const std::byte> data, std::uint32_t before = 0) noexcept;

}  // namespace andiron::inline v1::detail
