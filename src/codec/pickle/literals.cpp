// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/pickle_literals_test.cpp
#include "src/codec/pickle/literals.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "src/core/parse_double.h"
#include "src/core/text/digit.h"
#include "src/core/text/utf8.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::uint32_t replacement = 0xfffd;
constexpr const char* replacement_utf8 = "\xef\xbf\xbd";

// Multiplies a number of 32-bit digits, lowest first, and adds to it.
void multiply_add(std::vector<std::uint32_t>& number, std::uint32_t factor, std::uint32_t more) {
  std::uint64_t carry = more;
  for (std::uint32_t& digit : number) {
    carry += std::uint64_t{digit} * factor;
    digit = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  if (carry != 0) number.push_back(static_cast<std::uint32_t>(carry));
}

std::string big_from_decimal(std::string_view digits, bool negative) {
  std::vector<std::uint32_t> number;
  for (std::size_t at = 0; at < digits.size();) {
    const std::size_t count = std::min<std::size_t>(9, digits.size() - at);
    std::uint32_t part = 0;
    std::uint32_t factor = 1;
    for (const char c : digits.substr(at, count)) {
      part = part * 10 + static_cast<std::uint32_t>(c - '0');
      factor *= 10;
    }
    multiply_add(number, factor, part);
    at += count;
  }
  // One digit for the sign; the complement of a negative number, plus 1.
  number.push_back(0);
  std::uint64_t carry = 1;
  std::string out;
  for (std::uint32_t digit : number) {
    if (negative) {
      carry += static_cast<std::uint32_t>(~digit);
      digit = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    for (unsigned i = 0; i < 4; ++i) out += static_cast<char>(digit >> 8 * i & 0xff);
  }
  // The shortest form, in which the sign can still be seen.
  const char sign = negative ? '\xff' : '\0';
  while (out.size() > 1 && out.back() == sign && ((out[out.size() - 2] ^ sign) & 0x80) == 0) {
    out.pop_back();
  }
  return out;
}

// The value of `count` hexadecimal digits; nothing where there are fewer.
std::optional<std::uint32_t> hex(std::string_view text, std::size_t count) {
  std::uint32_t value = 0;
  if (text.size() < count) return std::nullopt;
  const char* end = text.data() + count;
  const auto [stop, error] = std::from_chars(text.data(), end, value, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool is_surrogate(std::uint32_t value) { return value >= 0xd800 && value < 0xe000; }

// Python's own, with NUL for what is none; JSON has fewer, and another rule for the rest.
char simple_escape(char c) {
  switch (c) {
    case '\\':
    case '\'':
    case '"':
      return c;
    case 'a':
      return '\a';
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
    case 'v':
      return '\v';
    default:
      return '\0';
  }
}

}  // namespace

IntegerText parse_integer(std::string_view text, std::int64_t& small, std::string& big) {
  const bool negative = text.starts_with('-');
  std::string_view digits = text;
  if (negative || text.starts_with('+')) digits.remove_prefix(1);
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) {
    return IntegerText::malformed;
  }
  if (digits[0] == '0') {
    small = 0;
    const bool is_zero = digits.find_first_not_of('0') == std::string_view::npos;
    return is_zero ? IntegerText::small : IntegerText::malformed;
  }
  const std::string_view number = negative ? text : digits;
  if (std::from_chars(number.data(), number.data() + number.size(), small).ec == std::errc()) {
    return IntegerText::small;
  }
  // A byte is worth 2.408 decimal digits. The conversion takes time by the square of their number.
  constexpr std::size_t most_digits = largest_pickle_integer * 241 / 100;
  if (digits.size() > most_digits) return IntegerText::too_long;
  big = big_from_decimal(digits, negative);
  return big.size() > largest_pickle_integer ? IntegerText::too_long : IntegerText::big;
}

std::optional<double> parse_float(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  // C++ would take the parentheses of "nan(1)".
  if (text.find('(') != std::string_view::npos) return std::nullopt;
  return parse_double(text);
}

bool is_ascii(std::string_view text) noexcept {
  const char* at = text.data();
  const char* end = at + text.size();
  std::uint64_t seen = 0;
  for (; end - at >= 8; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    seen |= word;
  }
  for (; at != end; ++at) seen |= static_cast<unsigned char>(*at);
  return (seen & 0x8080808080808080u) == 0;
}

bool replace_surrogates(std::string_view text, char* out) noexcept {
  const char* end = text.data() + text.size();
  const auto is_lone_surrogate = [&](const char* at) {
    const auto byte = [&](unsigned i) { return static_cast<unsigned char>(at[i]); };
    return end - at >= 3 && byte(0) == 0xed && byte(1) >= 0xa0 && byte(1) < 0xc0 &&
           (byte(2) & 0xc0) == 0x80;
  };
  for (const char* at = text.data(); at != end;) {
    unsigned length = decode_utf8(at, end).length;
    if (length != 0) {
      std::memcpy(out, at, length);
    } else if (is_lone_surrogate(at)) {
      length = 3;
      std::memcpy(out, replacement_utf8, length);
    } else {
      return false;
    }
    at += length;
    out += length;
  }
  return true;
}

std::optional<std::size_t> unescape_string(std::string_view text, char* out) noexcept {
  char* const begin = out;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at++];
    if (c != '\\') {
      *out++ = c;
      continue;
    }
    if (at == text.size()) return std::nullopt;
    const char escaped = text[at++];
    if (escaped == 'x') {
      const auto value = hex(text.substr(at), 2);
      if (!value) return std::nullopt;
      *out++ = static_cast<char>(*value);
      at += 2;
    } else if (escaped >= '0' && escaped < '8') {
      unsigned value = static_cast<unsigned>(escaped - '0');
      for (int i = 0; i < 2 && at < text.size() && text[at] >= '0' && text[at] < '8'; ++i) {
        value = value * 8 + static_cast<unsigned>(text[at++] - '0');
      }
      *out++ = static_cast<char>(value & 0xff);
    } else if (const char simple = simple_escape(escaped); simple != '\0') {
      *out++ = simple;
    } else {
      // Python keeps escapes that it does not know.
      *out++ = '\\';
      *out++ = escaped;
    }
  }
  return static_cast<std::size_t>(out - begin);
}

std::optional<std::size_t> decode_raw_unicode(std::string_view text, char* out) noexcept {
  char* const begin = out;
  for (std::size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at++]);
    const char next = c == '\\' && at < text.size() ? text[at] : '\0';
    if (next != 'u' && next != 'U') {
      out += encode_utf8(c, out);
      // A backslash hides the one behind it.
      if (next == '\\') {
        *out++ = next;
        ++at;
      }
      continue;
    }
    const std::size_t digits = next == 'u' ? 4 : 8;
    const auto value = hex(text.substr(at + 1), digits);
    if (!value || *value > 0x10ffff) return std::nullopt;
    out += encode_utf8(is_surrogate(*value) ? replacement : *value, out);
    at += 1 + digits;
  }
  return static_cast<std::size_t>(out - begin);
}

}  // namespace andiron::inline v1::detail
