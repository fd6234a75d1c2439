// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/freestanding/cbor_reader_test.cpp
#include "src/freestanding/cbor_reader.h"

#include <bit>
#include <limits>

#include "src/core/text/utf8.h"

namespace andiron::inline v1 {
namespace detail {
namespace {

constexpr std::size_t longest_word = 4096;
constexpr unsigned tag_major = 6;
constexpr unsigned simple_major = 7;
constexpr unsigned char end_of_indefinite = 0xff;
constexpr std::uint64_t positive_bignum_tag = 2;
constexpr std::uint64_t negative_bignum_tag = 3;

constexpr const char* cut_short = "the metadata ends within an item";

// As substr, for ranges known to be inside: substr may throw, which firmware cannot link.
std::string_view part(const char* begin, std::size_t size) { return {begin, size}; }

bool is_valid_text(std::string_view text) {
  // Most names are ASCII: eight bytes at a time.
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, text.data() + at, 8);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  return is_utf8(part(text.data() + at, text.size() - at));
}

// The double with the value of a shorter float, given by its bits. By hand: a conversion would
// change the bits of a signalling NaN, and brings a library of its own on small processors.
double widened(std::uint32_t bits, unsigned exponent_bits, unsigned fraction_bits) {
  const std::uint32_t most = (1u << exponent_bits) - 1;
  const std::uint32_t exponent = bits >> fraction_bits & most;
  const std::uint32_t leading_one = 1u << fraction_bits;
  std::uint32_t fraction = bits & (leading_one - 1);
  const std::uint64_t sign = std::uint64_t{bits >> (exponent_bits + fraction_bits)} << 63;
  std::uint32_t wide = exponent + 1023 - most / 2;
  if (exponent == most) {
    wide = 0x7ff;
  } else if (exponent == 0) {
    if (fraction == 0) return std::bit_cast<double>(sign);
    for (++wide; (fraction & leading_one) == 0; fraction <<= 1) --wide;
    fraction -= leading_one;
  }
  return std::bit_cast<double>(sign | std::uint64_t{wide} << 52 |
                               std::uint64_t{fraction} << (52 - fraction_bits));
}

}  // namespace

bool CborTextPieces::next(std::string_view& piece) noexcept {
  if (rest_.empty()) return false;
  if (whole_) {
    piece = rest_;
    rest_ = {};
    return true;
  }
  // The reader checked every chunk when it took the text.
  const auto* at = reinterpret_cast<const unsigned char*>(rest_.data());
  const unsigned info = *at & 31u;
  std::size_t head = 1;
  std::size_t size = info;
  if (info >= 24) {
    head += std::size_t{1} << (info - 24);
    size = 0;
    for (std::size_t i = 1; i < head; ++i) size = size << 8 | at[i];
  }
  piece = part(rest_.data() + head, size);
  rest_ = part(rest_.data() + head + size, rest_.size() - head - size);
  return true;
}

bool CborReader::fail(ErrorCode code, const char* what) noexcept {
  if (!failed()) {
    code_ = code;
    what_ = what;
  }
  return false;
}

bool CborReader::refuse(const unsigned char* item, const char* what) noexcept {
  if (!failed()) at_ = item;
  return fail(ErrorCode::bad_header, what);
}

bool CborReader::head(Head& out) noexcept {
  if (failed()) return false;
  if (at_ == end_) return fail(ErrorCode::bad_header, cut_short);
  out.major = *at_ >> 5;
  out.info = *at_ & 31u;
  out.indefinite = out.info == 31;
  if (out.indefinite) {
    // Numbers and tags have no length.
    if (out.major < bytes_major || out.major == tag_major) {
      return fail(ErrorCode::bad_header, "a number of indefinite length");
    }
    ++at_;
    return true;
  }
  if (out.info > 27) return fail(ErrorCode::bad_header, "a byte does not begin a CBOR item");
  return take_argument(out.argument) || fail(ErrorCode::bad_header, cut_short);
}

bool CborReader::untagged(Head& out) noexcept {
  do {
    if (!head(out)) return false;
  } while (out.major == tag_major);
  return true;
}

CborReader::Kind CborReader::peek() noexcept {
  const unsigned char* start = at_;
  while (!failed() && at_ != end_ && *at_ >> 5 == tag_major) {
    Head tag;
    if (!head(tag)) return Kind::none;
    // A bignum is a number.
    if (tag.argument == positive_bignum_tag || tag.argument == negative_bignum_tag) {
      at_ = start;
      return tag.argument == positive_bignum_tag ? Kind::unsigned_integer : Kind::negative_integer;
    }
  }
  const unsigned char* item = at_;
  at_ = start;
  if (failed() || item == end_) return Kind::none;
  constexpr Kind kinds[] = {Kind::unsigned_integer,
                            Kind::negative_integer,
                            Kind::bytes,
                            Kind::text,
                            Kind::list,
                            Kind::map};
  if (*item >> 5 < simple_major) return kinds[*item >> 5];
  switch (*item & 31) {
    case 20:
    case 21:
      return Kind::boolean;
    case 22:
    case 23:
      return Kind::null;
    case 25:
    case 26:
    case 27:
      return Kind::floating;
    default:
      return Kind::other;
  }
}

bool CborReader::definite(unsigned major, std::uint64_t size, std::string_view& out) noexcept {
  if (size > static_cast<std::size_t>(end_ - at_)) return fail(ErrorCode::bad_header, cut_short);
  out = part(reinterpret_cast<const char*>(at_), static_cast<std::size_t>(size));
  if (major == text_major && !is_valid_text(out)) {
    return fail(ErrorCode::bad_header, "text is not UTF-8");
  }
  at_ += out.size();
  return true;
}

bool CborReader::chunks(unsigned major, std::string_view& out) noexcept {
  const unsigned char* start = at_;
  for (;;) {
    if (at_ == end_) return fail(ErrorCode::bad_header, cut_short);
    if (*at_ == end_of_indefinite) break;
    Head chunk;
    if (!head(chunk)) return false;
    if (chunk.major != major || chunk.indefinite) {
      return fail(ErrorCode::bad_header, "a chunk of the wrong kind");
    }
    std::string_view content;
    if (!definite(major, chunk.argument, content)) return false;
  }
  out = part(reinterpret_cast<const char*>(start), static_cast<std::size_t>(at_ - start));
  ++at_;
  return true;
}

bool CborReader::text(CborText& out) noexcept {
  const unsigned char* start = at_;
  std::uint64_t size = 0;
  if (!failed() && take_head(text_major, size)) {
    out.is_chunked = false;
    return definite(text_major, size, out.raw);
  }
  at_ = start;
  Head item;
  if (!untagged(item)) return false;
  if (item.major != text_major) return refuse(start, "expected text");
  out.is_chunked = item.indefinite;
  return item.indefinite ? chunks(text_major, out.raw)
                         : definite(text_major, item.argument, out.raw);
}

bool CborReader::word(std::string_view& out) noexcept {
  const unsigned char* start = at_;
  Head item;
  if (!untagged(item)) return false;
  const bool is_word = item.major == text_major || item.major == bytes_major;
  if (!is_word || item.indefinite || item.argument > longest_word) {
    return refuse(start, "expected short text");
  }
  return definite(text_major, item.argument, out);
}

bool CborReader::bignum(std::uint64_t& magnitude) noexcept {
  Head item;
  if (!head(item)) return false;
  if (item.major != bytes_major)
    return fail(ErrorCode::bad_header, "expected the bytes of a number");
  CborText digits{{}, item.indefinite};
  if (!(item.indefinite ? chunks(bytes_major, digits.raw)
                        : definite(bytes_major, item.argument, digits.raw))) {
    return false;
  }
  magnitude = 0;
  CborTextPieces pieces(digits);
  for (std::string_view piece; pieces.next(piece);) {
    for (const char digit : piece) {
      if (magnitude >> 56 != 0)
        return fail(ErrorCode::overflow, "a number does not fit in 64 bits");
      magnitude = magnitude << 8 | static_cast<unsigned char>(digit);
    }
  }
  return true;
}

// The number is `magnitude`, or -1 - magnitude.
bool CborReader::number(bool& negative, std::uint64_t& magnitude) noexcept {
  const unsigned char* start = at_;
  for (;;) {
    Head item;
    if (!head(item)) return false;
    if (item.major <= 1) {
      negative = item.major == 1;
      magnitude = item.argument;
      return true;
    }
    if (item.major != tag_major) return refuse(start, "expected an integer");
    if (item.argument == positive_bignum_tag || item.argument == negative_bignum_tag) {
      negative = item.argument == negative_bignum_tag;
      return bignum(magnitude);
    }
  }
}

bool CborReader::unsigned_integer(std::uint64_t& out) noexcept {
  bool negative = false;
  if (!number(negative, out)) return false;
  return !negative || fail(ErrorCode::bad_header, "a number must not be negative");
}

bool CborReader::integer(std::int64_t& out) noexcept {
  bool negative = false;
  std::uint64_t magnitude = 0;
  if (!number(negative, magnitude)) return false;
  if (magnitude > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return fail(ErrorCode::overflow, "a number does not fit in 64 bits");
  }
  const auto value = static_cast<std::int64_t>(magnitude);
  out = negative ? -1 - value : value;
  return true;
}

bool CborReader::floating(double& out) noexcept {
  const unsigned char* start = at_;
  Head item;
  if (!untagged(item)) return false;
  if (item.major != simple_major || item.indefinite || item.info < 25) {
    return refuse(start, "expected a floating-point number");
  }
  if (item.info == 25) {
    out = widened(static_cast<std::uint32_t>(item.argument), 5, 10);
  } else if (item.info == 26) {
    out = widened(static_cast<std::uint32_t>(item.argument), 8, 23);
  } else {
    out = std::bit_cast<double>(item.argument);
  }
  return true;
}

bool CborReader::boolean(bool& out) noexcept {
  const unsigned char* start = at_;
  Head item;
  if (!untagged(item)) return false;
  if (item.major != simple_major || (item.info != 20 && item.info != 21)) {
    return refuse(start, "expected true or false");
  }
  out = item.info == 21;
  return true;
}

bool CborReader::take_null() noexcept {
  if (failed() || at_ == end_ || (*at_ != 0xf6 && *at_ != 0xf7)) return false;
  ++at_;
  return true;
}

bool CborReader::open(unsigned major, CborOpen& out, const char* what) noexcept {
  const unsigned char* start = at_;
  Head item;
  if (!untagged(item)) return false;
  if (item.major != major) return refuse(start, what);
  out = {item.indefinite ? 0 : item.argument, item.indefinite};
  return true;
}

bool CborReader::next(CborOpen& open) noexcept {
  if (failed()) return false;
  if (!open.indefinite) {
    if (open.left == 0) return false;
    --open.left;
    return true;
  }
  if (at_ == end_) return fail(ErrorCode::bad_header, cut_short);
  if (*at_ != end_of_indefinite) return true;
  ++at_;
  return false;
}

bool CborReader::skip_value(unsigned depth) noexcept {
  // Of a map, keys and values count each for themselves: `odd` holds an indefinite one to pairs.
  // Two arrays, as one of structs would double the stack by padding.
  struct Level {
    bool indefinite : 1;
    bool is_map : 1;
    bool odd : 1;
  };
  std::uint64_t left[max_cbor_depth];
  Level levels[max_cbor_depth];
  unsigned count = 0;
  for (;;) {
    Head item;
    if (!untagged(item)) return false;
    switch (item.major) {
      case bytes_major:
      case text_major: {
        std::string_view content;
        if (!(item.indefinite ? chunks(item.major, content)
                              : definite(item.major, item.argument, content))) {
          return false;
        }
        break;
      }
      case list_major:
      case map_major: {
        if (depth + count >= max_cbor_depth) {
          return fail(ErrorCode::limit_exceeded, "nested too deeply");
        }
        std::uint64_t items = item.indefinite ? 0 : item.argument;
        const bool is_map = item.major == map_major;
        if (is_map && __builtin_mul_overflow(items, 2, &items)) {
          return fail(ErrorCode::bad_header, cut_short);
        }
        left[count] = items;
        levels[count++] = {item.indefinite, is_map, false};
        break;
      }
      case simple_major:
        if (item.indefinite) return fail(ErrorCode::bad_header, "an end without a start");
        break;
      default:
        break;
    }
    // Close what is complete.
    for (;;) {
      if (count == 0) return true;
      Level& level = levels[count - 1];
      CborOpen open{left[count - 1], level.indefinite};
      const bool more = next(open);
      left[count - 1] = open.left;
      if (more) {
        level.odd = !level.odd;
        break;
      }
      if (failed()) return false;
      if (level.is_map && level.odd) return fail(ErrorCode::bad_header, "a key has no value");
      --count;
    }
  }
}

}  // namespace detail

bool CborText::equals(std::string_view text) const noexcept {
  detail::CborTextPieces pieces(*this);
  std::size_t at = 0;
  for (std::string_view piece; pieces.next(piece);) {
    if (piece.empty()) continue;  // and text may have no memory to compare with
    if (piece.size() > text.size() - at) return false;
    if (__builtin_memcmp(text.data() + at, piece.data(), piece.size()) != 0) return false;
    at += piece.size();
  }
  return at == text.size();
}

std::size_t CborText::decode(char* out) const noexcept {
  detail::CborTextPieces pieces(*this);
  std::size_t size = 0;
  for (std::string_view piece; pieces.next(piece);) {
    __builtin_memcpy(out + size, piece.data(), piece.size());
    size += piece.size();
  }
  return size;
}

}  // namespace andiron::inline v1
