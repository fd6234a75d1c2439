// SPDX-License-Identifier: MIT OR Apache-2.0
// JSON text to and from Value, with another implementation as the judge.
#include "andiron/value.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>

#include "andiron/limits.h"
#include "src/codec/file_json.h"
#include "src/core/text/utf8.h"
#include "tests/support/repeated_text.h"

namespace andiron {
namespace {

using Oracle = nlohmann::ordered_json;
using namespace std::string_view_literals;

Oracle to_oracle(const Value& value) {
  if (value.is_null()) return nullptr;
  if (const auto* flag = value.get<bool>()) return *flag;
  if (const auto* number = value.get<std::int64_t>()) return *number;
  if (const auto* number = value.get<std::uint64_t>()) return *number;
  if (const auto* number = value.get<double>()) return *number;
  if (const auto* text = value.get<std::string>()) return *text;
  if (const auto* list = value.get<ValueList>()) {
    Oracle out = Oracle::array();
    for (const Value& item : *list) out.push_back(to_oracle(item));
    return out;
  }
  Oracle out = Oracle::object();
  for (const auto& [key, item] : *value.get<ValueDict>()) out[key] = to_oracle(item);
  return out;
}

class RandomTrees {
 public:
  explicit RandomTrees(unsigned seed) : random_(seed) {}

  Oracle tree(unsigned depth) {
    switch (random_() % (depth == 0 ? 7 : 10)) {
      case 0:
        return nullptr;
      case 1:
        return random_() % 2 == 0;
      case 2:
        return static_cast<std::int64_t>(random_());
      case 3:
        return static_cast<std::uint64_t>(random_() >> random_() % 64);
      case 4:
        return any_double();
      case 5:
      case 6:
        return text();
      case 7:
      case 8: {
        Oracle list = Oracle::array();
        for (std::uint64_t left = random_() % 5; left-- > 0;) list.push_back(tree(depth - 1));
        return list;
      }
      default: {
        Oracle object = Oracle::object();
        for (std::uint64_t left = random_() % 5; left-- > 0;) object[text()] = tree(depth - 1);
        return object;
      }
    }
  }

 private:
  double any_double() {
    for (;;) {
      const auto value = std::bit_cast<double>(random_());
      if (std::isfinite(value)) return value;
    }
  }

  std::string text() {
    constexpr std::string_view pieces[] = {
        "a",    "weight", ".",        "\"",           "\\",   "\n",
        "\x01", "/",      "\xc3\xa9", "\xe6\xbc\xa2", "\x7f", "\xf0\x9f\x94\xa5",
        "\0"sv, " "};
    std::string out;
    for (std::uint64_t left = random_() % 12; left-- > 0;) {
      out += pieces[random_() % std::size(pieces)];
    }
    return out;
  }

  std::mt19937_64 random_;
};

TEST(Json, RandomTreesRoundTrip) {
  RandomTrees trees(1);
  for (int i = 0; i < 3000; ++i) {
    const Oracle tree = trees.tree(5);
    for (const auto& [indent, ascii] :
         {std::pair(-1, false), std::pair(2, false), std::pair(-1, true)}) {
      const std::string text = tree.dump(indent, ' ', ascii);
      const Result<Value> value = parse_json(text);
      ASSERT_TRUE(value.ok()) << text << "\n" << value.error().to_string();
      ASSERT_EQ(to_oracle(*value), tree) << text;
      ASSERT_EQ(Oracle::parse(to_json(*value)), tree) << text;
      ASSERT_EQ(Oracle::parse(to_json(*value, 3)), tree) << text;
    }
  }
}

TEST(Json, AgreesWithTheOracleOnEveryChangedByte) {
  const std::string sample =
      R"( {"alpha":[1,-2.5e3,true,false,null],"beta":{"gamma":"\u00e9\n","delta":[]},"e":0.5} )";
  ASSERT_TRUE(parse_json(sample).ok());
  for (std::size_t i = 0; i < sample.size(); ++i) {
    for (int byte = 1; byte < 256; ++byte) {  // the oracle takes a NUL for the end of the text
      std::string changed = sample;
      changed[i] = static_cast<char>(byte);
      ASSERT_EQ(parse_json(changed).ok(), Oracle::accept(changed)) << changed;
    }
  }
}

TEST(Json, EveryTruncationFailsOrIsWellFormed) {
  const std::string object = R"({"a":[1,{"b":"\ud83d\udd25"}],"c":-1.5e-3,"d":null})";
  for (std::size_t size = 0; size < object.size(); ++size) {
    const Result<Value> value = parse_json(std::string_view(object).substr(0, size));
    ASSERT_FALSE(value.ok()) << size;
    EXPECT_EQ(value.error().code, ErrorCode::bad_header);
    EXPECT_TRUE(value.error().found.starts_with("at byte ")) << value.error().found;
  }
  const std::string number = "-120.5e+10";
  for (std::size_t size = 0; size <= number.size(); ++size) {
    const std::string part = number.substr(0, size);
    EXPECT_EQ(parse_json(part).ok(), Oracle::accept(part)) << part;
  }
}

TEST(Json, RefusesMalformedTexts) {
  for (const std::string_view text : {""sv,
                                      " "sv,
                                      "\0"sv,
                                      "null\0"sv,
                                      "nul"sv,
                                      "nulll"sv,
                                      "True"sv,
                                      "tru"sv,
                                      "falsey"sv,
                                      "'a'"sv,
                                      "[1,]"sv,
                                      "[,1]"sv,
                                      "[1 2]"sv,
                                      "[1"sv,
                                      "]"sv,
                                      "[1}"sv,
                                      "{\"a\":1]"sv,
                                      "{\"a\"}"sv,
                                      "{\"a\":}"sv,
                                      "{a:1}"sv,
                                      "{1:2}"sv,
                                      "{\"a\":1,}"sv,
                                      "{,}"sv,
                                      "{\"a\" 1}"sv,
                                      "{\"a\"::1}"sv,
                                      "[1]2"sv,
                                      "[][]"sv,
                                      "// c\n1"sv,
                                      "/* c */1"sv,
                                      "[1/**/]"sv,
                                      "\xef\xbb\xbf[]"sv,
                                      "\v1"sv,
                                      "\xc2\xa0 1"sv,
                                      "01"sv,
                                      "-"sv,
                                      "+1"sv,
                                      "1."sv,
                                      ".1"sv,
                                      "1e"sv,
                                      "0x1"sv,
                                      "1_000"sv,
                                      "NaN"sv,
                                      "Infinity"sv,
                                      "-Infinity"sv,
                                      "--1"sv,
                                      "\"\xff\""sv,
                                      "\"a"sv,
                                      "\"\\"sv,
                                      "\"\t\""sv,
                                      "\"\\ud800\""sv,
                                      "\"\\x41\""sv,
                                      "{\"\\ud800\":1}"sv}) {
    const Result<Value> value = parse_json(text);
    ASSERT_FALSE(value.ok()) << text;
    EXPECT_EQ(value.error().code, ErrorCode::bad_header) << text;
  }
}

TEST(Json, SaysAtWhichByteItStopped) {
  EXPECT_EQ(parse_json("[1, 2 3]").error().found, "at byte 6");
  EXPECT_EQ(parse_json("[1] x").error().found, "at byte 4");
}

TEST(Json, RefusesAKeyGivenTwiceHoweverItIsSpelled) {
  for (const std::string_view text :
       {R"({"a":1,"a":2})"sv, R"({"a":1,"\u0061":2})"sv, R"([{"x":{"":1,"":2}}])"sv}) {
    EXPECT_EQ(parse_json(text).error().code, ErrorCode::duplicate_key) << text;
  }
  EXPECT_TRUE(parse_json(R"({"a":{"a":1},"A":2})").ok());
}

TEST(Json, PrintsNoDeeperThanItReads) {
  for (const unsigned levels : {max_json_depth, max_json_depth + 1, 900u}) {
    Value list = Value(1.5);
    Value dict = Bytes::own(std::string("x"));
    for (unsigned i = 0; i < levels; ++i) {
      list = ValueList{list};
      dict = ValueDict{{"a", dict}};
    }
    EXPECT_TRUE(parse_json(to_json(list)).ok()) << levels;
    EXPECT_TRUE(parse_json(to_json(dict, 2)).ok()) << levels;
    const bool is_whole = to_json(list).find("1.5") != std::string::npos;
    EXPECT_EQ(is_whole, levels <= max_json_depth);
  }
}

TEST(Json, FollowsNestingUpToTheLimit) {
  EXPECT_TRUE(parse_json(test::nested_json(max_json_depth, "[", "]")).ok());
  EXPECT_TRUE(parse_json(test::nested_json(max_json_depth, "{\"a\":", "}")).ok());
  EXPECT_TRUE(parse_json(test::nested_json(max_json_depth / 2, "[{\"a\":", "}]")).ok());
  for (const std::string& text :
       {test::nested_json(max_json_depth + 1, "[", "]"),
        test::nested_json(max_json_depth + 1, "{\"a\":", "}"), std::string(1'000'000, '['),
        test::nested_json(1'000'000, "{\"a\":", "")}) {
    EXPECT_EQ(parse_json(text).error().code, ErrorCode::limit_exceeded);
  }
}

template <class T>
void expect_number(std::string_view text, T expected) {
  const Value value = parse_json(text).value();
  const T* number = value.get<T>();
  ASSERT_NE(number, nullptr) << text;
  EXPECT_EQ(*number, expected) << text;
}

TEST(Json, IntegersKeepTheirValueAtTheEdges) {
  expect_number<std::int64_t>("0", 0);
  expect_number<std::int64_t>("-0", 0);
  expect_number<std::int64_t>("-1", -1);
  expect_number<std::int64_t>("9223372036854775807", std::numeric_limits<std::int64_t>::max());
  expect_number<std::int64_t>("-9223372036854775808", std::numeric_limits<std::int64_t>::min());
  expect_number<std::uint64_t>("9223372036854775808", 9223372036854775808u);
  expect_number<std::uint64_t>("18446744073709551615", ~std::uint64_t{0});
  expect_number<double>("18446744073709551616", 0x1p64);
  expect_number<double>("-9223372036854775809", -0x1p63);
}

TEST(Json, DoublesAreRoundedCorrectlyAtTheEdges) {
  expect_number<double>("1.0", 1.0);
  expect_number<double>("1e0", 1.0);
  expect_number<double>("0.1", 0.1);
  expect_number<double>("1.7976931348623157e308", std::numeric_limits<double>::max());
  expect_number<double>("-1.7976931348623157e308", -std::numeric_limits<double>::max());
  expect_number<double>("2.2250738585072014e-308", std::numeric_limits<double>::min());
  expect_number<double>("2.2250738585072011e-308", 2.2250738585072011e-308);
  expect_number<double>("5e-324", std::numeric_limits<double>::denorm_min());
  expect_number<double>("9007199254740993.0", 9007199254740992.0);
  expect_number<double>("0e999999999999", 0.0);
  expect_number<double>(std::string(300, '1') + ".5", std::stod(std::string(300, '1') + ".5"));
  EXPECT_TRUE(std::signbit(*parse_json("-0.0").value().get<double>()));
}

TEST(Json, NumbersOutsideDoubleAreRefused) {
  for (const std::string& text :
       {std::string("1e309"), std::string("-1e309"), std::string("1.7976931348623159e308"),
        std::string("1e99999999999999999999"), std::string(400, '9')}) {
    EXPECT_EQ(parse_json(text).error().code, ErrorCode::bad_header) << text;
  }
}

TEST(Json, DoublesReadBackTheSame) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 50'000; ++i) {
    const auto number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    const std::string text = to_json(Value(number));
    ASSERT_EQ(to_oracle(parse_json(text).value()).get<double>(), number) << text;
    ASSERT_EQ(Oracle::parse(text).get<double>(), number) << text;
  }
}

TEST(ToJson, WritesCompactText) {
  const Value value(ValueDict{{"a", Value(ValueList{Value(std::int64_t{1}), Value(), Value(true)})},
                              {"b", Value("x")},
                              {"c", Value(ValueDict{})},
                              {"d", Value(ValueList{})},
                              {"e", Value(-0.5)},
                              {"f", Value(~std::uint64_t{0})}});
  EXPECT_EQ(to_json(value),
            R"({"a":[1,null,true],"b":"x","c":{},"d":[],"e":-0.5,"f":18446744073709551615})");
}

TEST(ToJson, WritesIndentedText) {
  const Value value(ValueDict{{"a", Value(ValueList{Value(std::int64_t{1}), Value(false)})},
                              {"b", Value(ValueDict{})}});
  EXPECT_EQ(to_json(value, 2), "{\n  \"a\": [\n    1,\n    false\n  ],\n  \"b\": {}\n}");
}

TEST(ToJson, WritesWhatJsonLacks) {
  EXPECT_EQ(to_json(Value(std::nan(""))), "null");
  EXPECT_EQ(to_json(Value(std::numeric_limits<double>::infinity())), "null");
  EXPECT_EQ(to_json(Value(-std::numeric_limits<double>::infinity())), "null");
  EXPECT_EQ(to_json(Value(TensorIndex{3})), R"({"tensor":3})");
  EXPECT_EQ(to_json(Value(Bytes::own({std::byte{0}, std::byte{255}}))), "[0,255]");
  EXPECT_EQ(to_json(Value(Bytes())), "[]");
}

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(AppendJsonString, EscapesWhatMustBe) {
  EXPECT_EQ(json_string(""), "\"\"");
  EXPECT_EQ(json_string({}), "\"\"");
  EXPECT_EQ(json_string("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(json_string("\b\t\n\f\r"), R"("\b\t\n\f\r")");
  EXPECT_EQ(json_string("\0\x01\x1f\x7f"sv), R"("\u0000\u0001\u001f\u007f")");
  EXPECT_EQ(json_string("caf\xc3\xa9 \xf0\x9f\x94\xa5"), "\"caf\xc3\xa9 \xf0\x9f\x94\xa5\"");
}

TEST(AppendJsonString, EscapesWhatATerminalWouldObeyOrHide) {
  EXPECT_EQ(json_string("\u0080\u009b"), R"("\u0080\u009b")");
  EXPECT_EQ(json_string("\u202a\u202e\u2066\u2069"), R"("\u202a\u202e\u2066\u2069")");
  EXPECT_EQ(json_string("\u200e\u200f\u061c"), R"("\u200e\u200f\u061c")");
  EXPECT_EQ(json_string("\u2028\u2029\u200b\ufeff"), R"("\u2028\u2029\u200b\ufeff")");
  EXPECT_EQ(json_string("a\U000e0041"), R"("a\udb40\udc41")");
  EXPECT_EQ(json_string("\u0301e\u0301"), "\"\\u0301e\u0301\"");
  EXPECT_EQ(to_json(Value(ValueDict{{"\u202e", Value("\u009b")}})), R"({"\u202e":"\u009b"})");
}

TEST(AppendJsonString, ParsesBackToTheSameText) {
  std::string text;
  for (std::uint32_t c = 0; c < 0x110000;
       c += c < 0x4000 || (c >= 0xe0000 && c < 0xe0200) ? 1 : 97) {
    if (c >= 0xd800 && c < 0xe000) continue;
    char bytes[4];
    text.append(bytes, encode_utf8(c, bytes));
  }
  const std::string json = json_string(text);
  EXPECT_EQ(Oracle::parse(json).get<std::string>(), text);
  EXPECT_EQ(*parse_json(json).value().get<std::string>(), text);
}

TEST(FileJson, EscapesOnlyWhatJsonRequires) {
  const std::string text = "\x7f\u009b\u202e\u2028\U000e0041\u00a0";
  std::string out;
  detail::append_file_json_string(out, text + "\"\n\x01");
  EXPECT_EQ(out, "\"" + text + R"(\"\n\u0001")");
  EXPECT_EQ(detail::to_file_json(Value(ValueDict{{text, Value(text)}})),
            "{\"" + text + "\":\"" + text + "\"}");
}

TEST(AppendJsonString, AppendsToWhatIsThere) {
  std::string out = "x:";
  append_json_string(out, "y");
  EXPECT_EQ(out, "x:\"y\"");
}

TEST(AppendJsonString, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(json_string("\xff"), "\"\xef\xbf\xbd\"");
  EXPECT_EQ(json_string("a\xc3"), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(json_string("\xc3(\x80"), "\"\xef\xbf\xbd(\xef\xbf\xbd\"");
}

TEST(AppendJsonString, GivesValidJsonForAnyBytes) {
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 12, '\0');
    for (char& c : text) c = static_cast<char>(random());
    ASSERT_TRUE(Oracle::accept(json_string(text)));
    ASSERT_TRUE(parse_json(json_string(text)).ok());
  }
}

TEST(Value, FindsTheEntriesOfADict) {
  const Value value = parse_json(R"({"a":{"b":[1]},"":2})").value();
  ASSERT_NE(value.find("a"), nullptr);
  EXPECT_NE(value.find("a")->find("b"), nullptr);
  EXPECT_NE(value.find(""), nullptr);
  EXPECT_EQ(value.find("b"), nullptr);
  EXPECT_EQ(value.find("a")->find("b")->find("c"), nullptr) << "a list has no keys";
}

}  // namespace
}  // namespace andiron
