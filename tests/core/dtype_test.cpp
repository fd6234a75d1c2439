// SPDX-License-Identifier: MIT OR Apache-2.0
// Element types.
#include "andiron/dtype.h"
#include "andiron/shape.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace andiron {
namespace {

struct Expected {
  DType dtype;
  std::string_view name;
  unsigned bits;
  char kind;  // bool, integer, float, complex, opaque
};

constexpr Expected table[] = {
    {DType::boolean, "bool", 8, 'b'},
    {DType::u8, "u8", 8, 'i'},
    {DType::i8, "i8", 8, 'i'},
    {DType::u16, "u16", 16, 'i'},
    {DType::i16, "i16", 16, 'i'},
    {DType::u32, "u32", 32, 'i'},
    {DType::i32, "i32", 32, 'i'},
    {DType::u64, "u64", 64, 'i'},
    {DType::i64, "i64", 64, 'i'},
    {DType::f16, "f16", 16, 'f'},
    {DType::bf16, "bf16", 16, 'f'},
    {DType::f32, "f32", 32, 'f'},
    {DType::f64, "f64", 64, 'f'},
    {DType::c32, "c32", 32, 'c'},
    {DType::c64, "c64", 64, 'c'},
    {DType::c128, "c128", 128, 'c'},
    {DType::f8e4m3fn, "f8e4m3fn", 8, 'f'},
    {DType::f8e5m2, "f8e5m2", 8, 'f'},
    {DType::f8e4m3fnuz, "f8e4m3fnuz", 8, 'f'},
    {DType::f8e5m2fnuz, "f8e5m2fnuz", 8, 'f'},
    {DType::f8e8m0, "f8e8m0", 8, 'f'},
    {DType::f4e2m1, "f4e2m1", 4, 'f'},
    {DType::f6e2m3, "f6e2m3", 6, 'f'},
    {DType::f6e3m2, "f6e3m2", 6, 'f'},
    {DType::qfloat, "qfloat", 0, 'o'},
    {DType::raw, "raw", 0, 'o'},
};

TEST(DType, HasNameWidthAndKind) {
  static_assert(std::size(table) == dtype_count);
  std::set<DType> seen;
  for (const Expected& row : table) {
    EXPECT_TRUE(seen.insert(row.dtype).second);
    EXPECT_EQ(dtype_name(row.dtype), row.name);
    EXPECT_EQ(bit_width(row.dtype), row.bits) << row.name;
    EXPECT_EQ(is_integer(row.dtype), row.kind == 'i') << row.name;
    EXPECT_EQ(is_float(row.dtype), row.kind == 'f') << row.name;
    EXPECT_EQ(is_complex(row.dtype), row.kind == 'c') << row.name;
    EXPECT_EQ(is_opaque(row.dtype), row.kind == 'o') << row.name;
    EXPECT_EQ(is_sub_byte(row.dtype), row.bits == 4 || row.bits == 6) << row.name;
  }
}

TEST(DType, SizesAreKnownWhenCompiling) {
  constexpr std::uint64_t bytes = [] {
    constexpr std::uint64_t dims[] = {3, 5};
    std::uint64_t count = 0;
    return byte_count(DType::f32, dims, count) == SizeCheck::ok ? count : 0;
  }();
  static_assert(bytes == 60);
}

TEST(DType, ByteCountTellsOverflowFromAPartOfAByte) {
  const std::uint64_t huge[] = {std::uint64_t{1} << 32, std::uint64_t{1} << 32};
  const std::uint64_t half[] = {std::uint64_t{1} << 32, std::uint64_t{1} << 30};
  const std::uint64_t odd[] = {3};
  std::uint64_t bytes = 0;
  EXPECT_EQ(byte_count(DType::u8, huge, bytes), SizeCheck::overflow);
  EXPECT_EQ(byte_count(DType::u8, half, bytes), SizeCheck::overflow);
  EXPECT_EQ(byte_count(DType::f4e2m1, odd, bytes), SizeCheck::partial_byte);
  EXPECT_EQ(byte_count(DType::f32, odd, bytes), SizeCheck::ok);
  EXPECT_EQ(bytes, 12u);
}

TEST(DType, IsReadFromItsNames) {
  const auto parsed = [](std::string_view name) {
    DType dtype = DType::raw;
    return dtype_from_name(name, dtype) ? to_string(dtype) : "none";
  };
  for (const char* name : {"bf16", "BF16", "bfloat16", "torch.bfloat16"}) {
    EXPECT_EQ(parsed(name), "bf16") << name;
  }
  for (unsigned i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(parsed(dtype_name(dtype)), is_opaque(dtype) ? "none" : dtype_name(dtype));
  }
  for (const char* name : {"", "f17", "torch.f32", "torch.", "Bf16", "raw", "qfloat"}) {
    EXPECT_EQ(parsed(name), "none") << name;
  }
}

}  // namespace
}  // namespace andiron
