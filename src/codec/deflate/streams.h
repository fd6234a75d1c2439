// SPDX-License-Identifier: MIT OR Apache-2.0
// Deflate data (RFC 1951) without header and trailer, in and out piece by piece, and the checksum
// that formats put beside it. zlib does this in ordinary builds (zlib.cpp), our own code in minimal
// ones (without_zlib.cpp); nothing else knows which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "andiron/error.h"

namespace andiron::inline v1::detail {

class InflateStream {
 public:
  enum class State : std::uint8_t { goes_on, ended, damaged, out_of_memory };

  struct Step {
    std::size_t taken = 0;
    std::size_t made = 0;
    State state = State::goes_on;
  };

  virtual ~InflateStream() = default;
  // Takes bytes of `in` and makes bytes in `out`. A step that takes and makes nothing and goes on
  // waits for more of `in`, or for room. The byte in which the data ends is the last that is taken.
  // Bytes of `out` behind those that were made may change as well.
  virtual Step step(std::span<const std::byte> in, std::span<std::byte> out) noexcept = 0;
  // Begins again, with other data.
  virtual void reset() noexcept = 0;
};

class DeflateStream {
 public:
  struct Step {
    std::size_t taken = 0;
    std::size_t made = 0;
  };

  virtual ~DeflateStream() = default;
  // Takes bytes of `in` and makes bytes in `out`. Call it until all is taken and room is left.
  // `is_last`: nothing follows `in`, now or later.
  virtual Step step(std::span<const std::byte> in, std::span<std::byte> out,
                    bool is_last) noexcept = 0;
};

// Null without memory.
std::unique_ptr<InflateStream> new_inflate_stream() noexcept;
std::unique_ptr<DeflateStream> new_deflate_stream() noexcept;

inline Error no_memory_for_deflate() {
  return Error{.code = ErrorCode::out_of_memory, .message = "not enough memory for deflated data"};
}

// CRC-32, byte by byte or a few at a time; crc_of() is faster where the processor can (inflate.h).
std::uint32_t continue_crc(std::uint32_t crc, std::span<const std::byte> data) noexcept;

}  // namespace andiron::inline v1::detail
