// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/codec/pickle/literals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "src/codec/pickle/machine.h"
#include "tests/codec/pickle_reading.h"
#include "tests/support/burnpack_file.h"

namespace andiron::detail {
namespace {

using namespace test;

TEST(PickleNumbers, SmallIntegersOfEveryWidth) {
  EXPECT_EQ(meaning("K\xff."), "255");
  EXPECT_EQ(meaning("M\xff\xff."), "65535");
  EXPECT_EQ(meaning("J\xff\xff\xff\xff."), "-1");
  EXPECT_EQ(meaning("J" + little(0x80000000, 4) + "."), "-2147483648");
}

TEST(PickleNumbers, LongIntegersAreSignExtended) {
  EXPECT_EQ(meaning("\x8a\0."s), "0");
  EXPECT_EQ(meaning("\x8a\x01\xff."), "-1");
  EXPECT_EQ(meaning("\x8a\x02\xff\0."s), "255");
  EXPECT_EQ(meaning("\x8a\x08" + little(0x7fffffffffffffff, 8) + "."), "9223372036854775807");
  EXPECT_EQ(meaning("\x8a\x08" + little(std::uint64_t{1} << 63, 8) + "."), "-9223372036854775808");
  EXPECT_EQ(meaning("\x8b\0\0\0\0."s), "0");
  EXPECT_EQ(meaning("\x8b\x01\0\0\0\x80."s), "-128");
}

TEST(PickleNumbers, DigitsThatRepeatTheSignDoNotMakeAnIntegerBig) {
  EXPECT_EQ(meaning("\x8a\x09" + little(7, 8) + "\0."s), "7");
  EXPECT_EQ(meaning("\x8a\x0c" + std::string(12, '\xff') + "."), "-1");
  EXPECT_EQ(meaning("\x8a\x09" + std::string(8, '\xff') + "\0."s),
            "int('\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00')");
}

TEST(PickleNumbers, IntegersBeyond64BitsAreTheirDigits) {
  const std::string magic = from_hex("80 02 8a 0a 6cfc9c46f9206aa85019 2e");
  const auto graph = read_in_memory(magic).value();
  ASSERT_EQ(graph.root().kind, PickleKind::big_integer);
  EXPECT_EQ(graph.blob(graph.root()).view(), from_hex("6cfc9c46f9206aa85019"));
  EXPECT_EQ(graph.blob(graph.root()).offset, 4u);
}

TEST(PickleNumbers, IntegersInTextMayHaveAnyLength) {
  EXPECT_EQ(meaning("I5\n."), "5");
  EXPECT_EQ(meaning("I-70000\n."), "-70000");
  EXPECT_EQ(meaning("I+5 \r\n."), "5");
  EXPECT_EQ(meaning("L5L\n."), "5");
  EXPECT_EQ(meaning("L-5\n."), "-5");
  EXPECT_EQ(meaning("L00L\n."), "0");
  EXPECT_EQ(meaning("L9223372036854775807L\n."), "9223372036854775807");
  EXPECT_EQ(meaning("I-9223372036854775808\n."), "-9223372036854775808");
  EXPECT_EQ(meaning("I9223372036854775808\n."),
            "int('\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x80\\x00')");
  EXPECT_EQ(meaning("L-9223372036854775809L\n."),
            "int('\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x7f\\xff')");
  EXPECT_EQ(meaning("L-18446744073709551616\n."),
            "int('\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\xff')");
}

TEST(PickleNumbers, TheOldestProtocolsWriteTruthAsIntegers) {
  EXPECT_EQ(meaning("I00\n."), "False");
  EXPECT_EQ(meaning("I01\n."), "True");
  EXPECT_EQ(meaning("I0\n."), "0");
  EXPECT_EQ(meaning("I1\n."), "1");
}

TEST(PickleNumbers, WhatIsNoDecimalNumberIsRefused) {
  for (const char* line : {"", "x", "5L", "0x10", "1_0", "007", "010", "-", "+-1", "1.0", "5 5"}) {
    EXPECT_EQ(refusal("I" + std::string(line) + "\n."), "a line is not a whole number") << line;
  }
  EXPECT_EQ(refusal("LL\n."), "a line is not a whole number");
  EXPECT_EQ(refusal("L5l\n."), "a line is not a whole number");
}

TEST(PickleNumbers, FloatsAreBigEndianOrText) {
  EXPECT_EQ(meaning("G\xbf\xf8\0\0\0\0\0\0."s), "-1.5");
  EXPECT_EQ(meaning("F1.5\n."), "1.5");
  EXPECT_EQ(meaning("F-1e-3\n."), "-0.001");
  EXPECT_EQ(meaning("F.5\n."), "0.5");
  EXPECT_EQ(meaning("F+5.\n."), "5");
  EXPECT_EQ(meaning("Finf\n."), "inf");
  EXPECT_EQ(meaning("F-Infinity\n."), "-inf");
  const auto graph = read_in_memory("Fnan\n.").value();
  EXPECT_TRUE(std::isnan(graph.real(graph.root())));
  for (const char* line : {"", " 1", "1 ", "1_0", "0x1p3", "nan(1)", "1e400", "+-1", "x"}) {
    EXPECT_EQ(refusal("F" + std::string(line) + "\n."), "a line is not a number") << line;
  }
}

TEST(PickleText, OfEveryLength) {
  EXPECT_EQ(meaning("X" + little(2, 4) + "ab."), "'ab'");
  EXPECT_EQ(meaning("\x8c\x02"
                    "ab."),
            "'ab'");
  EXPECT_EQ(meaning("\x8d" + little(2, 8) + "ab."), "'ab'");
  EXPECT_EQ(meaning("\x8c\0."s), "''");
  EXPECT_EQ(meaning("\x8c\x02\xc3\xa9."), "'\\xc3\\xa9'");
}

TEST(PickleText, SurrogatesThatStandAloneAreReplaced) {
  EXPECT_EQ(meaning("\x8c\x05"
                    "a\xed\xa0\x80z."),
            "'a\\xef\\xbf\\xbdz'");
  EXPECT_EQ(meaning("\x8c\x06\xed\xa0\xbd\xed\xb8\x80."), "'\\xef\\xbf\\xbd\\xef\\xbf\\xbd'");
  const auto graph = read_in_memory("\x8c\x03\xed\xa0\x80.").value();
  EXPECT_EQ(graph.blob(graph.root()).offset, PickleBlob::decoded);
}

TEST(PickleText, WhatIsNotUtf8IsRefused) {
  for (const char* text : {"\xff", "\xc0\x80", "\xe2\x82", "\xed\xa0", "\xf4\x90\x80\x80",
                           "eight bytes\x80", "\x80 before eight bytes"}) {
    const std::string size(1, static_cast<char>(std::strlen(text)));
    EXPECT_EQ(refusal("\x8c" + size + text + "."), "text is not UTF-8") << text;
  }
}

TEST(PickleText, OfLinesHasEscapesOfItsOwn) {
  EXPECT_EQ(meaning("Vplain text\n."), "'plain\\x20text'");
  EXPECT_EQ(meaning("V\n."), "''");
  EXPECT_EQ(meaning("V\xe9\n."), "'\\xc3\\xa9'");
  EXPECT_EQ(meaning("V\\u0041\\U0001f600\n."), "'A\\xf0\\x9f\\x98\\x80'");
  EXPECT_EQ(meaning("V\\\\u0041\\n\\\n."), "'\\x5c\\x5cu0041\\x5cn\\x5c'");
  EXPECT_EQ(meaning("V\\ud800\n."), "'\\xef\\xbf\\xbd'");
  for (const char* line : {"\\u12", "\\u12g4", "\\U0011000", "\\U00110000", "\\u"}) {
    EXPECT_EQ(refusal("V" + std::string(line) + "\n."), "text has a broken escape") << line;
  }
}

TEST(PickleText, OfPython2IsBytesThatMayBeText) {
  EXPECT_EQ(meaning("U\x02\xff"
                    "a."),
            "str('\\xffa')");
  EXPECT_EQ(meaning("T" + little(1, 4) + "a."), "str('a')");
  EXPECT_EQ(meaning("S'a\"b'\n."), "str('a\"b')");
  EXPECT_EQ(meaning("S\"it's\"\n."), "str('it\\x27s')");
  EXPECT_EQ(meaning("S''\n."), "str('')");
  EXPECT_EQ(meaning("S'\\x41\\101\\n\\\\\\'\\0'\n."), "str('AA\\x0a\\x5c\\x27\\x00')");
  EXPECT_EQ(meaning("S'\\a\\b\\f\\r\\t\\v\\\"\\q\\400\\8'\n."),
            "str('\\x07\\x08\\x0c\\x0d\\x09\\x0b\"\\x5cq\\x00\\x5c8')");
  for (const char* line : {"", "'", "a", "'a\"", "'a' "}) {
    EXPECT_EQ(refusal("S" + std::string(line) + "\n."), "a string has no quotes around it") << line;
  }
  EXPECT_EQ(refusal("S'\\x4'\n."), "a string has a broken escape");
  EXPECT_EQ(refusal("S'a\\'\n."), "a string has a broken escape");
}

TEST(PickleBytes, OfEveryLengthAndBytearrays) {
  EXPECT_EQ(meaning("C\x02\0y."s), "b'\\x00y'");
  EXPECT_EQ(meaning("B" + little(1, 4) + "y."), "b'y'");
  EXPECT_EQ(meaning("\x8e" + little(1, 8) + "y."), "b'y'");
  EXPECT_EQ(meaning("\x96" + little(1, 8) + "y."), "b'y'");
}

}  // namespace
}  // namespace andiron::detail
