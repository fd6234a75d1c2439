// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/numpy_reader_test.cpp and numpy_writer_test.cpp
#include "src/format/numpy/npy_type.h"

#include <algorithm>
#include <iterator>

#include "andiron/shape.h"
#include "src/core/parse_index.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::string_view byte_orders = "<>=|";

struct Code {
  DType dtype;
  std::string_view code;
};
constexpr Code codes[] = {{DType::f32, "f4"}, {DType::f16, "f2"},  {DType::f64, "f8"},
                          {DType::i64, "i8"}, {DType::i32, "i4"},  {DType::i16, "i2"},
                          {DType::i8, "i1"},  {DType::u8, "u1"},   {DType::boolean, "b1"},
                          {DType::u16, "u2"}, {DType::u32, "u4"},  {DType::u64, "u8"},
                          {DType::c64, "c8"}, {DType::c128, "c16"}};

// "|V2" says 2.
std::optional<std::uint64_t> void_bytes(std::string_view code) {
  return code.starts_with('V') ? parse_printed_index(code.substr(1)) : std::nullopt;
}

std::string what_it_holds(std::string_view code) {
  if (code == "f16" || code == "f12" || code == "c32" || code == "c24") {
    return "long doubles, which differ between machines";
  }
  switch (code.empty() ? '\0' : code.front()) {
    case 'O':
      return "Python objects, in a pickle";
    case 'S':
    case 'a':
    case 'U':
    case 'T':
      return "text";
    case 'M':
      return "dates";
    case 'm':
      return "time spans";
    default:
      return "elements of an unknown type";
  }
}

}  // namespace

std::optional<DType> numpy_dtype(std::string_view code) {
  if (code == "?") code = "b1";
  const auto known = std::find_if(std::begin(codes), std::end(codes),
                                  [&](const Code& row) { return row.code == code; });
  return known == std::end(codes) ? std::nullopt : std::optional(known->dtype);
}

NpyType npy_type(std::string_view descr) {
  const bool has_order = !descr.empty() && byte_orders.find(descr.front()) != descr.npos;
  const std::string_view code = descr.substr(has_order ? 1 : 0);
  if (const auto plain = numpy_dtype(code)) {
    const std::uint64_t bytes = bit_width(*plain) / 8;
    return {.dtype = *plain, .bytes = bytes, .big_endian = descr.front() == '>' && bytes > 1};
  }
  if (const auto bytes = void_bytes(code)) return {.dtype = DType::raw, .bytes = *bytes};
  return {.refused = what_it_holds(code)};
}

std::string npy_descr(const TensorInfo& info) {
  if (info.dtype == DType::raw) {
    const bool is_void = info.file_dtype.starts_with('|') || info.file_dtype.starts_with('<');
    const auto bytes = is_void ? void_bytes(info.file_dtype.substr(1)) : std::nullopt;
    const Result<std::uint64_t> count = Shape(info.shape).element_count();
    std::uint64_t all = 0;
    const bool fits = bytes && count && !__builtin_mul_overflow(*bytes, *count, &all);
    return fits && all == info.byte_size ? std::string(info.file_dtype) : std::string();
  }
  const auto known = std::find_if(std::begin(codes), std::end(codes),
                                  [&](const Code& row) { return row.dtype == info.dtype; });
  const std::string_view code = known == std::end(codes) ? "" : known->code;
  if (code.empty()) return {};
  return (bit_width(info.dtype) == 8 ? "|" : "<") + std::string(code);
}

}  // namespace andiron::inline v1::detail
