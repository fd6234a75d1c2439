// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/param_id_test.cpp
#include "andiron/param_id.h"

#include <array>
#include <atomic>
#include <optional>
#include <random>

#include "andiron/detail/no_throw.h"
#include "src/core/little_endian.h"
#include "src/core/text/in_quotes.h"

namespace andiron::inline v1 {
namespace {

constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuv";
constexpr unsigned bits_per_digit = 5;
constexpr unsigned bits_per_byte = 8;

constexpr std::size_t uuid_size = 36;
constexpr std::size_t uuid_bytes = 16;

// A bijection of 64 bits that leaves no pattern (the finaliser of splitmix64).
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

Error not_an_id(std::string_view text) {
  return Error{.code = ErrorCode::invalid_argument,
               .message = "not a parameter id",
               .found = detail::in_quotes(text),
               .expected = "13 (or 10) characters of 0-9 and a-v, or a UUID"};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool is_hyphen_place(std::size_t at) { return at == 8 || at == 13 || at == 18 || at == 23; }

std::optional<std::array<std::byte, uuid_bytes>> parse_uuid(std::string_view text) {
  std::array<std::byte, uuid_bytes> bytes;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_hyphen_place(at)) {
      if (text[at] != '-') return std::nullopt;
      continue;
    }
    const int high = hex_digit(text[at]);
    const int low = hex_digit(text[++at]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes[count++] = static_cast<std::byte>(high << 4 | low);
  }
  return bytes;
}

// The product's two halves in one.
constexpr std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t a_low = a & 0xffffffffU, a_high = a >> 32;
  const std::uint64_t b_low = b & 0xffffffffU, b_high = b >> 32;
  const std::uint64_t low = a_low * b_low;
  const std::uint64_t middle = a_high * b_low + (low >> 32);
  const std::uint64_t other = a_low * b_high + (middle & 0xffffffffU);
  return (a_high * b_high + (middle >> 32) + (other >> 32)) ^ (a * b);
}

// To the left. The count of std::rotl is an int or not, by the library.
constexpr std::uint64_t rotated(std::uint64_t number, std::uint64_t count) {
  return number << count | number >> (64 - count) % 64;
}

// What Burn makes of the UUIDs of its early releases: the hash that the Rust crate ahash 0.8 gives
// for 16 bytes with fixed keys (the first digits of pi) where there are no AES instructions.
std::uint64_t hash_uuid(const std::array<std::byte, uuid_bytes>& bytes) {
  constexpr std::uint64_t keys[] = {0x243f6a8885a308d3U, 0x13198a2e03707344U, 0xa4093822299f31d0U,
                                    0x082efa98ec4e6c89U};
  constexpr std::uint64_t multiplier = 6364136223846793005U;
  const std::uint64_t state = (keys[1] + uuid_bytes) * multiplier + keys[0];
  const std::uint64_t data =
      folded_product(load_u64(bytes.data()) ^ keys[2], load_u64(bytes.data() + 8) ^ keys[3]);
  const std::uint64_t mixed = rotated(state ^ data, 23);
  return rotated(folded_product(mixed, keys[0]), mixed & 63);
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

Result<ParamId> ParamId::from_text(std::string_view text) ANDIRON_NO_THROW {
  if (text.size() == uuid_size) {
    const auto uuid = parse_uuid(text);
    if (!uuid) return not_an_id(text);
    return ParamId{hash_uuid(*uuid)};
  }
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
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
