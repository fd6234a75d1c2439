// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/freestanding/msgpack_reader_test.cpp
#include "src/freestanding/msgpack_reader.h"

#include <bit>

#include "src/core/text/utf8.h"

namespace andiron::inline v1::detail {
namespace {

// Markers of one kind follow each other by the width of their size, or number: 1, 2, 4, 8 or 16.
constexpr unsigned power_of_two(std::uint64_t exponent) { return 1u << (exponent & 7); }

}  // namespace

bool MsgpackReader::fail(ErrorCode code, const char* what) noexcept {
  if (!failed()) {
    code_ = code;
    what_ = what;
  }
  return false;
}

bool MsgpackReader::take(unsigned count, std::uint64_t& out) noexcept {
  if (end_ - at_ < static_cast<std::ptrdiff_t>(count)) {
    return fail(ErrorCode::truncated, "the bytes end within a value");
  }
  out = 0;
  for (unsigned i = 0; i < count; ++i) out = out << 8 | static_cast<unsigned char>(*at_++);
  return true;
}

bool MsgpackReader::take_size(MsgpackItem& out, MsgpackKind kind, unsigned count) noexcept {
  out.kind = kind;
  return take(count, out.size);
}

bool MsgpackReader::take_signed(MsgpackItem& out, unsigned count) noexcept {
  std::uint64_t bits = 0;
  if (!take(count, bits)) return false;
  const unsigned unused = 64 - 8 * count;
  const std::int64_t value = static_cast<std::int64_t>(bits << unused) >> unused;
  out.kind = value < 0 ? MsgpackKind::integer : MsgpackKind::unsigned_integer;
  out.integer = value;
  out.number = static_cast<std::uint64_t>(value);
  return true;
}

bool MsgpackReader::next(MsgpackItem& out) noexcept {
  if (failed()) return false;
  out = {};
  std::uint64_t marker = 0;
  if (!take(1, marker)) return false;
  if (marker < 0x80 || marker >= 0xe0) {
    --at_;
    return take_signed(out, 1);
  }
  if (marker < 0xc0) {
    out.kind = marker < 0x90   ? MsgpackKind::map
               : marker < 0xa0 ? MsgpackKind::list
                               : MsgpackKind::text;
    out.size = out.kind == MsgpackKind::text ? marker & 0x1f : marker & 0x0f;
    return true;
  }
  std::uint64_t bits = 0;
  switch (marker) {
    case 0xc0:
      return true;
    case 0xc2:
    case 0xc3:
      out.kind = MsgpackKind::boolean;
      out.boolean = marker == 0xc3;
      return true;
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return take_size(out, MsgpackKind::bytes, power_of_two(marker - 0xc4));
    case 0xc7:
    case 0xc8:
    case 0xc9:
      return take_size(out, MsgpackKind::extension, power_of_two(marker - 0xc7)) && take(1, bits);
    case 0xca:
      if (!take(4, bits)) return false;
      out.kind = MsgpackKind::floating;
      out.floating = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      return true;
    case 0xcb:
      if (!take(8, bits)) return false;
      out.kind = MsgpackKind::floating;
      out.floating = std::bit_cast<double>(bits);
      return true;
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
      out.kind = MsgpackKind::unsigned_integer;
      return take(power_of_two(marker - 0xcc), out.number);
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
      return take_signed(out, power_of_two(marker - 0xd0));
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
      out.kind = MsgpackKind::extension;
      out.size = power_of_two(marker - 0xd4);
      return take(1, bits);
    case 0xd9:
    case 0xda:
    case 0xdb:
      return take_size(out, MsgpackKind::text, power_of_two(marker - 0xd9));
    case 0xdc:
    case 0xdd:
      return take_size(out, MsgpackKind::list, 2 * power_of_two(marker - 0xdc));
    case 0xde:
    case 0xdf:
      return take_size(out, MsgpackKind::map, 2 * power_of_two(marker - 0xde));
    default:
      --at_;
      return fail(ErrorCode::bad_header, "a byte does not begin a MessagePack value");
  }
}

bool MsgpackReader::content(std::uint64_t size, std::string_view& out) noexcept {
  if (failed()) return false;
  if (static_cast<std::uint64_t>(end_ - at_) < size) {
    return fail(ErrorCode::truncated, "the bytes end within a value");
  }
  out = {at_, static_cast<std::size_t>(size)};
  at_ += size;
  return true;
}

bool MsgpackReader::text(std::string_view& out) noexcept {
  MsgpackItem item;
  if (!next(item)) return false;
  if (item.kind != MsgpackKind::text) return fail(ErrorCode::bad_header, "expected text");
  if (!content(item.size, out)) return false;
  return is_utf8(out) || fail(ErrorCode::bad_header, "text is not UTF-8");
}

}  // namespace andiron::inline v1::detail
