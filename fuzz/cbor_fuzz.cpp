// SPDX-License-Identifier: MIT OR Apache-2.0
// CBOR: the first byte is the number of calls, the next bytes choose them, and they read the rest.
// Items end where a plain recursive decoder ends them, a failure sticks, and the values that were
// read can be written and read back the same.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "fuzz/property.h"
#include "src/codec/cbor_writer.h"
#include "src/freestanding/cbor_reader.h"
#include "tests/support/decoded_text.h"
#include "tests/support/written_by.h"

using namespace andiron;
using namespace andiron::fuzz;
using detail::CborOpen;
using detail::CborReader;
using detail::CborTextPieces;
using detail::CborWriter;
using test::decode_text;
using test::written_by;
using Kind = CborReader::Kind;

namespace {

// A second opinion: finds the end of an item, one byte at a time.
class PlainDecoder {
 public:
  explicit PlainDecoder(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // The offset after the item; nothing for what is no CBOR.
  std::optional<std::size_t> end_of_item(unsigned depth) {
    return item(depth) ? std::optional(at_) : std::nullopt;
  }

 private:
  static constexpr unsigned no_length = 31;

  bool byte(unsigned& out) {
    if (at_ == bytes_.size()) return false;
    out = std::to_integer<unsigned>(bytes_[at_++]);
    return true;
  }

  bool head(unsigned& major, unsigned& info, std::uint64_t& argument) {
    unsigned first = 0;
    if (!byte(first)) return false;
    major = first / 32;
    info = first % 32;
    argument = info;
    if (info == no_length) return major != 0 && major != 1 && major != 6;
    if (info > 27) return false;
    if (info < 24) return true;
    argument = 0;
    for (int count = 1 << (info - 24); count > 0; --count) {
      unsigned next = 0;
      if (!byte(next)) return false;
      argument = argument * 256 + next;
    }
    return true;
  }

  bool at_break() {
    if (at_ == bytes_.size() || bytes_[at_] != std::byte{0xff}) return false;
    ++at_;
    return true;
  }

  bool string(bool is_text, std::uint64_t size) {
    if (size > bytes_.size() - at_) return false;
    const std::size_t end = at_ + static_cast<std::size_t>(size);
    while (at_ < end) {
      if (!is_text) {
        ++at_;
      } else if (!character(end)) {
        return false;
      }
    }
    return true;
  }

  // A code point of UTF-8 in its shortest form, no surrogate.
  bool character(std::size_t end) {
    const auto lead = std::to_integer<unsigned>(bytes_[at_++]);
    if (lead < 0x80) return true;
    const int more = lead >= 0xf8   ? -1
                     : lead >= 0xf0 ? 3
                     : lead >= 0xe0 ? 2
                     : lead >= 0xc0 ? 1
                                    : -1;
    if (more < 0) return false;
    unsigned value = lead % (1u << (6 - more));
    for (int i = 0; i < more; ++i) {
      if (at_ == end) return false;
      const auto next = std::to_integer<unsigned>(bytes_[at_++]);
      if (next / 64 != 2) return false;
      value = value * 64 + next % 64;
    }
    const unsigned smallest = more == 1 ? 0x80 : more == 2 ? 0x800 : 0x10000;
    return value >= smallest && value <= 0x10ffff && value / 0x800 != 0x1b;
  }

  bool chunks(unsigned major) {
    while (!at_break()) {
      unsigned chunk = 0;
      unsigned info = 0;
      std::uint64_t size = 0;
      if (!head(chunk, info, size) || chunk != major || info == no_length) return false;
      if (!string(major == CborReader::text_major, size)) return false;
    }
    return true;
  }

  bool item(unsigned depth) {
    unsigned major = 0;
    unsigned info = 0;
    std::uint64_t argument = 0;
    do {
      if (!head(major, info, argument)) return false;
    } while (major == 6);
    if (major == CborReader::bytes_major || major == CborReader::text_major) {
      if (info == no_length) return chunks(major);
      return string(major == CborReader::text_major, argument);
    }
    if (major == 7) return info != no_length;
    if (major < CborReader::bytes_major) return true;
    if (depth == max_cbor_depth) return false;
    const bool is_map = major == CborReader::map_major;
    for (std::uint64_t i = 0; info == no_length ? !at_break() : i < argument; ++i) {
      if (!item(depth + 1) || (is_map && !item(depth + 1))) return false;
    }
    return true;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

bool is_inside(std::string_view part, std::span<const std::byte> bytes) {
  const char* begin = reinterpret_cast<const char*>(bytes.data());
  return part.data() >= begin && part.data() + part.size() <= begin + bytes.size();
}

void check_text(const CborText& text, std::span<const std::byte> bytes) {
  ANDIRON_HOLDS(is_inside(text.raw, bytes));
  const std::string plain = decode_text(text);
  ANDIRON_HOLDS(text.equals(plain));
  ANDIRON_HOLDS(!text.equals(plain + "x"));
  if (!plain.empty()) ANDIRON_HOLDS(!text.equals(std::string_view(plain).substr(1)));
  std::string joined;
  CborTextPieces pieces(text);
  for (std::string_view piece; pieces.next(piece);) joined += piece;
  ANDIRON_HOLDS(joined == plain);
}

CborReader reader_of(const std::string& text) { return CborReader(std::as_bytes(std::span(text))); }

void write_number(std::uint64_t number) {
  const std::string text =
      written_by<CborWriter>([&](CborWriter& out) { out.unsigned_integer(number); });
  CborReader reader = reader_of(text);
  std::uint64_t back = 0;
  ANDIRON_HOLDS(reader.unsigned_integer(back) && back == number && reader.offset() == text.size());
}

void write_integer(std::int64_t number) {
  const std::string text = written_by<CborWriter>([&](CborWriter& out) { out.integer(number); });
  CborReader reader = reader_of(text);
  std::int64_t back = 0;
  ANDIRON_HOLDS(reader.integer(back) && back == number && reader.offset() == text.size());
}

// Every bit is kept, of NaN too.
void write_floating(double number) {
  const std::string text = written_by<CborWriter>([&](CborWriter& out) { out.floating(number); });
  CborReader reader = reader_of(text);
  double back = 0;
  ANDIRON_HOLDS(reader.floating(back) && reader.offset() == text.size());
  ANDIRON_HOLDS(std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(number));
}

// A half-precision number by its definition.
double half_of(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const int fraction = static_cast<int>(bits & 0x3ff);
  const double size = exponent == 0 ? std::ldexp(fraction, -24)
                      : exponent == 31
                          ? (fraction == 0 ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN())
                          : std::ldexp(1024 + fraction, exponent - 25);
  return (bits >> 15) != 0 ? -size : size;
}

class Caller {
 public:
  explicit Caller(std::span<const std::byte> bytes) : bytes_(bytes), reader_(bytes) {}

  void call(unsigned choice) {
    const bool had_failed = reader_.failed();
    const std::size_t start = reader_.offset();
    const Kind kind = reader_.peek();
    const bool peek_failed = !had_failed && reader_.failed();
    if (!peek_failed) ANDIRON_HOLDS(reader_.offset() == start);
    const bool taken = take(choice % 12, start, kind);
    ANDIRON_HOLDS(reader_.offset() <= bytes_.size());
    if (had_failed) ANDIRON_HOLDS(!taken && reader_.offset() == start);
    if (reader_.failed()) ANDIRON_HOLDS(reader_.what() != nullptr);
  }

 private:
  // The call took a whole item: skipping it ends at the same place.
  bool took_item(std::size_t start) {
    CborReader again(bytes_.subspan(start));
    ANDIRON_HOLDS(again.skip_value(0));
    ANDIRON_HOLDS(start + again.offset() == reader_.offset());
    return true;
  }

  bool take(unsigned choice, std::size_t start, Kind kind) {
    switch (choice) {
      case 0: {
        CborText text;
        if (!reader_.text(text)) return false;
        expect(Kind::text, kind, start);
        check_text(text, bytes_);
        return took_item(start);
      }
      case 1: {
        std::string_view word;
        if (!reader_.word(word)) return false;
        expect(kind == Kind::bytes ? Kind::bytes : Kind::text, kind, start);
        ANDIRON_HOLDS(is_inside(word, bytes_) && word.size() <= 4096);
        return took_item(start);
      }
      case 2: {
        std::uint64_t number = 0;
        if (!reader_.unsigned_integer(number)) return false;
        ANDIRON_HOLDS(kind == Kind::unsigned_integer);
        write_number(number);
        return took_item(start);
      }
      case 3: {
        std::int64_t number = 0;
        if (!reader_.integer(number)) return false;
        ANDIRON_HOLDS(kind == (number < 0 ? Kind::negative_integer : Kind::unsigned_integer));
        write_integer(number);
        return took_item(start);
      }
      case 4: {
        double number = 0;
        if (!reader_.floating(number)) return false;
        expect(Kind::floating, kind, start);
        write_floating(number);
        check_half(start, number);
        return took_item(start);
      }
      case 5: {
        bool truth = false;
        if (!reader_.boolean(truth)) return false;
        expect(Kind::boolean, kind, start);
        return took_item(start);
      }
      case 6:
        if (!reader_.take_null()) return false;
        ANDIRON_HOLDS(kind == Kind::null);
        return took_item(start);
      case 7:
        return reader_.open_list(open_) && expect(Kind::list, kind, start);
      case 8:
        return reader_.open_map(open_) && expect(Kind::map, kind, start);
      case 9: {
        const bool more = reader_.next(open_);
        if (!more && !reader_.failed()) open_ = {};
        return more;
      }
      case 10: {
        // The quick ways know nothing of failures.
        if (reader_.failed()) return false;
        return quick(start);
      }
      default:
        return reader_.skip_value(0) && took_item(start);
    }
  }

  // The kind that was seen ahead. The tag of a bignum before something else means nothing, but
  // looks like a number.
  bool expect(Kind expected, Kind seen, std::size_t start) const {
    const bool has_tag = std::to_integer<unsigned>(bytes_[start]) / 32 == 6;
    const bool is_number = seen == Kind::unsigned_integer || seen == Kind::negative_integer;
    ANDIRON_HOLDS(seen == expected || (has_tag && is_number));
    return true;
  }

  // Half-precision numbers, where no tag is before them.
  void check_half(std::size_t start, double number) {
    if (bytes_[start] != std::byte{0xf9}) return;
    const double expected = half_of(std::to_integer<unsigned>(bytes_[start + 1]) << 8 |
                                    std::to_integer<unsigned>(bytes_[start + 2]));
    ANDIRON_HOLDS(std::isnan(expected) ? std::isnan(number) : expected == number);
  }

  bool quick(std::size_t start) {
    std::uint64_t number = 0;
    if (reader_.take_unsigned(number)) {
      CborReader again(bytes_.subspan(start));
      std::uint64_t same = 0;
      ANDIRON_HOLDS(again.unsigned_integer(same) && same == number);
      return took_item(start);
    }
    ANDIRON_HOLDS(reader_.offset() == start);
    std::string_view text;
    if (reader_.take_short_text(text)) {
      ANDIRON_HOLDS(is_inside(text, bytes_));
      CborReader again(bytes_.subspan(start));
      CborText same;
      if (again.text(same))
        ANDIRON_HOLDS(same.raw == text && start + again.offset() == reader_.offset());
      return true;
    }
    ANDIRON_HOLDS(reader_.offset() == start);
    return reader_.take_bytes("\x65shape");
  }

  std::span<const std::byte> bytes_;
  CborReader reader_;
  CborOpen open_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t calls = std::min<std::size_t>(data[0] % 32, size - 1);
  const auto script = std::span(data + 1, calls);
  const auto bytes = std::as_bytes(std::span(data + 1 + calls, size - 1 - calls));

  // Items one after the other.
  std::size_t at = 0;
  for (;;) {
    CborReader reader(bytes.subspan(at));
    const bool skipped = reader.skip_value(0);
    const auto end = PlainDecoder(bytes.subspan(at)).end_of_item(0);
    ANDIRON_HOLDS(skipped == end.has_value());
    ANDIRON_HOLDS(skipped != reader.failed());
    if (!skipped) break;
    ANDIRON_HOLDS(reader.offset() == *end);
    at += *end;
  }

  Caller caller(bytes);
  for (const std::uint8_t choice : script) caller.call(choice);
  return 0;
}
