// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/core/parse_double.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>

namespace andiron::detail {
namespace {

// Both ways of reading agree to the bit.
void expect_same(const std::string& text) {
  const std::optional<double> one = parse_double(text);
  const std::optional<double> other = parse_double_with_strtod(text);
  ASSERT_EQ(one.has_value(), other.has_value()) << text;
  if (!one || std::isnan(*one)) return;
  EXPECT_EQ(std::memcmp(&*one, &*other, sizeof(double)), 0) << text;
}

TEST(ParseDouble, ReadsNumbers) {
  EXPECT_EQ(parse_double("1"), 1);
  EXPECT_EQ(parse_double("-1.5e3"), -1500);
  EXPECT_EQ(parse_double("5e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::signbit(parse_double("-0").value()));
  EXPECT_TRUE(std::isinf(parse_double("inf").value()));
  EXPECT_TRUE(std::isnan(parse_double("nan").value()));
}

TEST(ParseDouble, RefusesOtherText) {
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.5.", "0x10", "-0x1p3", "--1", "-+1", "1e",
                           "e5", ".", "one"}) {
    EXPECT_FALSE(parse_double(text)) << text;
  }
}

TEST(ParseDouble, RefusesWhatNoDoubleIsNearTo) {
  for (const char* text : {"1e309", "-1e400", "1e-400", "0.0000001e-400"}) {
    EXPECT_FALSE(parse_double(text)) << text;
  }
  EXPECT_EQ(parse_double("0e-400"), 0);
}

TEST(ParseDouble, IsTheSameWithStrtod) {
  for (const char* text :
       {"",     "-",     "+1",     " 1",     "1 ",     "1.5.",   "0x10",  "-0x1p3", "--1",
        "1e",   "e5",    ".",      "one",    "inf",    "-inf",   "nan",   "-nan",   "infinity",
        "infi", "1e309", "1e-400", "0e-400", "5e-324", "2e-324", ".5",    "5.",     "-.5e-3",
        "1e5",  "1E+5",  "1e+",    "00012",  "-0",     "0.1e1",  "1_000", "1,5",    "0.0e-999"}) {
    expect_same(text);
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random();
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    char text[64];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    expect_same(std::string(text, end));
  }
}

}  // namespace
}  // namespace andiron::detail
