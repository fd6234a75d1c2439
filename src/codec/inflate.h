// SPDX-License-Identifier: MIT OR Apache-2.0
// Decompresses deflate data of known size, and computes its checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "andiron/error.h"
#include "andiron/limits.h"
#include "src/codec/deflate/streams.h"

namespace andiron::inline v1::detail {

// Whether deflate can produce that many bytes from so few: at best, one bit stands for 129 bytes.
constexpr bool can_inflate_to(std::uint64_t stored_bytes, std::uint64_t bytes) noexcept {
  return bytes / (8 * 129) <= stored_bytes;
}

// What an InflateStream takes: its window and its tables.
inline constexpr std::uint64_t inflate_stream_bytes = std::uint64_t{48} << 10;

// Fails with LimitExceeded for more than 64 MiB that are more than limits.inflated_ratio times the
// size of the file.
Status check_inflated_ratio(std::uint64_t bytes, std::uint64_t file_bytes, const Limits& limits,
                            std::string_view file);

// Decompresses data that comes in parts into memory of a known size. Fails with BadArchive if the
// two do not fit, OutOfMemory without memory for what it keeps.
class Inflater {
 public:
  // all: the data must fill the memory exactly. head: only the beginning of the data is needed.
  enum class Wanted : std::uint8_t { all, head };

  Inflater(std::span<std::byte> out, Wanted wanted);
  // With a stream that was used before. REQUIRES: it outlives this.
  Inflater(std::span<std::byte> out, Wanted wanted, InflateStream& stream);

  // Takes the next bytes. A head that is full ignores them.
  Status take(std::span<const std::byte> part);
  bool is_full() const noexcept { return out_.empty(); }
  // There is no more data.
  Status finish();

 private:
  std::unique_ptr<InflateStream> own_;
  InflateStream* stream_;     // null without memory
  std::span<std::byte> out_;  // what is left of it
  Wanted wanted_;
  bool has_ended_ = false;
};

// The checksum of all bytes so far; `before` is the checksum of those before `data`.
std::uint32_t crc_of(std::span<const std::byte> data, std::uint32_t before = 0) noexcept;

}  // namespace andiron::inline v1::detail
