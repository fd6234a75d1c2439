// SPDX-License-Identifier: MIT OR Apache-2.0
// MessagePack, pulled item by item out of a buffer: no heap, no recursion, no copy. Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "andiron/error_code.h"

namespace andiron::inline v1::detail {

enum class MsgpackKind : std::uint8_t {
  nil,
  boolean,
  integer,           // below zero
  unsigned_integer,  // zero and above, whatever its form in the file
  floating,
  text,
  bytes,
  extension,
  list,
  map,
};

// The head of a value.
struct MsgpackItem {
  MsgpackKind kind = MsgpackKind::nil;
  bool boolean = false;
  std::int64_t integer = 0;
  std::uint64_t number = 0;  // an unsigned integer
  double floating = 0;
  // Bytes of text, bytes and extensions, which follow; items of a list; pairs of a map.
  std::uint64_t size = 0;
};

// Reads items in order. The first failure is kept: every later call returns false, and code(),
// what() and offset() describe it.
class MsgpackReader {
 public:
  // The longest item without its content.
  static constexpr std::size_t max_item_bytes = 9;

  explicit MsgpackReader(std::string_view bytes) noexcept
      : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool failed() const noexcept { return what_ != nullptr; }
  ErrorCode code() const noexcept { return code_; }
  // What is wrong, in a few words.
  const char* what() const noexcept { return what_; }
  // Bytes taken so far.
  std::size_t offset() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

  // A value up to its content.
  bool next(MsgpackItem& out) noexcept;
  // The content of text, bytes or an extension.
  bool content(std::uint64_t size, std::string_view& out) noexcept;
  // Text with its content, which is UTF-8.
  bool text(std::string_view& out) noexcept;

 private:
  bool fail(ErrorCode code, const char* what) noexcept;
  // A big-endian number of `count` bytes.
  bool take(unsigned count, std::uint64_t& out) noexcept;
  bool take_size(MsgpackItem& out, MsgpackKind kind, unsigned count) noexcept;
  bool take_signed(MsgpackItem& out, unsigned count) noexcept;

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* what_ = nullptr;
  ErrorCode code_ = ErrorCode::bad_header;
};

}  // namespace andiron::inline v1::detail
