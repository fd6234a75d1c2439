// SPDX-License-Identifier: MIT OR Apache-2.0
// What Python prints, taken from Python.
#include "src/format/pytorch/python_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/support/burnpack_file.h"
#include "tests/support/pickle_document.h"

namespace andiron::detail {
namespace {

using namespace test;
using namespace std::string_literals;

struct Printed {
  std::string text;
  bool tells_all;
};

Printed printed(const Py& value) {
  const auto content = content_of(value);
  Printed out;
  out.tells_all = append_python_str(out.text, content->graph(), content->graph().root());
  return out;
}

std::string str(const Py& value) { return printed(value).text; }

std::string repr(double number) {
  std::string out;
  append_python_float(out, number);
  return out;
}

// frozenset as protocol 4 has it.
Py frozen_set(const py::Values& values) {
  std::string code = "(";
  for (const Py& value : values) code += value.code;
  return Py::raw(code + "\x91");
}

TEST(PythonFloat, HasTheShortestDigitsThatReadBack) {
  EXPECT_EQ(repr(0.0), "0.0");
  EXPECT_EQ(repr(-0.0), "-0.0");
  EXPECT_EQ(repr(1.0), "1.0");
  EXPECT_EQ(repr(-2.5), "-2.5");
  EXPECT_EQ(repr(0.1), "0.1");
  EXPECT_EQ(repr(100.0), "100.0");
  EXPECT_EQ(repr(1.0 / 3), "0.3333333333333333");
}

TEST(PythonFloat, HasAnExponentFromTenToTheSixteenthOn) {
  EXPECT_EQ(repr(1e15), "1000000000000000.0");
  EXPECT_EQ(repr(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(repr(1e16), "1e+16");
  EXPECT_EQ(repr(1.5e16), "1.5e+16");
  EXPECT_EQ(repr(123456789012345680.0), "1.2345678901234568e+17");
  EXPECT_EQ(repr(1e22), "1e+22");
  EXPECT_EQ(repr(-1.7976931348623157e308), "-1.7976931348623157e+308");
}

TEST(PythonFloat, HasAnExponentBelowATenthOfAThousandth) {
  EXPECT_EQ(repr(1e-4), "0.0001");
  EXPECT_EQ(repr(0.00012345), "0.00012345");
  EXPECT_EQ(repr(9.999e-5), "9.999e-05");
  EXPECT_EQ(repr(1e-5), "1e-05");
  EXPECT_EQ(repr(-3e-7), "-3e-07");
  EXPECT_EQ(repr(5e-324), "5e-324");
}

TEST(PythonFloat, NamesWhatIsNoNumber) {
  EXPECT_EQ(repr(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(repr(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(repr(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(repr(-std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(PythonInteger, OfAnySizeIsDecimal) {
  EXPECT_EQ(decimal(""), "0");
  EXPECT_EQ(decimal("\0"s), "0");
  EXPECT_EQ(decimal("\xff"), "-1");
  EXPECT_EQ(decimal("\x7f"), "127");
  EXPECT_EQ(decimal("\x80"), "-128");
  EXPECT_EQ(decimal(from_hex("00000000000000008000")), "2361183241434822606848");
  EXPECT_EQ(decimal(from_hex("000000000000000001")), "18446744073709551616");
  EXPECT_EQ(decimal(from_hex("0000000000000000ff")), "-18446744073709551616");
  EXPECT_EQ(decimal(from_hex("000000000000008000")), "9223372036854775808");
  EXPECT_EQ(decimal(from_hex("ffffffffffffff7fff")), "-9223372036854775809");
}

TEST(PythonInteger, KeepsTheZerosWithinItsDigits) {
  EXPECT_EQ(decimal(from_hex("00000040eaed7446d09c2c9f0c")), "1000000000000000000000000000000");
  EXPECT_EQ(decimal(from_hex("000000c015128bb92f63d360f3")), "-1000000000000000000000000000000");
  EXPECT_EQ(decimal(from_hex("0000e8890423c78a00")), "10000000000000000000");
  EXPECT_EQ(decimal(from_hex("000000404d95ac35540981a608")), "685355807229880747677634789376");
}

TEST(PythonInteger, OfAThousandBytesHasAllItsDigits) {
  // 256 to the power of 1023.
  const std::string text = decimal(std::string(1023, '\0') + "\x01");
  EXPECT_EQ(text.size(), 2464u);
  EXPECT_TRUE(text.starts_with("4260734904763"));
  EXPECT_TRUE(text.ends_with("5764514816"));
}

TEST(PythonStr, PlainValuesAreWhatPythonPrints) {
  EXPECT_EQ(str(nullptr), "None");
  EXPECT_EQ(str(true), "True");
  EXPECT_EQ(str(false), "False");
  EXPECT_EQ(str(-7), "-7");
  EXPECT_EQ(str(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(str(py::big_integer("\0\0\0\0\0\0\0\0\x01"s)), "18446744073709551616");
  EXPECT_EQ(str(2.5), "2.5");
  EXPECT_EQ(str(py::bytes("ab")), "b'ab'");
}

TEST(PythonStr, TextByItselfIsNotQuoted) {
  EXPECT_EQ(str("plain 'text'\n"), "plain 'text'\n");
  EXPECT_EQ(str("\xc3\xa9"), "\xc3\xa9");
  EXPECT_EQ(str(""), "");
}

TEST(PythonStr, TextWithinATupleIsQuotedAsReprDoes) {
  EXPECT_EQ(str(py::tuple({"a", 1})), "('a', 1)");
  EXPECT_EQ(str(py::tuple({"it's"})), "(\"it's\",)");
  EXPECT_EQ(str(py::tuple({"say \"hi\""})), "('say \"hi\"',)");
  EXPECT_EQ(str(py::tuple({"both ' and \""})), "('both \\' and \"',)");
  EXPECT_EQ(str(py::tuple({"tab\t\n\r\\\0\x1f\x7f"s})), R"(('tab\t\n\r\\\x00\x1f\x7f',))");
  EXPECT_EQ(str(py::tuple({"\xc3\xa9"})), "('\xc3\xa9',)");
  EXPECT_EQ(str(py::tuple({""})), "('',)");
  EXPECT_EQ(str(py::tuple({py::bytes("\0\xff"
                                     "a'"s)})),
            "(b\"\\x00\\xffa'\",)");
}

TEST(PythonStr, TuplesAndSetsMayBeNestedAndEmpty) {
  EXPECT_EQ(str(py::tuple({})), "()");
  EXPECT_EQ(str(py::tuple({py::tuple({1}), py::tuple({2, py::tuple({3})})})), "((1,), (2, (3,)))");
  EXPECT_EQ(str(py::tuple({nullptr, true, 1.5})), "(None, True, 1.5)");
  EXPECT_EQ(str(py::list({1, "a"})), "[1, 'a']");
  EXPECT_EQ(str(frozen_set({1})), "frozenset({1})");
  EXPECT_EQ(str(frozen_set({})), "frozenset()");
  EXPECT_EQ(str(py::tuple({frozen_set({1})})), "(frozenset({1}),)");
}

TEST(PythonStr, SetsAreTheSameInEveryProtocol) {
  for (const char* module : {"builtins", "__builtin__"}) {
    const auto made = [&](const char* name, const py::Values& items) {
      return str(py::call(py::global(module, name), {py::list(items)}));
    };
    EXPECT_EQ(made("frozenset", {1, "a"}), "frozenset({1, 'a'})");
    EXPECT_EQ(made("set", {1}), "{1}");
  }
  EXPECT_EQ(str(py::call(py::global("mine", "set"), {py::list({1})})), "mine.set([1])");
}

TEST(PythonStr, TextOfPython2IsUtf8OrElseLatin1) {
  EXPECT_EQ(str(py::old_text("weight")), "weight");
  EXPECT_EQ(str(py::old_text("\xc3\xa9")), "\xc3\xa9");
  EXPECT_EQ(str(py::old_text("\xe9")), "\xc3\xa9");
}

TEST(PythonStr, WhatWasNeverMadeIsShownAsTheCallThatWouldMakeIt) {
  EXPECT_EQ(str(py::global("torch", "float32")), "torch.float32");
  EXPECT_EQ(str(py::call(py::global("colors", "Color"), {2})), "colors.Color(2)");
  EXPECT_EQ(str(py::call(py::global("pathlib", "PosixPath"), {"a", "b"})),
            "pathlib.PosixPath('a', 'b')");
}

TEST(PythonStr, BytesOfProtocol2ArePrintedAsBytes) {
  EXPECT_EQ(str(py::encoded_bytes("a\xff")), "b'a\\xff'");
  EXPECT_EQ(str(py::tuple({py::encoded_bytes("a")})), "(b'a',)");
  EXPECT_EQ(str(py::encoded_bytes(std::string(10'000, 'x'))), "...");
  EXPECT_EQ(str(py::encoded_bytes(std::string(100'000, 'x'))), "_codecs.encode(..., 'latin1')");
}

TEST(PythonStr, SaysWhetherItTellsAll) {
  const Py color = py::call(py::global("colors", "Color"), {2});
  for (const Py& value : {Py(5), Py("a"), py::tuple({1, "b"}), frozen_set({1, 2}), color}) {
    EXPECT_TRUE(printed(value).tells_all) << str(value);
  }
  const Py stateful = py::with_state(py::new_object(py::global("m", "Key")), py::dict({{"n", 1}}));
  const Py filled = py::with_pairs(py::new_object(py::global("m", "Key")), {{"n", 1}});
  for (const Py& value : {stateful, filled, py::persistent("0"), py::dict({}),
                          py::tuple({1, stateful}), Py(std::string(100'000, 'x'))}) {
    EXPECT_FALSE(printed(value).tells_all) << str(value);
  }
}

TEST(PythonStr, LeavesOutWhatIsTooDeepOrTooLong) {
  Py deep = py::tuple({});
  for (int i = 0; i < 100; ++i) deep = py::tuple({deep});
  EXPECT_EQ(str(deep), "(((((((((...,),),),),),),),),)");
  EXPECT_FALSE(printed(deep).tells_all);

  // Each of these names the one before it twice.
  Py laughs = py::put(0, py::tuple({"ha", "ha"}));
  for (unsigned i = 0; i < 8; ++i) {
    laughs =
        Py::raw(laughs.code + "0" + py::put(i + 1, py::tuple(py::Values(100, py::get(i)))).code);
  }
  EXPECT_LT(str(laughs).size(), 10'000u);
  EXPECT_FALSE(printed(laughs).tells_all);
  EXPECT_EQ(str(py::tuple({std::string(100'000, 'x')})), "(...,)");
}

TEST(PythonStr, WhatHoldsItselfComesToAnEnd) {
  const Py self = Py::raw("]" + py::put(0, Py::raw("")).code + py::get(0).code + "a");
  EXPECT_EQ(str(self), "[[[[[[[[[...]]]]]]]]]");
}

TEST(PythonStr, IsAddedToWhatIsThere) {
  const auto content = content_of(py::tuple({1, 2}));
  std::string out(100'000, 'p');
  EXPECT_TRUE(append_python_str(out, content->graph(), content->graph().root()));
  EXPECT_TRUE(out.ends_with("p(1, 2)"));
}

}  // namespace
}  // namespace andiron::detail
