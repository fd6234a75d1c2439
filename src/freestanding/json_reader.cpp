// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/freestanding/json_reader_test.cpp
#include "src/freestanding/json_reader.h"

#include "src/core/text/digit.h"
#include "src/core/text/utf8.h"

namespace andiron::inline v1 {
namespace detail {
namespace {

int hex_digit(char c) {
  if (detail::is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// True when none of eight bytes is a quote, a backslash, a control character or outside ASCII.
bool is_plain(std::uint64_t word) {
  constexpr std::uint64_t ones = 0x0101010101010101u;
  constexpr std::uint64_t high = 0x8080808080808080u;
  const std::uint64_t quote = word ^ ones * '"';
  const std::uint64_t slash = word ^ ones * '\\';
  return (((quote - ones) | (slash - ones) | (word - ones * 0x20) | word) & high) == 0;
}

std::uint32_t parse_hex4(const char* at) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 4 | static_cast<std::uint32_t>(hex_digit(at[i]));
  return value;
}

bool is_high_surrogate(std::uint32_t c) { return c >= 0xd800 && c < 0xdc00; }
bool is_low_surrogate(std::uint32_t c) { return c >= 0xdc00 && c < 0xe000; }

char simple_escape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;  // quote, backslash, slash
  }
}

}  // namespace

bool JsonTextBytes::next(char& byte) noexcept {
  if (pending_at_ < pending_count_) {
    byte = pending_[pending_at_++];
    return true;
  }
  if (at_ == end_) return false;
  if (*at_ != '\\') {
    byte = *at_++;
    return true;
  }
  // The reader checked every escape when it took the string.
  const char kind = at_[1];
  at_ += 2;
  if (kind != 'u') {
    byte = simple_escape(kind);
    return true;
  }
  std::uint32_t c = parse_hex4(at_);
  at_ += 4;
  if (is_high_surrogate(c)) {
    c = 0x10000 + ((c - 0xd800) << 10) + (parse_hex4(at_ + 2) - 0xdc00);
    at_ += 6;
  }
  pending_count_ = encode_utf8(c, pending_);
  pending_at_ = 1;
  byte = pending_[0];
  return true;
}

bool JsonReader::fail(ErrorCode code, const char* what) noexcept {
  if (!failed()) {
    code_ = code;
    what_ = what;
  }
  return false;
}

bool JsonReader::string(JsonText& out) noexcept {
  if (failed()) return false;
  if (!take('"')) return fail(ErrorCode::bad_header, "expected a string");
  const char* start = at_;
  out.has_escapes = false;
  for (;;) {
    while (end_ - at_ >= 8) {
      std::uint64_t word;
      __builtin_memcpy(&word, at_, sizeof word);
      if (!is_plain(word)) break;
      at_ += 8;
    }
    // At most eight bytes until the fast path can go on.
    const char* stop = end_ - at_ > 8 ? at_ + 8 : end_;
    while (at_ < stop) {
      const auto c = static_cast<unsigned char>(*at_);
      if (c == '"') {
        out.raw = {start, static_cast<std::size_t>(at_ - start)};
        ++at_;
        return true;
      }
      if (c == '\\') {
        out.has_escapes = true;
        if (!escape()) return false;
      } else if (c < 0x20) {
        return fail(ErrorCode::bad_header, "a control character in a string");
      } else if (c < 0x80) {
        ++at_;
      } else {
        const CodePoint point = decode_utf8(at_, end_);
        if (point.length == 0) return fail(ErrorCode::bad_header, "text is not UTF-8");
        at_ += point.length;
      }
    }
    if (at_ >= end_) return fail(ErrorCode::bad_header, "unterminated string");
  }
}

bool JsonReader::hex4(std::uint32_t& out) noexcept {
  if (end_ - at_ < 4) return fail(ErrorCode::bad_header, "a \\u escape needs four hex digits");
  for (int i = 0; i < 4; ++i) {
    if (hex_digit(at_[i]) < 0) {
      return fail(ErrorCode::bad_header, "a \\u escape needs four hex digits");
    }
  }
  out = parse_hex4(at_);
  at_ += 4;
  return true;
}

bool JsonReader::escape() noexcept {
  if (end_ - at_ < 2) return fail(ErrorCode::bad_header, "unterminated string");
  const char kind = at_[1];
  if (kind != 'u') {
    if (std::string_view("\"\\/bfnrt").find(kind) == std::string_view::npos) {
      return fail(ErrorCode::bad_header, "an unknown escape in a string");
    }
    at_ += 2;
    return true;
  }
  at_ += 2;
  std::uint32_t first = 0;
  if (!hex4(first)) return false;
  if (is_low_surrogate(first)) return fail(ErrorCode::bad_header, "unpaired surrogate");
  if (!is_high_surrogate(first)) return true;
  std::uint32_t second = 0;
  if (end_ - at_ < 2 || at_[0] != '\\' || at_[1] != 'u') {
    return fail(ErrorCode::bad_header, "unpaired surrogate");
  }
  at_ += 2;
  if (!hex4(second)) return false;
  return is_low_surrogate(second) || fail(ErrorCode::bad_header, "unpaired surrogate");
}

bool JsonReader::unsigned_integer(std::uint64_t& out) noexcept {
  if (failed()) return false;
  skip_space();
  if (at_ == end_ || !detail::is_digit(*at_)) {
    return fail(ErrorCode::bad_header, "expected a whole number");
  }
  const char* start = at_;
  std::uint64_t value = 0;
  for (; at_ != end_ && detail::is_digit(*at_); ++at_) {
    if (__builtin_mul_overflow(value, 10u, &value) ||
        __builtin_add_overflow(value, static_cast<unsigned>(*at_ - '0'), &value)) {
      return fail(ErrorCode::bad_header, "a number above 2^64 - 1");
    }
  }
  if (*start == '0' && at_ - start > 1) {
    return fail(ErrorCode::bad_header, "a number with leading zeros");
  }
  if (at_ != end_ && (*at_ == '.' || *at_ == 'e' || *at_ == 'E')) {
    return fail(ErrorCode::bad_header, "the number is not whole");
  }
  out = value;
  return true;
}

bool JsonReader::number(std::string_view& out) noexcept {
  if (failed()) return false;
  if (at_end()) return fail(ErrorCode::bad_header, "the text ends where a value should be");
  const char* start = at_;
  auto digits = [&] {
    const char* first = at_;
    while (at_ != end_ && detail::is_digit(*at_)) ++at_;
    return at_ - first;
  };
  if (at_ != end_ && *at_ == '-') ++at_;
  const bool zero = at_ != end_ && *at_ == '0';
  const auto whole = digits();
  if (whole == 0 || (zero && whole > 1)) return fail(ErrorCode::bad_header, "malformed number");
  if (at_ != end_ && *at_ == '.') {
    ++at_;
    if (digits() == 0) return fail(ErrorCode::bad_header, "malformed number");
  }
  if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
    ++at_;
    if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
    if (digits() == 0) return fail(ErrorCode::bad_header, "malformed number");
  }
  out = {start, static_cast<std::size_t>(at_ - start)};
  return true;
}

bool JsonReader::literal(std::string_view word) noexcept {
  if (failed()) return false;
  skip_space();
  // As starts_with, which firmware built without optimization cannot link: it names a throw.
  const bool fits = static_cast<std::size_t>(end_ - at_) >= word.size();
  if (!fits || std::string_view(at_, word.size()) != word) {
    return fail(ErrorCode::bad_header, "expected a value");
  }
  at_ += word.size();
  return true;
}

bool JsonReader::next_item(char close, bool& first) noexcept {
  if (failed()) return false;
  if (take(close)) return false;
  if (!first && !expect(',', "expected a comma or a closing bracket")) return false;
  first = false;
  return true;
}

bool JsonReader::skip_value(unsigned depth) noexcept {
  // One bit a level: set for an object, clear for a list.
  std::uint64_t kinds[(max_json_depth + 63) / 64] = {};
  unsigned level = 0;
  auto is_object = [&] { return (kinds[(level - 1) / 64] >> (level - 1) % 64 & 1) != 0; };
  for (;;) {
    // One value, or the opening of one.
    bool opened = false;
    const char c = peek();
    if (c == '{' || c == '[') {
      if (depth + level >= max_json_depth) {
        return fail(ErrorCode::limit_exceeded, "nested too deeply");
      }
      ++at_;
      const std::uint64_t bit = std::uint64_t{1} << level % 64;
      std::uint64_t& word = kinds[level / 64];
      word = c == '{' ? word | bit : word & ~bit;
      ++level;
      opened = !take(c == '{' ? '}' : ']');
      if (!opened) --level;
    } else if (c == '"') {
      JsonText ignored;
      if (!string(ignored)) return false;
    } else if (c == 't' || c == 'f' || c == 'n') {
      if (!literal(c == 't' ? "true" : c == 'f' ? "false" : "null")) return false;
    } else {
      std::string_view ignored;
      if (!number(ignored)) return false;
    }
    // What follows it: the closing of levels, or a comma.
    while (!opened && level != 0 && take(is_object() ? '}' : ']')) --level;
    if (level == 0) return !failed();
    if (!opened && !expect(',', "expected a comma or a closing bracket")) return false;
    if (is_object()) {
      JsonText ignored;
      if (!key(ignored)) return false;
    }
  }
}

}  // namespace detail

std::size_t JsonText::decode(char* out) const noexcept {
  detail::JsonTextBytes bytes(*this);
  std::size_t size = 0;
  for (char c; bytes.next(c);) out[size++] = c;
  return size;
}

bool JsonText::equals(std::string_view text) const noexcept {
  if (!has_escapes) return raw == text;
  detail::JsonTextBytes bytes(*this);
  char c;
  for (char wanted : text) {
    if (!bytes.next(c) || c != wanted) return false;
  }
  return !bytes.next(c);
}

}  // namespace andiron::inline v1
