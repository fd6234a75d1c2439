// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/record_reader_test.cpp
#include "src/format/record/numbers.h"

#include <cstdint>
#include <cstring>

#include "src/core/convert.h"
#include "src/core/try.h"

namespace andiron {
inline namespace v1 {
namespace detail {
namespace {

using Kind = RecordItem::Kind;

Error does_not_fit(DType dtype) {
  return Error{.code = ErrorCode::bad_header,
               .message = "a number that is no " + std::string(dtype_name(dtype))};
}

bool is_signed(DType dtype) {
  return dtype == DType::i8 || dtype == DType::i16 || dtype == DType::i32 || dtype == DType::i64;
}

bool fits(const RecordItem& number, DType dtype) {
  const unsigned bits = bit_width(dtype);
  if (number.kind == Kind::integer) {
    return is_signed(dtype) && number.integer >> (bits - 1) == -1;
  }
  const unsigned value_bits = is_signed(dtype) ? bits - 1 : bits;
  return value_bits == 64 || number.number >> value_bits == 0;
}

}  // namespace

DType NumberList::dtype() const noexcept {
  if (dtype_ == DType::raw) return float_type_;
  if (is_bits_) return has_negative_ ? DType::i16 : float_type_;
  return dtype_;
}

DType NumberList::list_dtype() const noexcept {
  return is_bits_ ? (has_negative_ ? DType::i16 : DType::u16) : dtype();
}

Status NumberList::add(const RecordItem& number) {
  const bool is_whole = number.kind == Kind::integer || number.kind == Kind::unsigned_integer;
  if (dtype_ == DType::raw) {
    is_bits_ = is_whole && bit_width(float_type_) == 16;
    dtype_ = number.kind == Kind::boolean ? DType::boolean
             : !is_whole                  ? float_type_
             : is_bits_                   ? DType::u16
                                          : int_type_;
  }
  if (number.kind == Kind::boolean) {
    if (dtype_ != DType::boolean) return does_not_fit(dtype_);
    return put(DType::boolean, &number.boolean);
  }
  if (dtype_ == DType::boolean || !number.is_number()) return does_not_fit(dtype_);
  if (is_float(dtype_)) {
    const double value = number.kind == Kind::floating  ? number.floating
                         : number.kind == Kind::integer ? static_cast<double>(number.integer)
                                                        : static_cast<double>(number.number);
    return put(DType::f64, &value);
  }
  const bool is_negative = number.kind == Kind::integer;
  has_negative_ = has_negative_ || is_negative;
  const DType expected = is_bits_ && is_negative ? DType::i16 : dtype_;
  if (!is_whole || !fits(number, expected)) return does_not_fit(expected);
  return is_negative ? put(DType::i64, &number.integer) : put(DType::u64, &number.number);
}

Status NumberList::put(DType from, const void* element) {
  const std::size_t width = bit_width(dtype_) / 8;
  if (used_ + width > chunk_.size()) {
    ANDIRON_TRY(packed_.write(std::span(chunk_).first(used_)));
    used_ = 0;
  }
  convert(from, static_cast<const std::byte*>(element), dtype_, chunk_.data() + used_, 1);
  used_ += width;
  return {};
}

Result<Bytes> NumberList::take() {
  ANDIRON_TRY(packed_.write(std::span(chunk_).first(used_)));
  used_ = 0;
  return packed_.take();
}

Value unpacked(DType dtype, const Bytes& elements) {
  const std::size_t width = bit_width(dtype) / 8;
  ValueList list;
  list.reserve(elements.size() / width);
  for (std::size_t at = 0; at < elements.size(); at += width) {
    const std::byte* element = elements.data() + at;
    if (dtype == DType::boolean) {
      list.emplace_back(*element != std::byte{0});
    } else if (is_float(dtype)) {
      double value = 0;
      convert(dtype, element, DType::f64, reinterpret_cast<std::byte*>(&value), 1);
      list.emplace_back(value);
    } else {
      std::int64_t value = 0;
      convert(dtype, element, DType::i64, reinterpret_cast<std::byte*>(&value), 1);
      const bool is_large = dtype == DType::u64 && value < 0;
      list.push_back(is_large || value >= 0 ? Value(static_cast<std::uint64_t>(value))
                                            : Value(value));
    }
  }
  return Value(std::move(list));
}

}  // namespace detail
}  // namespace v1
}  // namespace andiron
