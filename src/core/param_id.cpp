// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/param_id_test.cpp
#include "andiron/param_id.h"

#include <atomic>
#include <random>

#include "andiron/display_text.h"

namespace andiron {
inline namespace v1 {
namespace {

constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuv";
constexpr unsigned bits_per_digit = 5;
constexpr unsigned bits_per_byte = 8;

// A bijection of 64 bits that leaves no pattern (the finaliser of splitmix64).
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

Error not_an_id(std::string_view text) {
  return Error{.code = ErrorCode::invalid_argument,
               .message = "this is no parameter id",
               .found = "'" + display_text(text) + "'",
               .expected = "13 (or 10) characters of 0-9 and a-v"};
}

}  // namespace

// Counting from a random start and mixing: no two ids of one process are equal, and those of two
// processes are as likely to be as random numbers.
ParamId ParamId::generate() {
  static std::atomic<std::uint64_t> next = [] {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
  }();
  return {mix(next.fetch_add(0x9e3779b97f4a7c15U, std::memory_order_relaxed))};
}

std::string ParamId::to_text() const {
  std::string text;
  unsigned buffer = 0;
  unsigned bits = 0;
  for (unsigned byte = 0; byte < sizeof(value); ++byte) {
    buffer = (buffer << bits_per_byte) | ((value >> (bits_per_byte * byte)) & 0xff);
    for (bits += bits_per_byte; bits >= bits_per_digit;) {
      bits -= bits_per_digit;
      text += digits[(buffer >> bits) & 31];
    }
  }
  text += digits[(buffer << (bits_per_digit - bits)) & 31];
  return text;
}

Result<ParamId> ParamId::from_text(std::string_view text) {
  if (text.size() != 13 && text.size() != 10) return not_an_id(text);
  ParamId id;
  unsigned buffer = 0;
  unsigned bits = 0;
  unsigned byte = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos) return not_an_id(text);
    buffer = (buffer << bits_per_digit) | static_cast<unsigned>(digit);
    bits += bits_per_digit;
    if (bits < bits_per_byte) continue;
    bits -= bits_per_byte;
    id.value |= std::uint64_t{(buffer >> bits) & 0xff} << (bits_per_byte * byte++);
  }
  // The last digit has bits to spare, which are zero.
  if ((buffer & ((1U << bits) - 1)) != 0) return not_an_id(text);
  return id;
}

}  // namespace v1
}  // namespace andiron
