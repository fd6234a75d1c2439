// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/core/print_double.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace andiron {
namespace {

using detail::Notation;
using detail::print_double;
using detail::print_double_with_printf;
using detail::print_float;
using detail::print_float_with_printf;

void expect_printed_alike(double number) {
  if (!std::isfinite(number)) return;
  for (const Notation notation : {Notation::shorter, Notation::fixed, Notation::scientific}) {
    ASSERT_EQ(print_double_with_printf(number, notation), print_double(number, notation));
  }
}

void expect_printed_alike(float number) {
  if (!std::isfinite(number)) return;
  ASSERT_EQ(print_float_with_printf(number), print_float(number));
}

TEST(PrintDouble, GivesTheFewestDigits) {
  EXPECT_EQ(print_double(0.1), "0.1");
  EXPECT_EQ(print_double(-0.0), "-0");
  EXPECT_EQ(print_double(1e22), "1e+22");
  EXPECT_EQ(print_double(123456.0), "123456");
  EXPECT_EQ(print_double(1e-7), "1e-07");
  EXPECT_EQ(print_double(std::numeric_limits<double>::denorm_min()), "5e-324");
  EXPECT_EQ(print_double(9007199254740993.0), "9007199254740992");
  EXPECT_EQ(print_float(0.1F), "0.1");
}

TEST(PrintDouble, WritesTheNotationThatIsAskedFor) {
  EXPECT_EQ(print_double(1e22, Notation::fixed), "10000000000000000000000");
  EXPECT_EQ(print_double(0.00012, Notation::fixed), "0.00012");
  EXPECT_EQ(print_double(12.5, Notation::scientific), "1.25e+01");
  EXPECT_EQ(print_double(0.0, Notation::scientific), "0e+00");
}

// The digits of numbers just above a power of two are the hard ones.
TEST(PrintDouble, WithPrintfGivesTheSameAroundPowersOfTwo) {
  for (int power = -1074; power <= 1023; ++power) {
    const double number = std::ldexp(1.0, power);
    expect_printed_alike(number);
    expect_printed_alike(-std::nextafter(number, 0.0));
    expect_printed_alike(std::nextafter(number, std::numeric_limits<double>::max()));
  }
  for (int power = -149; power <= 127; ++power) {
    const float number = std::ldexp(1.0F, power);
    expect_printed_alike(number);
    expect_printed_alike(-std::nextafter(number, 0.0F));
    expect_printed_alike(std::nextafter(number, std::numeric_limits<float>::max()));
  }
}

TEST(PrintDouble, WithPrintfGivesTheSameForRandomNumbers) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t bits = random();
    expect_printed_alike(std::bit_cast<double>(bits));
    expect_printed_alike(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    expect_printed_alike(static_cast<double>(bits % 1000000) / 1000);
    expect_printed_alike(static_cast<double>(bits));
  }
}

}  // namespace
}  // namespace andiron
