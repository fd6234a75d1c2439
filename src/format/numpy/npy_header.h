// SPDX-License-Identifier: MIT OR Apache-2.0
// The header of a NumPy array. The grammar is in npy_header.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "andiron/error.h"
#include "andiron/limits.h"

namespace andiron::inline v1::detail {

inline constexpr std::string_view npy_magic = "\x93NUMPY";
inline constexpr std::string_view npy_ending = ".npy";  // also of every entry in an .npz

// Where the text of a header lies; the data follows it.
struct NpyFrame {
  std::size_t text_offset = 0;
  std::uint64_t data_offset = 0;
  bool is_utf8 = false;  // Latin-1 otherwise
};

// By how the array begins: the 12 bytes that a frame takes at most, fewer where there are no more.
Result<NpyFrame> read_npy_frame(std::string_view head, const Limits& limits);

struct NpyHeader {
  std::string_view descr;      // in the text; without quotes, unless it is structured
  bool is_structured = false;  // a list of fields, or a subarray
  bool fortran_order = false;
  std::array<std::uint64_t, max_rank> dims = {};
  std::size_t rank = 0;

  std::span<const std::uint64_t> shape() const noexcept { return std::span(dims).first(rank); }
};

// BadHeader for text that is no such header, with what was found and expected; LimitExceeded for
// more dimensions than max_rank.
Result<NpyHeader> parse_npy_header(std::string_view text);

// All that stands before the data of an array, byte for byte as NumPy writes it: version 1.0,
// row-major, a multiple of 64 bytes. REQUIRES: no more dimensions than max_rank.
std::string npy_head(std::string_view descr, std::span<const std::uint64_t> shape);

}  // namespace andiron::inline v1::detail
