// SPDX-License-Identifier: MIT OR Apache-2.0
// CBOR (RFC 8949), pulled item by item out of a buffer: no heap, no recursion, no copy. Tags in
// front of values are skipped, definite and indefinite lengths are read alike; UTF-8 is checked.
// Freestanding.
//
//   item := head [content]
//   head := major (3 bits), info (5 bits), then by info: 0-23 itself, 24-27 a big-endian number of
//           1, 2, 4 or 8 bytes, 31 indefinite length
//   major: 0 unsigned, 1 negative (-1 - n), 2 bytes, 3 text, 4 list, 5 map, 6 tag, 7 simple, float
//          or the end of an indefinite length
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "andiron/burnpack_view.h"
#include "andiron/error_code.h"
#include "andiron/limits.h"

namespace andiron::inline v1::detail {

// A list or map that is being read.
struct CborOpen {
  std::uint64_t left = 0;  // items, or pairs, that are still to come
  bool indefinite = false;
};

// Reads items in the order in which the caller asks for them. The first failure is kept: every
// later call returns false, and code(), what() and offset() describe it.
class CborReader {
 public:
  static constexpr unsigned bytes_major = 2;
  static constexpr unsigned text_major = 3;
  static constexpr unsigned list_major = 4;
  static constexpr unsigned map_major = 5;

  enum class Kind : std::uint8_t {
    unsigned_integer,
    negative_integer,
    bytes,
    text,
    list,
    map,
    boolean,
    null,  // or undefined
    floating,
    other,  // an unassigned simple value, or the end of an indefinite length
    none,   // the bytes end
  };

  explicit CborReader(std::span<const std::byte> bytes) noexcept
      : begin_(reinterpret_cast<const unsigned char*>(bytes.data())),
        at_(begin_),
        end_(begin_ + bytes.size()) {}

  bool failed() const noexcept { return what_ != nullptr; }
  ErrorCode code() const noexcept { return code_; }
  // What is wrong, in a few words.
  const char* what() const noexcept { return what_; }
  // Where: bytes from the start of the buffer.
  std::size_t offset() const noexcept { return static_cast<std::size_t>(at_ - begin_); }
  // Records a failure of the caller's own at the current place. Returns false.
  bool fail(ErrorCode code, const char* what) noexcept;

  // The kind of the next item, past its tags.
  Kind peek() noexcept;

  bool text(CborText& out) noexcept;
  // Text that names a field or an alternative: of definite length, at most 4096 bytes.
  bool word(std::string_view& out) noexcept;
  // 0 to 2^64 - 1, also as a bignum.
  bool unsigned_integer(std::uint64_t& out) noexcept;
  // -2^63 to 2^63 - 1, also as a bignum.
  bool integer(std::int64_t& out) noexcept;
  bool floating(double& out) noexcept;
  bool boolean(bool& out) noexcept;
  // Takes null or undefined if it is next.
  bool take_null() noexcept;

  bool open_list(CborOpen& out) noexcept { return open(list_major, out, "expected a list"); }
  bool open_map(CborOpen& out) noexcept { return open(map_major, out, "expected a map"); }
  // True when another item (or pair) follows; otherwise the list (or map) is behind us, or the
  // bytes end.
  bool next(CborOpen& open) noexcept;

  // Skips a value of any kind, checking its grammar; `depth` levels are open around it.
  bool skip_value(unsigned depth) noexcept;

  // The quick way through bytes that look as writers make them: takes exactly these if they are
  // next.
  template <std::size_t N>
  [[gnu::always_inline]] bool take_bytes(const char (&bytes)[N]) noexcept {
    constexpr std::size_t size = N - 1;
    if (static_cast<std::size_t>(end_ - at_) < size || __builtin_memcmp(at_, bytes, size) != 0) {
      return false;
    }
    at_ += size;
    return true;
  }
  // The head of an item of this major type, of definite length and without a tag; others are left
  // to the functions above.
  [[gnu::always_inline]] bool take_head(unsigned major, std::uint64_t& argument) noexcept {
    return at_ != end_ && *at_ >> 5 == major && (*at_ & 31) < 28 && take_argument(argument);
  }
  bool take_unsigned(std::uint64_t& out) noexcept { return take_head(0, out); }
  // A text of less than 24 bytes, unchecked: to be compared with known ones.
  bool take_short_text(std::string_view& out) noexcept {
    if (at_ == end_ || *at_ < 0x60 || *at_ > 0x77) return false;
    const std::size_t size = *at_ & 31u;
    if (static_cast<std::size_t>(end_ - at_) <= size) return false;
    out = {reinterpret_cast<const char*>(at_ + 1), size};
    at_ += 1 + size;
    return true;
  }
  // A place to come back to.
  const unsigned char* mark() const noexcept { return at_; }
  void rewind(const unsigned char* mark) noexcept { at_ = mark; }

 private:
  struct Head {
    unsigned major = 0;
    unsigned info = 0;
    std::uint64_t argument = 0;
    bool indefinite = false;
  };

  // The number after the first byte of a head, whose low bits are below 28.
  [[gnu::always_inline]] bool take_argument(std::uint64_t& out) noexcept {
    const unsigned info = *at_ & 31u;
    if (info < 24) {
      out = info;
      ++at_;
      return true;
    }
    const std::size_t size = std::size_t{1} << (info - 24);
    if (static_cast<std::size_t>(end_ - at_) <= size) return false;
    switch (info) {
      case 24:
        out = at_[1];
        break;
      case 25:
        out = big_endian<std::uint16_t>();
        break;
      case 26:
        out = big_endian<std::uint32_t>();
        break;
      default:
        out = big_endian<std::uint64_t>();
    }
    at_ += 1 + size;
    return true;
  }
  // The number after the first byte.
  template <class T>
  T big_endian() const noexcept {
    T value = 0;
    for (std::size_t i = 1; i <= sizeof(T); ++i) value = static_cast<T>(value << 8 | at_[i]);
    return value;
  }
  // A failure at the beginning of an item that is not of the kind asked for.
  bool refuse(const unsigned char* item, const char* what) noexcept;
  bool head(Head& out) noexcept;
  // The head of the next item that is no tag.
  bool untagged(Head& out) noexcept;
  bool number(bool& negative, std::uint64_t& magnitude) noexcept;
  bool bignum(std::uint64_t& magnitude) noexcept;
  bool definite(unsigned major, std::uint64_t size, std::string_view& out) noexcept;
  bool chunks(unsigned major, std::string_view& out) noexcept;
  bool open(unsigned major, CborOpen& out, const char* what) noexcept;

  const unsigned char* begin_;
  const unsigned char* at_;
  const unsigned char* end_;
  const char* what_ = nullptr;
  ErrorCode code_ = ErrorCode::bad_header;
};

// The next piece of a text: all of it, or one chunk after the other.
class CborTextPieces {
 public:
  explicit CborTextPieces(const CborText& text) noexcept
      : rest_(text.raw), whole_(!text.is_chunked) {}
  // False at the end.
  bool next(std::string_view& piece) noexcept;

 private:
  std::string_view rest_;
  bool whole_;
};

}  // namespace andiron::inline v1::detail
