// SPDX-License-Identifier: MIT OR Apache-2.0
// The order in which people list names.
#include "andiron/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace andiron {
namespace {

TEST(NaturalOrder, ComparesRunsOfDigitsByValue) {
  EXPECT_TRUE(natural_less("layers.2.weight", "layers.10.weight"));
  EXPECT_FALSE(natural_less("layers.10.weight", "layers.2.weight"));
  EXPECT_TRUE(natural_less("h9", "h10"));
  EXPECT_TRUE(natural_less("a1b2", "a1b11"));
}

TEST(NaturalOrder, ComparesOtherTextBytewise) {
  EXPECT_TRUE(natural_less("a.bias", "a.weight"));
  EXPECT_TRUE(natural_less("B", "a"));
  EXPECT_TRUE(natural_less("z", "\xc3\xa9"));
  EXPECT_TRUE(natural_less("a.b", "a1"));
  EXPECT_TRUE(natural_less("a1", "ab"));
}

TEST(NaturalOrder, PutsAPrefixFirst) {
  EXPECT_TRUE(natural_less("", "a"));
  EXPECT_TRUE(natural_less("a", "a.b"));
  EXPECT_TRUE(natural_less("a1", "a1.b"));
  EXPECT_FALSE(natural_less("a.b", "a"));
}

TEST(NaturalOrder, ComparesNumbersOfAnyLength) {
  const std::string smaller = "x" + std::string(1000, '9');
  const std::string larger = "x1" + std::string(1000, '0');
  EXPECT_TRUE(natural_less(smaller, larger));
  EXPECT_FALSE(natural_less(larger, smaller));
  EXPECT_TRUE(natural_less("18446744073709551615", "18446744073709551616"));
}

TEST(NaturalOrder, FallsBackToBytesWhenOnlyLeadingZerosDiffer) {
  EXPECT_TRUE(natural_less("a.007", "a.7"));
  EXPECT_FALSE(natural_less("a.7", "a.007"));
  EXPECT_TRUE(natural_less("a.7.x", "a.007.y"));
  EXPECT_TRUE(natural_less("0", "00"));
}

TEST(NaturalOrder, IsAStrictTotalOrder) {
  const std::vector<std::string> names = {"",    "0",   "00",  "1",    "01",    "1a",  "a",  "a0",
                                          "a00", "a1",  "a01", "a1b",  "a01a",  "a.1", "a-", "a10",
                                          "a9",  "a:1", "b",   "a1.2", "a01.1", "\xff"};
  for (const std::string& a : names) {
    EXPECT_FALSE(natural_less(a, a));
    for (const std::string& b : names) {
      if (a != b) {
        EXPECT_NE(natural_less(a, b), natural_less(b, a)) << a << " and " << b;
      }
      for (const std::string& c : names) {
        if (natural_less(a, b) && natural_less(b, c)) {
          EXPECT_TRUE(natural_less(a, c)) << a << " " << b << " " << c;
        }
      }
    }
  }
}

}  // namespace
}  // namespace andiron
