// SPDX-License-Identifier: MIT OR Apache-2.0
// Bulk conversion between element types, against conversion one by one.
#include "src/core/kernels/convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "andiron/dtype.h"

namespace andiron {
namespace {

constexpr DType float_types[] = {
    DType::f16,    DType::bf16,       DType::f32,        DType::f64,    DType::f8e4m3fn,
    DType::f8e5m2, DType::f8e4m3fnuz, DType::f8e5m2fnuz, DType::f8e8m0, DType::f4e2m1};

constexpr DType real_types[] = {
    DType::boolean,    DType::u8,         DType::i8,     DType::u16,      DType::i16,
    DType::u32,        DType::i32,        DType::u64,    DType::i64,      DType::f16,
    DType::bf16,       DType::f32,        DType::f64,    DType::f8e4m3fn, DType::f8e5m2,
    DType::f8e4m3fnuz, DType::f8e5m2fnuz, DType::f8e8m0, DType::f4e2m1};

std::size_t packed_size(DType dtype, std::size_t count) {
  return (count * bit_width(dtype) + 7) / 8;
}

// Elements as bits, packed as files have them.
std::vector<std::byte> pack(DType dtype, const std::vector<std::uint64_t>& elements) {
  std::vector<std::byte> data(packed_size(dtype, elements.size()));
  const std::size_t width = bit_width(dtype) / 8;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (dtype == DType::f4e2m1) {
      data[i / 2] |= static_cast<std::byte>(i % 2 == 0 ? elements[i] : elements[i] << 4);
    } else {
      std::memcpy(data.data() + i * width, &elements[i], width);
    }
  }
  return data;
}

std::vector<std::uint64_t> unpack(DType dtype, const std::vector<std::byte>& data,
                                  std::size_t count) {
  std::vector<std::uint64_t> elements(count);
  const std::size_t width = bit_width(dtype) / 8;
  for (std::size_t i = 0; i < count; ++i) {
    if (dtype == DType::f4e2m1) {
      const auto pair = std::to_integer<unsigned>(data[i / 2]);
      elements[i] = i % 2 == 0 ? pair & 15 : pair >> 4;
    } else {
      std::memcpy(&elements[i], data.data() + i * width, width);
    }
  }
  return elements;
}

std::vector<std::uint64_t> converted(DType from, DType to,
                                     const std::vector<std::uint64_t>& elements) {
  const std::vector<std::byte> source = pack(from, elements);
  std::vector<std::byte> out(packed_size(to, elements.size()), std::byte{0xa5});
  convert(from, source.data(), to, out.data(), elements.size());
  return unpack(to, out, elements.size());
}

template <class From, class To>
To converted(From value) {
  constexpr auto dtype_of = []<class T>(T) {
    if constexpr (std::is_same_v<T, float>) return DType::f32;
    if constexpr (std::is_same_v<T, double>) return DType::f64;
    if constexpr (std::is_same_v<T, std::uint8_t>) return DType::u8;
    if constexpr (std::is_same_v<T, std::int8_t>) return DType::i8;
    if constexpr (std::is_same_v<T, std::uint16_t>) return DType::u16;
    if constexpr (std::is_same_v<T, std::int16_t>) return DType::i16;
    if constexpr (std::is_same_v<T, std::uint32_t>) return DType::u32;
    if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
    if constexpr (std::is_same_v<T, std::uint64_t>) return DType::u64;
    return DType::i64;
  };
  To out;
  convert(dtype_of(From{}), reinterpret_cast<const std::byte*>(&value), dtype_of(To{}),
          reinterpret_cast<std::byte*>(&out), 1);
  return out;
}

// The same number; NaN may have any sign and payload.
bool same_float(DType dtype, std::uint64_t a, std::uint64_t b) {
  return a == b || (std::isnan(decode_float(dtype, a)) && std::isnan(decode_float(dtype, b)));
}

void expect_one_by_one(DType from, const std::vector<std::uint64_t>& elements) {
  for (const DType to : float_types) {
    const std::vector<std::uint64_t> bulk = converted(from, to, elements);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const std::uint64_t single = encode_float(to, decode_float(from, elements[i]));
      ASSERT_TRUE(same_float(to, bulk[i], single))
          << dtype_name(from) << " " << std::hex << elements[i] << " to " << dtype_name(to) << ": "
          << bulk[i] << " instead of " << single;
    }
  }
}

TEST(Convert, EveryPatternOfTheNarrowFloatsAsOneByOne) {
  for (const DType from : float_types) {
    if (bit_width(from) > 16) continue;
    std::vector<std::uint64_t> elements(std::size_t{1} << bit_width(from));
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = i;
    expect_one_by_one(from, elements);
  }
}

TEST(Convert, RandomSinglesAsOneByOne) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> elements;
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t bits = random();
    elements.push_back(bits & 0xffffffff);
    // Within the range of the narrow types.
    elements.push_back((bits & 0x807fffff) | (100 + (bits >> 32) % 50) << 23);
  }
  expect_one_by_one(DType::f32, elements);
}

TEST(Convert, RandomDoublesAsOneByOne) {
  std::mt19937_64 random(2);
  std::vector<std::uint64_t> elements;
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t bits = random();
    elements.push_back(bits);
    elements.push_back((bits & 0x800fffffffffffff) | (990 + random() % 60) << 52);
  }
  expect_one_by_one(DType::f64, elements);
}

void expect_fast_path(DType to, const std::vector<std::uint64_t>& singles) {
  const std::vector<std::uint64_t> bulk = converted(DType::f32, to, singles);
  for (std::size_t i = 0; i < singles.size(); ++i) {
    const std::uint64_t single = encode_float(to, decode_float(DType::f32, singles[i]));
    ASSERT_TRUE(same_float(to, bulk[i], single)) << std::hex << singles[i];
  }
}

TEST(Convert, SinglesToHalvesOnManyRandomPatterns) {
  std::mt19937 random(3);
  std::vector<std::uint64_t> singles(2'000'000);
  for (std::uint64_t& bits : singles) bits = random();
  expect_fast_path(DType::f16, singles);
  expect_fast_path(DType::bf16, singles);
}

TEST(Convert, SinglesToHalvesAroundEveryBoundary) {
  std::vector<std::uint64_t> singles;
  const auto around = [&](std::uint32_t bits) {
    for (std::uint32_t step = 0; step <= 4; ++step) {
      singles.push_back((bits + step - 2) & 0x7fffffff);
      singles.push_back(((bits + step - 2) & 0x7fffffff) | 0x80000000);
    }
  };
  // Values of halves and the middles between them; one past the largest finite half is 65536.
  for (unsigned half = 0; half < 0x7c00; ++half) {
    const auto value = static_cast<float>(decode_float(DType::f16, half));
    const float next =
        half == 0x7bff ? 65536.0f : static_cast<float>(decode_float(DType::f16, half + 1));
    around(std::bit_cast<std::uint32_t>(value));
    around(std::bit_cast<std::uint32_t>((value + next) / 2));
  }
  for (std::uint32_t brain = 0; brain < 0x8000; ++brain) {
    around(brain << 16);
    around(brain << 16 | 0x8000);
  }
  expect_fast_path(DType::f16, singles);
  expect_fast_path(DType::bf16, singles);
}

TEST(Convert, NaNStaysNaNWithoutTouchingItsNeighbours) {
  const std::vector<std::uint64_t> singles = {0x3f800000, 0x7f800001, 0x3f800000, 0xffffffff,
                                              0x7fc00000, 0x7fbfffff, 0x7f800000, 0xff800000};
  const std::vector<std::uint64_t> halves = converted(DType::f32, DType::f16, singles);
  const std::vector<std::uint64_t> brains = converted(DType::f32, DType::bf16, singles);
  for (const std::size_t i : {1, 3, 4, 5}) {
    EXPECT_TRUE(std::isnan(decode_float(DType::f16, halves[i]))) << i;
    EXPECT_TRUE(std::isnan(decode_float(DType::bf16, brains[i]))) << i;
  }
  EXPECT_EQ(halves[0], 0x3c00u);
  EXPECT_EQ(brains[2], 0x3f80u);
  EXPECT_EQ(halves[6], 0x7c00u);
  EXPECT_EQ(brains[7], 0xff80u);
}

// The nearest of a type's values, found by exact distances: a long double holds every 64-bit
// integer.
std::uint64_t nearest_to_integer(DType to, long double value) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const std::uint64_t guess = encode_float(to, static_cast<double>(value));
  if (!std::isfinite(decode_float(to, guess))) return guess;
  std::uint64_t best = guess;
  for (const std::uint64_t other : {guess - 1, guess + 1}) {
    const double decoded = decode_float(to, other);
    if (!std::isfinite(decoded) || (decoded < 0) != (value < 0)) continue;
    const long double distance = std::fabs(static_cast<long double>(decoded) - value);
    const long double shortest =
        std::fabs(static_cast<long double>(decode_float(to, best)) - value);
    if (distance < shortest || (distance == shortest && other % 2 == 0)) best = other;
  }
  return best;
}

TEST(Convert, IntegersRoundOnceToEveryFloat) {
  std::mt19937_64 random(4);
  std::vector<std::uint64_t> elements = {0, 1, ~std::uint64_t{0}, std::uint64_t{1} << 63};
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t bits = random();
    elements.push_back(bits >> bits % 64);
    // Just off the middle between two values of a type with so many digits, where double loses the
    // difference.
    for (const unsigned digits : {8u, 24u}) {
      const std::uint64_t lead = (bits >> (64 - digits)) | std::uint64_t{1} << (digits - 1);
      const std::uint64_t middle = (2 * lead + 1) << (62 - digits);
      elements.insert(elements.end(), {middle - 1, middle, middle + 1});
    }
  }
  for (const DType to : {DType::bf16, DType::f32, DType::f16}) {
    const auto from_unsigned = converted(DType::u64, to, elements);
    const auto from_signed = converted(DType::i64, to, elements);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      ASSERT_EQ(from_unsigned[i], nearest_to_integer(to, static_cast<long double>(elements[i])))
          << elements[i] << " to " << dtype_name(to);
      const auto number = static_cast<std::int64_t>(elements[i]);
      ASSERT_EQ(from_signed[i], nearest_to_integer(to, static_cast<long double>(number)))
          << number << " to " << dtype_name(to);
    }
  }
  EXPECT_EQ(converted(DType::u64, DType::f64, elements)[2], std::bit_cast<std::uint64_t>(0x1p64));
}

TEST(Convert, IntegersJustAboveAMiddleRoundUp) {
  constexpr std::int64_t brain_middle = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  const auto bits = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  EXPECT_EQ(decode_float(DType::bf16, converted(DType::i64, DType::bf16, {bits(brain_middle)})[0]),
            0x1p62);
  EXPECT_EQ(
      decode_float(DType::bf16, converted(DType::i64, DType::bf16, {bits(brain_middle + 1)})[0]),
      0x1p62 + 0x1p55);
  EXPECT_EQ(
      decode_float(DType::bf16, converted(DType::i64, DType::bf16, {bits(-brain_middle - 1)})[0]),
      -0x1p62 - 0x1p55);
  constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ((converted<std::int64_t, float>(odd)), 0x1p53f);
  EXPECT_EQ((converted<std::int64_t, double>(odd)), 0x1p53);
  EXPECT_EQ((converted<std::int64_t, double>(odd + 2)), 0x1p53 + 4);
  EXPECT_EQ(converted(DType::i64, DType::f16, {bits(odd)})[0], 0x7c00u) << "beyond f16";
  EXPECT_EQ(converted(DType::i64, DType::f16, {65519})[0], 0x7bffu);
  EXPECT_EQ(converted(DType::i64, DType::f16, {65520})[0], 0x7c00u);
  EXPECT_EQ(converted(DType::i64, DType::f16, {2049})[0], 0x6800u) << "a tie";
}

template <class To>
void expect_saturation() {
  constexpr To low = std::numeric_limits<To>::min();
  constexpr To high = std::numeric_limits<To>::max();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ((converted<double, To>(infinity)), high);
  EXPECT_EQ((converted<double, To>(-infinity)), low);
  EXPECT_EQ((converted<double, To>(1e300)), high);
  EXPECT_EQ((converted<double, To>(-1e300)), low);
  EXPECT_EQ((converted<float, To>(3e38f)), high);
  EXPECT_EQ((converted<double, To>(std::nan(""))), 0);
  EXPECT_EQ((converted<float, To>(std::nanf(""))), 0);
  EXPECT_EQ((converted<double, To>(-0.0)), 0);
  EXPECT_EQ((converted<double, To>(0.999)), 0);
  EXPECT_EQ((converted<double, To>(-0.999)), 0);
  EXPECT_EQ((converted<double, To>(5e-324)), 0);
  EXPECT_EQ((converted<double, To>(42.9)), 42);
  EXPECT_EQ((converted<double, To>(-42.9)), std::is_signed_v<To> ? static_cast<To>(-42) : To{0});
  // The edges themselves, as far as a double can stand beside them.
  const auto edge = static_cast<long double>(high);
  for (const double value :
       {static_cast<double>(high), std::nextafter(static_cast<double>(high), 0),
        std::nextafter(static_cast<double>(high), infinity), static_cast<double>(high) + 0.5}) {
    const long double whole = std::min(edge, std::trunc(static_cast<long double>(value)));
    EXPECT_EQ((converted<double, To>(value)), static_cast<To>(whole)) << value;
  }
  const auto bottom = static_cast<double>(low);
  EXPECT_EQ((converted<double, To>(bottom)), low);
  EXPECT_EQ((converted<double, To>(std::nextafter(bottom, -infinity))), low);
}

TEST(Convert, FloatsToIntegersGoTowardZeroAndAreClamped) {
  expect_saturation<std::uint8_t>();
  expect_saturation<std::int8_t>();
  expect_saturation<std::uint16_t>();
  expect_saturation<std::int16_t>();
  expect_saturation<std::uint32_t>();
  expect_saturation<std::int32_t>();
  expect_saturation<std::uint64_t>();
  expect_saturation<std::int64_t>();
}

TEST(Convert, BetweenIntegersWraps) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ((converted<std::uint64_t, std::int64_t>(most)), -1);
  EXPECT_EQ((converted<std::int64_t, std::uint64_t>(-1)), most);
  EXPECT_EQ((converted<std::int32_t, std::uint8_t>(-1)), 255);
  EXPECT_EQ((converted<std::int8_t, std::uint64_t>(-128)), most - 127);
  EXPECT_EQ((converted<std::uint16_t, std::int8_t>(0x1234)), 0x34);
  EXPECT_EQ((converted<std::uint64_t, std::uint32_t>(0x123456789abcdef0)), 0x9abcdef0u);
  EXPECT_EQ((converted<std::uint32_t, std::int64_t>(0xffffffff)), 0xffffffffll);
  EXPECT_EQ((converted<std::int16_t, std::int32_t>(-2)), -2);
}

TEST(Convert, BoolGivesZeroAndOne) {
  const std::vector<std::uint64_t> bools = {0, 1, 2, 255};
  const std::vector<std::uint64_t> expected = {0, 1, 1, 1};
  EXPECT_EQ(converted(DType::boolean, DType::u8, bools), expected);
  EXPECT_EQ(converted(DType::boolean, DType::i64, bools), expected);
  EXPECT_EQ(converted(DType::boolean, DType::boolean, bools), expected);
  EXPECT_EQ(converted(DType::boolean, DType::f16, bools),
            (std::vector<std::uint64_t>{0, 0x3c00, 0x3c00, 0x3c00}));
  EXPECT_EQ(converted(DType::boolean, DType::f4e2m1, bools),
            (std::vector<std::uint64_t>{0, 2, 2, 2}));
}

TEST(Convert, ToBoolAnythingButZeroIsTrue) {
  EXPECT_EQ(converted(DType::i32, DType::boolean, {0, 1, 0xffffffff, 0x100}),
            (std::vector<std::uint64_t>{0, 1, 1, 1}));
  EXPECT_EQ(converted(DType::u64, DType::boolean, {0, std::uint64_t{1} << 63}),
            (std::vector<std::uint64_t>{0, 1}));
  // Zero, negative zero, the smallest single, NaN.
  EXPECT_EQ(converted(DType::f32, DType::boolean, {0, 0x80000000, 1, 0x7fc00000}),
            (std::vector<std::uint64_t>{0, 0, 1, 1}));
  EXPECT_EQ(converted(DType::f4e2m1, DType::boolean, {0, 8, 1}),
            (std::vector<std::uint64_t>{0, 0, 1}));
}

TEST(Convert, ComplexNumbersComponentByComponent) {
  const std::vector<std::uint64_t> singles = {0x3f800000, 0xc0000000, 0x7f800000,
                                              0x477fe000, 0x00000001, 0x80000000};
  const struct {
    DType complex;
    DType component;
  } kinds[] = {{DType::c32, DType::f16}, {DType::c64, DType::f32}, {DType::c128, DType::f64}};
  for (const auto& from : kinds) {
    const std::vector<std::byte> source =
        pack(from.component, converted(DType::f32, from.component, singles));
    for (const auto& to : kinds) {
      std::vector<std::byte> whole(3 * bit_width(to.complex) / 8);
      std::vector<std::byte> parts(whole.size());
      convert(from.complex, source.data(), to.complex, whole.data(), 3);
      convert(from.component, source.data(), to.component, parts.data(), 6);
      EXPECT_EQ(whole, parts) << dtype_name(from.complex) << " to " << dtype_name(to.complex);
    }
  }
}

TEST(Convert, KnowsWhichWaysThereAre) {
  for (unsigned a = 0; a < dtype_count; ++a) {
    for (unsigned b = 0; b < dtype_count; ++b) {
      const auto from = static_cast<DType>(a);
      const auto to = static_cast<DType>(b);
      const auto is_real = [](DType dtype) {
        return std::find(std::begin(real_types), std::end(real_types), dtype) !=
               std::end(real_types);
      };
      const bool expected = (is_real(from) && is_real(to)) || (is_complex(from) && is_complex(to));
      EXPECT_EQ(can_convert(from, to), expected) << dtype_name(from) << " to " << dtype_name(to);
    }
  }
}

TEST(Convert, AnyAlignmentAndAnyCountTouchNothingElse) {
  std::mt19937_64 random(5);
  for (const DType from : real_types) {
    for (const DType to : real_types) {
      for (const std::size_t count : {0, 1, 2, 3, 511, 512, 513, 1025}) {
        std::vector<std::uint64_t> elements(count);
        const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bit_width(from));
        for (std::uint64_t& element : elements) element = random() & mask;
        const std::vector<std::byte> source = pack(from, elements);
        const std::size_t size = packed_size(to, count);
        std::vector<std::byte> aligned(size);
        convert(from, source.data(), to, aligned.data(), count);

        std::vector<std::byte> shifted_source(source.size() + 1);
        std::copy(source.begin(), source.end(), shifted_source.begin() + 1);
        constexpr std::byte guard{0x5a};
        std::vector<std::byte> shifted(size + 2, guard);
        convert(from, shifted_source.data() + 1, to, shifted.data() + 1, count);
        ASSERT_TRUE(std::equal(aligned.begin(), aligned.end(), shifted.begin() + 1))
            << dtype_name(from) << " to " << dtype_name(to) << " " << count;
        ASSERT_EQ(shifted.front(), guard);
        ASSERT_EQ(shifted.back(), guard);
      }
    }
  }
}

TEST(Convert, AnOddLastF4TakesTheLowHalfOfItsByte) {
  const std::vector<float> values = {1.0f, -6.0f, 0.5f};
  std::vector<std::byte> packed(2, std::byte{0xff});
  convert(DType::f32, reinterpret_cast<const std::byte*>(values.data()), DType::f4e2m1,
          packed.data(), 3);
  EXPECT_EQ(packed[0], std::byte{0xf2});
  EXPECT_EQ(packed[1], std::byte{0x01});
  std::vector<float> back(3);
  convert(DType::f4e2m1, packed.data(), DType::f32, reinterpret_cast<std::byte*>(back.data()), 3);
  EXPECT_EQ(back, values);
}

}  // namespace
}  // namespace andiron
