// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/record_reader_test.cpp and record_hostile_test.cpp
#include "src/format/record/numbers.h"

#include <bit>
#include <cstring>

#include "src/core/kernels/convert.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

using Kind = RecordItem::Kind;

Error does_not_fit(DType dtype) {
  return Error{.code = ErrorCode::bad_header,
               .message = "a number is not a valid " + std::string(dtype_name(dtype))};
}

bool is_signed(DType dtype) {
  return dtype == DType::i8 || dtype == DType::i16 || dtype == DType::i32 || dtype == DType::i64;
}

bool is_whole(const RecordNumber& number) {
  return number.kind == Kind::integer || number.kind == Kind::unsigned_integer;
}

bool fits(const RecordNumber& number, DType dtype) {
  if (dtype == DType::boolean || number.kind == Kind::boolean) {
    return dtype == DType::boolean && number.kind == Kind::boolean;
  }
  if (is_float(dtype)) return true;
  if (!is_whole(number)) return false;
  const unsigned bits = bit_width(dtype);
  if (number.kind == Kind::integer) {
    return is_signed(dtype) && std::bit_cast<std::int64_t>(number.bits) >> (bits - 1) == -1;
  }
  const unsigned value_bits = is_signed(dtype) ? bits - 1 : bits;
  return value_bits == 64 || number.bits >> value_bits == 0;
}

DType dtype_of(Kind kind) {
  return kind == Kind::boolean    ? DType::boolean
         : kind == Kind::integer  ? DType::i64
         : kind == Kind::floating ? DType::f64
                                  : DType::u64;
}

std::size_t count_of(const Bytes& numbers) { return numbers.size() / sizeof(RecordNumber); }

RecordNumber number_at(const Bytes& numbers, std::size_t index) {
  RecordNumber number;
  std::memcpy(&number, numbers.data() + index * sizeof number, sizeof number);
  return number;
}

}  // namespace

Status NumberList::add(const RecordItem& number) {
  if (used_ == chunk_.size()) {
    ANDIRON_TRY(collected_.write(std::as_bytes(std::span(chunk_))));
    used_ = 0;
  }
  const std::uint64_t bits =
      number.kind == Kind::boolean    ? std::uint64_t{number.boolean}
      : number.kind == Kind::integer  ? std::bit_cast<std::uint64_t>(number.integer)
      : number.kind == Kind::floating ? std::bit_cast<std::uint64_t>(number.floating)
                                      : number.number;
  chunk_[used_++] = {number.kind, bits};
  return {};
}

Result<Bytes> NumberList::take() {
  ANDIRON_TRY(collected_.write(std::as_bytes(std::span(chunk_).first(used_))));
  used_ = 0;
  return collected_.take();
}

Result<PackedNumbers> pack_numbers(const Bytes& numbers, DType float_type, DType int_type) {
  const std::size_t count = count_of(numbers);
  if (count == 0) return PackedNumbers{float_type, Bytes()};
  const RecordNumber first = number_at(numbers, 0);
  // Rust's serde writes floats of 16 bits by their bits.
  const bool are_bits = is_whole(first) && bit_width(float_type) == 16;
  const DType dtype = first.kind == Kind::boolean ? DType::boolean
                      : !is_whole(first)          ? float_type
                      : are_bits                  ? DType::u16
                                                  : int_type;
  const std::size_t width = bit_width(dtype) / 8;
  ANDIRON_ASSIGN(Bytes elements, Bytes::allocate(count * width));
  std::byte* out = elements.writable().data();
  bool has_negative = false;
  for (std::size_t i = 0; i < count; ++i, out += width) {
    const RecordNumber number = number_at(numbers, i);
    const bool is_negative = number.kind == Kind::integer;
    has_negative = has_negative || is_negative;
    const DType expected = are_bits && is_negative ? DType::i16 : dtype;
    if (!fits(number, expected)) return does_not_fit(expected);
    convert(dtype_of(number.kind), reinterpret_cast<const std::byte*>(&number.bits), dtype, out, 1);
  }
  return PackedNumbers{!are_bits      ? dtype
                       : has_negative ? DType::i16
                                      : float_type,
                       std::move(elements)};
}

ValueList plain_numbers(const Bytes& numbers) {
  ValueList list;
  list.reserve(count_of(numbers));
  for (std::size_t i = 0; i < count_of(numbers); ++i) {
    const RecordNumber number = number_at(numbers, i);
    switch (number.kind) {
      case Kind::boolean:
        list.emplace_back(number.bits != 0);
        break;
      case Kind::integer:
        list.emplace_back(std::bit_cast<std::int64_t>(number.bits));
        break;
      case Kind::floating:
        list.emplace_back(std::bit_cast<double>(number.bits));
        break;
      default:
        list.emplace_back(number.bits);
    }
  }
  return list;
}

}  // namespace andiron::inline v1::detail
