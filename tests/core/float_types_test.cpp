// SPDX-License-Identifier: MIT OR Apache-2.0
// Floating-point types that C++ does not have, checked against their published tables.
#include "andiron/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace andiron {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// One row of the published table: what the bits of a type mean.
struct Layout {
  DType dtype;
  unsigned sign_bits;
  unsigned exponent_bits;
  unsigned fraction_bits;
  int bias;
  std::set<unsigned> infinities;
  std::set<unsigned> nans;
  double largest;
  double smallest;         // above zero
  std::uint64_t overflow;  // bits of what positive numbers beyond the range become

  unsigned patterns() const { return 1u << (sign_bits + exponent_bits + fraction_bits); }
  // Bits below this are positive.
  unsigned positive() const { return 1u << (exponent_bits + fraction_bits); }
};

std::set<unsigned> range(unsigned first, unsigned last) {
  std::set<unsigned> all;
  for (unsigned i = first; i <= last; ++i) all.insert(i);
  return all;
}

std::set<unsigned> with_negative(std::set<unsigned> bits, unsigned sign) {
  std::set<unsigned> all = bits;
  for (const unsigned b : bits) all.insert(b | sign);
  return all;
}

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {
      {DType::f8e4m3fn, 1, 4, 3, 7, {}, {0x7f, 0xff}, 448, 0x1p-9, 0x7f},
      {DType::f8e5m2,
       1,
       5,
       2,
       15,
       {0x7c, 0xfc},
       with_negative(range(0x7d, 0x7f), 0x80),
       57344,
       0x1p-16,
       0x7c},
      {DType::f8e4m3fnuz, 1, 4, 3, 8, {}, {0x80}, 240, 0x1p-10, 0x80},
      {DType::f8e5m2fnuz, 1, 5, 2, 16, {}, {0x80}, 57344, 0x1p-17, 0x80},
      {DType::f8e8m0, 0, 8, 0, 127, {}, {0xff}, 0x1p127, 0x1p-127, 0xff},
      {DType::f4e2m1, 1, 2, 1, 1, {}, {}, 6, 0.5, 0x7},
      {DType::f6e2m3, 1, 2, 3, 1, {}, {}, 7.5, 0.125, 0x1f},
      {DType::f6e3m2, 1, 3, 2, 3, {}, {}, 28, 0.0625, 0x1f},
      {DType::f16,
       1,
       5,
       10,
       15,
       {0x7c00, 0xfc00},
       with_negative(range(0x7c01, 0x7fff), 0x8000),
       65504,
       0x1p-24,
       0x7c00},
      {DType::bf16,
       1,
       8,
       7,
       127,
       {0x7f80, 0xff80},
       with_negative(range(0x7f81, 0x7fff), 0x8000),
       0x1.fep127,
       0x1p-133,
       0x7f80},
  };
  return all;
}

// The value by the textbook: sign, exponent and fraction taken apart.
double textbook_value(const Layout& layout, unsigned bits) {
  if (layout.nans.contains(bits)) return nan;
  const unsigned fraction = bits % (1u << layout.fraction_bits);
  const unsigned exponent = bits >> layout.fraction_bits & ((1u << layout.exponent_bits) - 1);
  const bool negative = layout.sign_bits != 0 && bits >= layout.positive();
  double value = 0;
  if (layout.infinities.contains(bits)) {
    value = infinity;
  } else if (exponent == 0 && layout.fraction_bits != 0) {
    value = std::pow(2.0, 1 - layout.bias) * fraction / (1u << layout.fraction_bits);
  } else {
    value = std::pow(2.0, static_cast<int>(exponent) - layout.bias) *
            (1.0 + static_cast<double>(fraction) / (1u << layout.fraction_bits));
  }
  return negative ? -value : value;
}

std::string describe(const Layout& layout, unsigned bits) {
  return std::string(dtype_name(layout.dtype)) + " pattern " + std::to_string(bits);
}

// Positive finite values in order of their bits.
std::vector<double> positive_values(const Layout& layout) {
  std::vector<double> values;
  for (unsigned bits = 0; bits < layout.positive(); ++bits) {
    if (layout.nans.contains(bits) || layout.infinities.contains(bits)) break;
    values.push_back(textbook_value(layout, bits));
  }
  return values;
}

TEST(DecodeFloat, GivesTheTextbookValueOfEveryPattern) {
  for (const Layout& layout : layouts()) {
    for (unsigned bits = 0; bits < layout.patterns(); ++bits) {
      const double expected = textbook_value(layout, bits);
      const double decoded = decode_float(layout.dtype, bits);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(decoded)) << describe(layout, bits);
      } else {
        ASSERT_EQ(decoded, expected) << describe(layout, bits);
        ASSERT_EQ(std::signbit(decoded), std::signbit(expected)) << describe(layout, bits);
      }
    }
  }
}

TEST(DecodeFloat, KnowsTheRangeOfEveryType) {
  for (const Layout& layout : layouts()) {
    const std::vector<double> values = positive_values(layout);
    EXPECT_EQ(values.back(), layout.largest) << dtype_name(layout.dtype);
    EXPECT_EQ(layout.fraction_bits == 0 ? values[0] : values[1], layout.smallest)
        << dtype_name(layout.dtype);
  }
}

TEST(DecodeFloat, IgnoresUnusedHighBits) {
  EXPECT_EQ(decode_float(DType::f4e2m1, 0xf2), 1.0);
  EXPECT_EQ(decode_float(DType::f6e2m3, 0xc8), 1.0);
  EXPECT_EQ(decode_float(DType::f8e8m0, 0xabcd00 | 127), 1.0);
  EXPECT_EQ(decode_float(DType::f16, 0xffff3c00), 1.0);
}

TEST(DecodeFloat, ReadsSingleAndDoubleAsTheMachineDoes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t bits = random();
    const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isnan(single)) {
      ASSERT_EQ(decode_float(DType::f32, bits & 0xffffffff), static_cast<double>(single));
    }
    ASSERT_EQ(std::bit_cast<std::uint64_t>(decode_float(DType::f64, bits)), bits);
  }
}

TEST(EncodeFloat, GivesBackEveryPatternThatIsANumber) {
  for (const Layout& layout : layouts()) {
    for (unsigned bits = 0; bits < layout.patterns(); ++bits) {
      if (layout.nans.contains(bits)) continue;
      ASSERT_EQ(encode_float(layout.dtype, textbook_value(layout, bits)), bits)
          << describe(layout, bits);
    }
  }
}

TEST(EncodeFloat, KeepsNaN) {
  for (const Layout& layout : layouts()) {
    const auto bits = static_cast<unsigned>(encode_float(layout.dtype, nan));
    if (layout.nans.empty()) {
      EXPECT_EQ(bits, layout.positive()) << "negative zero in " << dtype_name(layout.dtype);
    } else {
      EXPECT_TRUE(layout.nans.contains(bits)) << dtype_name(layout.dtype);
    }
  }
  EXPECT_TRUE(
      std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(encode_float(DType::f32, nan)))));
  EXPECT_TRUE(std::isnan(std::bit_cast<double>(encode_float(DType::f64, nan))));
}

// Between two neighbours: the middle goes to the even one, anything off the middle to the nearer
// one.
TEST(EncodeFloat, RoundsToTheNearestAndTiesToEven) {
  for (const Layout& layout : layouts()) {
    if (layout.fraction_bits == 0) continue;
    const std::vector<double> values = positive_values(layout);
    const bool has_negatives = layout.sign_bits != 0;
    for (unsigned bits = 0; bits + 1 < values.size(); ++bits) {
      const double middle = (values[bits] + values[bits + 1]) / 2;
      const unsigned even = bits % 2 == 0 ? bits : bits + 1;
      ASSERT_EQ(encode_float(layout.dtype, middle), even) << describe(layout, bits);
      ASSERT_EQ(encode_float(layout.dtype, std::nextafter(middle, 0.0)), bits)
          << describe(layout, bits);
      ASSERT_EQ(encode_float(layout.dtype, std::nextafter(middle, infinity)), bits + 1)
          << describe(layout, bits);
      if (has_negatives && bits != 0) {
        const unsigned sign = layout.positive();
        ASSERT_EQ(encode_float(layout.dtype, -middle), sign | even) << describe(layout, bits);
        ASSERT_EQ(encode_float(layout.dtype, std::nextafter(-middle, 0.0)), sign | bits)
            << describe(layout, bits);
      }
    }
  }
}

TEST(EncodeFloat, OverflowsAsTheTypeDoes) {
  for (const Layout& layout : layouts()) {
    const std::vector<double> values = positive_values(layout);
    const auto last = static_cast<unsigned>(values.size() - 1);
    // Where the value after the largest would be, were there one.
    const double step =
        layout.fraction_bits == 0 ? layout.largest : layout.largest - values[last - 1];
    const double middle = layout.largest + step / 2;
    EXPECT_EQ(encode_float(layout.dtype, std::nextafter(middle, 0.0)), last)
        << dtype_name(layout.dtype);
    const bool stays = last % 2 == 0 && layout.fraction_bits != 0;
    EXPECT_EQ(encode_float(layout.dtype, middle), stays ? last : layout.overflow)
        << dtype_name(layout.dtype);
    for (const double beyond : {std::nextafter(middle, infinity), layout.largest + step, 1e39,
                                std::numeric_limits<double>::max(), infinity}) {
      EXPECT_EQ(encode_float(layout.dtype, beyond), layout.overflow)
          << dtype_name(layout.dtype) << " " << beyond;
      const auto below = static_cast<unsigned>(encode_float(layout.dtype, -beyond));
      if (layout.infinities.empty() && !layout.nans.empty()) {
        EXPECT_TRUE(layout.nans.contains(below)) << dtype_name(layout.dtype) << " " << -beyond;
      } else {
        EXPECT_EQ(below, layout.positive() | layout.overflow)
            << dtype_name(layout.dtype) << " " << -beyond;
      }
    }
  }
}

TEST(EncodeFloat, KeepsNegativeZeroWhereTheTypeHasOne) {
  for (const Layout& layout : layouts()) {
    const bool has_negative_zero = layout.sign_bits != 0 && !layout.nans.contains(0x80);
    EXPECT_EQ(encode_float(layout.dtype, 0.0), 0u);
    EXPECT_EQ(encode_float(layout.dtype, -0.0), has_negative_zero ? layout.positive() : 0u)
        << dtype_name(layout.dtype);
    EXPECT_EQ(encode_float(layout.dtype, -std::numeric_limits<double>::denorm_min()),
              layout.sign_bits == 0 ? 0xffu
              : has_negative_zero   ? layout.positive()
                                    : 0u)
        << "too small to tell from zero: " << dtype_name(layout.dtype);
  }
}

TEST(EncodeFloat, VanishesBelowHalfOfTheSmallest) {
  for (const Layout& layout : layouts()) {
    if (layout.fraction_bits == 0) continue;
    const double half = layout.smallest / 2;
    EXPECT_EQ(encode_float(layout.dtype, half), 0u) << "a tie: " << dtype_name(layout.dtype);
    EXPECT_EQ(encode_float(layout.dtype, std::nextafter(half, 1.0)), 1u)
        << dtype_name(layout.dtype);
    for (const double tiny : {half / 2, 1e-300, 0x1p-1022, 0x1p-1074}) {
      EXPECT_EQ(encode_float(layout.dtype, tiny), 0u) << dtype_name(layout.dtype) << " " << tiny;
    }
  }
}

TEST(EncodeFloat, PowersOfTwoHaveNeitherSignNorZero) {
  EXPECT_EQ(encode_float(DType::f8e8m0, 1.0), 127u);
  // Ties go up, at odd and at even exponents; so does all between the two smallest powers.
  EXPECT_EQ(encode_float(DType::f8e8m0, std::nextafter(1.5, 0.0)), 127u);
  EXPECT_EQ(encode_float(DType::f8e8m0, 1.5), 128u);
  EXPECT_EQ(encode_float(DType::f8e8m0, 3.0), 129u);
  EXPECT_EQ(encode_float(DType::f8e8m0, 0x1p-127), 0u);
  EXPECT_EQ(encode_float(DType::f8e8m0, std::nextafter(0x1p-127, 1.0)), 1u);
  EXPECT_EQ(encode_float(DType::f8e8m0, 0.0), 0u);
  EXPECT_EQ(encode_float(DType::f8e8m0, 0x1p-200), 0u);
  EXPECT_EQ(encode_float(DType::f8e8m0, -1.0), 0xffu);
  EXPECT_EQ(encode_float(DType::f8e8m0, -infinity), 0xffu);
  EXPECT_EQ(encode_float(DType::f8e8m0, nan), 0xffu);
}

TEST(EncodeFloat, NarrowsDoublesToSinglesAsTheMachineDoes) {
  std::mt19937_64 random(2);
  const auto expect_same = [](double value) {
    const auto expected = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    ASSERT_EQ(encode_float(DType::f32, value), expected) << value;
  };
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t bits = random();
    const auto any = std::bit_cast<double>(bits);
    if (!std::isnan(any)) expect_same(any);
    // The middle between two singles, and its neighbours.
    const auto code = static_cast<std::uint32_t>(bits % 0x7f7fffff);
    const double middle = (static_cast<double>(std::bit_cast<float>(code)) +
                           static_cast<double>(std::bit_cast<float>(code + 1))) /
                          2;
    expect_same(middle);
    expect_same(std::nextafter(middle, 0.0));
    expect_same(std::nextafter(middle, infinity));
  }
  expect_same(0x1.ffffffp127);
  expect_same(std::nextafter(0x1.ffffffp127, 0.0));
  expect_same(0x1p-149);
  expect_same(0x1p-150);
  expect_same(std::nextafter(0x1p-150, 1.0));
}

TEST(EncodeFloat, RoundsOnceFromTheDouble) {
  // Through a single this would first become a tie and then fall the wrong way.
  EXPECT_EQ(encode_float(DType::f16, 1.0 + 0x1p-11 + 0x1p-40), 0x3c01u);
  EXPECT_EQ(encode_float(DType::bf16, 1.0 + 0x1p-8 + 0x1p-40), 0x3f81u);
}

TEST(HalfTypes, ConvertToAndFromFloat) {
  EXPECT_EQ(to_float(Float16{0x3c00}), 1.0f);
  EXPECT_EQ(to_float(Float16{0xc000}), -2.0f);
  EXPECT_EQ(to_float(BFloat16{0x3f80}), 1.0f);
  EXPECT_EQ(to_float16(65504.0), Float16{0x7bff});
  EXPECT_EQ(to_float16(1e9), Float16{0x7c00});
  EXPECT_EQ(to_bfloat16(1.0), BFloat16{0x3f80});
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const Float16 half{static_cast<std::uint16_t>(bits)};
    const BFloat16 brain{static_cast<std::uint16_t>(bits)};
    if (!std::isnan(to_float(half))) {
      ASSERT_EQ(to_float16(to_float(half)), half);
    }
    if (!std::isnan(to_float(brain))) {
      ASSERT_EQ(to_bfloat16(to_float(brain)), brain);
    }
  }
}

}  // namespace
}  // namespace andiron
