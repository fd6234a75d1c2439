// SPDX-License-Identifier: MIT OR Apache-2.0
// JSON, pulled token by token out of a buffer: no heap, no recursion, no copy. Strict RFC 8259:
// UTF-8 is checked, control characters and lone surrogates are refused. Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "andiron/error_code.h"
#include "andiron/limits.h"
#include "andiron/safetensors_view.h"

namespace andiron::inline v1::detail {

inline constexpr std::string_view json_space = " \n\r\t";

// The next byte of a decoded string, without a buffer.
class JsonTextBytes {
 public:
  explicit JsonTextBytes(const JsonText& text) noexcept
      : at_(text.raw.data()), end_(text.raw.data() + text.raw.size()) {}
  // False at the end.
  bool next(char& byte) noexcept;

 private:
  const char* at_;
  const char* end_;
  char pending_[4] = {};
  unsigned pending_count_ = 0;
  unsigned pending_at_ = 0;
};

// Reads values in the order in which the caller asks for them. The first failure is kept: every
// later call returns false, and code(), what() and offset() describe it.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) noexcept
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  bool failed() const noexcept { return what_ != nullptr; }
  ErrorCode code() const noexcept { return code_; }
  // What is wrong, in a few words.
  const char* what() const noexcept { return what_; }
  // Where: bytes from the start of the text.
  std::size_t offset() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

  // Records a failure of the caller's own at the current place. Returns false.
  bool fail(ErrorCode code, const char* what) noexcept;

  // The next byte after white space; 0 at the end.
  char peek() noexcept {
    skip_space();
    return at_ == end_ ? '\0' : *at_;
  }
  // Takes `c` if it is next.
  bool take(char c) noexcept {
    if (failed() || peek() != c || at_ == end_) return false;
    ++at_;
    return true;
  }
  // Takes `c`, or fails saying `what`.
  bool expect(char c, const char* what) noexcept {
    return take(c) || fail(ErrorCode::bad_header, what);
  }
  bool at_end() noexcept {
    skip_space();
    return at_ == end_;
  }

  bool string(JsonText& out) noexcept;
  // A key and its colon.
  bool key(JsonText& out) noexcept {
    return string(out) && expect(':', "expected a colon after the key");
  }
  // A whole number without sign, fraction or exponent, up to 2^64 - 1.
  bool unsigned_integer(std::uint64_t& out) noexcept;
  // Takes exactly these bytes if they are next: the quick way through text that looks as writers
  // make it.
  bool take_text(std::string_view text) noexcept {
    if (failed() || static_cast<std::size_t>(end_ - at_) < text.size() ||
        __builtin_memcmp(at_, text.data(), text.size()) != 0) {
      return false;
    }
    at_ += text.size();
    return true;
  }
  // Takes up to 19 digits without a leading zero, which fit 64 bits. Leaves other numbers to
  // unsigned_integer().
  bool take_digits(std::uint64_t& out) noexcept {
    const char* start = at_;
    std::uint64_t value = 0;
    for (; at_ != end_ && *at_ >= '0' && *at_ <= '9'; ++at_) {
      value = value * 10 + static_cast<unsigned>(*at_ - '0');
    }
    out = value;
    const auto digits = at_ - start;
    return digits != 0 && digits <= 19 && (*start != '0' || digits == 1);
  }
  // Takes capital letters, digits and underscores: the names of dtypes.
  std::string_view take_word() noexcept {
    const char* start = at_;
    while (at_ != end_ &&
           ((*at_ >= 'A' && *at_ <= 'Z') || (*at_ >= '0' && *at_ <= '9') || *at_ == '_'))
      ++at_;
    return {start, static_cast<std::size_t>(at_ - start)};
  }
  // A place to come back to.
  const char* mark() const noexcept { return at_; }
  void rewind(const char* mark) noexcept { at_ = mark; }
  // Any number, as its text.
  bool number(std::string_view& out) noexcept;
  // "true", "false" or "null".
  bool literal(std::string_view word) noexcept;
  // Skips a value of any kind, checking its grammar; `depth` levels are open around it.
  bool skip_value(unsigned depth) noexcept;

  // Between the items of a list or object: true when another follows. Call with `first` set before
  // the first item, which clears it; takes the closing bracket when there is none.
  bool next_item(char close, bool& first) noexcept;

 private:
  void skip_space() noexcept {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool escape() noexcept;
  bool hex4(std::uint32_t& out) noexcept;

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* what_ = nullptr;
  ErrorCode code_ = ErrorCode::bad_header;
};

}  // namespace andiron::inline v1::detail
