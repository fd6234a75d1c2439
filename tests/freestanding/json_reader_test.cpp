// SPDX-License-Identifier: MIT OR Apache-2.0
// JSON, pulled token by token.
#include "src/freestanding/json_reader.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/decoded_text.h"
#include "tests/support/repeated_text.h"

namespace andiron::detail {
namespace {

using namespace std::string_view_literals;

// The decoded string, or the failure in angle brackets.
std::string read_string(std::string_view text) {
  JsonReader reader(text);
  JsonText found;
  if (!reader.string(found)) return "<" + std::string(reader.what()) + ">";
  const std::string decoded = test::decode_text(found);
  EXPECT_TRUE(found.equals(decoded));
  EXPECT_FALSE(found.equals(decoded + "x"));
  EXPECT_EQ(found.has_escapes, text.find('\\') != std::string_view::npos);
  return decoded;
}

bool is_refused_text(const std::string& decoded) { return decoded.starts_with("<"); }

TEST(JsonReaderString, ReadsPlainText) {
  EXPECT_EQ(read_string(R"("")"), "");
  EXPECT_EQ(read_string(R"("model.layers.0.weight")"), "model.layers.0.weight");
  EXPECT_EQ(read_string("  \n\t\r\"a\""), "a");
  EXPECT_EQ(read_string("\"\x7f\""), "\x7f");
}

TEST(JsonReaderString, DecodesEveryEscape) {
  EXPECT_EQ(read_string(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(read_string(R"("\u0041\u00e9\u6f22\uFFFF")"), "A\xc3\xa9\xe6\xbc\xa2\xef\xbf\xbf");
  EXPECT_EQ(read_string(R"("\u0000")"), "\0"sv);
  EXPECT_EQ(read_string(R"("\uD83D\uDD25")"), "\xf0\x9f\x94\xa5");
  EXPECT_EQ(read_string(R"("\ud800\udc00\uDBFF\uDFFF")"), "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
}

TEST(JsonReaderString, RefusesBrokenEscapes) {
  for (const std::string_view text :
       {R"("\x")"sv, R"("\u")"sv, R"("\u12")"sv, R"("\u123")"sv, R"("\u123g")"sv, R"("\U0041")"sv,
        R"("\a")"sv, R"("\'")"sv, R"("\)"sv, R"("\")"sv, R"("\u)"sv, R"("\u12)"sv, "\"\\\n\""sv,
        "\"\\\0\""sv}) {
    EXPECT_TRUE(is_refused_text(read_string(text))) << text;
  }
}

TEST(JsonReaderString, RefusesHalvesOfSurrogatePairs) {
  for (const std::string_view text :
       {R"("\ud83d")"sv, R"("\udd25")"sv, R"("\ud83dx")"sv, R"("\ud83d\n")"sv,
        R"("\ud83d\u0041")"sv, R"("\ud83d\ud83d")"sv, R"("\udd25\ud83d")"sv, R"("\ud83d\u)"sv,
        R"("\ud83d\)"sv, R"("\ud83d\udd2")"sv}) {
    EXPECT_TRUE(is_refused_text(read_string(text))) << text;
  }
}

TEST(JsonReaderString, RefusesControlCharactersAndBadUtf8) {
  for (const std::string_view text :
       {"\"\n\""sv, "\"\x1f\""sv, "\"\0\""sv, "\"\xff\""sv, "\"\x80\""sv, "\"\xc3\""sv,
        "\"\xc0\x80\""sv, "\"\xe0\x80\x80\""sv, "\"\xed\xa0\x80\""sv, "\"\xf4\x90\x80\x80\""sv,
        "\"\xf0\x9f\x94\""sv, "\"\xc3"sv}) {
    EXPECT_TRUE(is_refused_text(read_string(text)));
  }
}

TEST(JsonReaderString, WantsAnEndAndABeginning) {
  for (const std::string_view text : {""sv, "\""sv, "\"abc"sv, "\"0123456789abcdef"sv, "abc"sv}) {
    EXPECT_TRUE(is_refused_text(read_string(text))) << text;
  }
}

// The reader takes eight bytes at a time where it can: whatever is special must be seen at any
// place.
TEST(JsonReaderString, SeesSpecialBytesAtEveryPlace) {
  for (std::size_t before = 0; before < 20; ++before) {
    for (std::size_t after = 0; after < 20; ++after) {
      const std::string left(before, 'x');
      const std::string right(after, 'y');
      const auto with = [&](std::string_view middle) {
        return "\"" + left + std::string(middle) + right + "\"";
      };
      ASSERT_EQ(read_string(with("\\n")), left + "\n" + right);
      ASSERT_EQ(read_string(with("\xc3\xa9")), left + "\xc3\xa9" + right);
      ASSERT_EQ(read_string(with("\\ud83d\\udd25")), left + "\xf0\x9f\x94\xa5" + right);
      ASSERT_EQ(read_string(with("\"")), left);
      ASSERT_TRUE(is_refused_text(read_string(with("\x1f"))));
      ASSERT_TRUE(is_refused_text(read_string(with("\xff"))));
      ASSERT_TRUE(is_refused_text(read_string(with("\\x"))));
      ASSERT_EQ(read_string(with("\x20\x7f!#[]")), left + "\x20\x7f!#[]" + right);
    }
  }
}

TEST(JsonReaderString, StopsRightAfterTheQuote) {
  JsonReader reader("\"abcdefghijkl\"rest");
  JsonText text;
  ASSERT_TRUE(reader.string(text));
  EXPECT_EQ(reader.offset(), 14u);
  EXPECT_EQ(text.raw, "abcdefghijkl");
}

TEST(JsonText, ComparesTheDecodedText) {
  JsonReader reader(R"("w\u0065ight" "weight")");
  JsonText escaped;
  JsonText plain;
  ASSERT_TRUE(reader.string(escaped) && reader.string(plain));
  for (const JsonText& text : {escaped, plain}) {
    EXPECT_TRUE(text.equals("weight"));
    EXPECT_FALSE(text.equals("weigh"));
    EXPECT_FALSE(text.equals("weights"));
    EXPECT_FALSE(text.equals("Weight"));
    EXPECT_FALSE(text.equals(""));
  }
  EXPECT_TRUE(JsonText{}.equals(""));
}

TEST(JsonReaderNumber, TakesWholeNumbersUpToTheLargest) {
  const std::pair<std::string_view, std::uint64_t> numbers[] = {
      {"0", 0},
      {"7", 7},
      {" 42,", 42},
      {"9223372036854775808", 9223372036854775808u},
      {"18446744073709551615", ~std::uint64_t{0}}};
  for (const auto& [text, expected] : numbers) {
    JsonReader reader(text);
    std::uint64_t value = 99;
    ASSERT_TRUE(reader.unsigned_integer(value)) << text;
    EXPECT_EQ(value, expected);
  }
}

TEST(JsonReaderNumber, RefusesWhatIsNotAPlainWholeNumber) {
  for (const std::string_view text :
       {""sv, "-1"sv, "+1"sv, "01"sv, "00"sv, "1.0"sv, "1e3"sv, "1E3"sv, "x"sv, "\"1\""sv, ".5"sv,
        "18446744073709551616"sv, "18446744073709551620"sv, "99999999999999999999999"sv}) {
    JsonReader reader(text);
    std::uint64_t value = 99;
    EXPECT_FALSE(reader.unsigned_integer(value)) << text;
    EXPECT_EQ(reader.code(), ErrorCode::bad_header);
  }
}

TEST(JsonReaderNumber, TakesTheTextOfAnyNumber) {
  for (const std::string_view text : {"0"sv, "-0"sv, "10"sv, "-1.5"sv, "1e5"sv, "1E+5"sv,
                                      "0.0e-0"sv, "123456789012345678901234567890"sv}) {
    JsonReader reader(text);
    std::string_view found;
    ASSERT_TRUE(reader.number(found)) << text;
    EXPECT_EQ(found, text);
  }
  for (const std::string_view text : {""sv, "-"sv, "+1"sv, "01"sv, "-01"sv, "1."sv, ".5"sv, "1e"sv,
                                      "1e+"sv, "-x"sv, "NaN"sv, "Infinity"sv, "0x10"sv}) {
    JsonReader reader(text);
    std::string_view found;
    EXPECT_FALSE(reader.number(found) && reader.at_end()) << text;
  }
}

TEST(JsonReader, WalksThroughListsAndObjects) {
  JsonReader reader(R"( { "a" : [ 1 , 2 ] , "b" : [ ] , "c" : { } } )");
  std::vector<std::string> seen;
  bool first = true;
  ASSERT_TRUE(reader.take('{'));
  while (reader.next_item('}', first)) {
    JsonText key;
    ASSERT_TRUE(reader.key(key));
    seen.emplace_back(key.raw);
    if (reader.peek() == '[') {
      bool first_number = true;
      ASSERT_TRUE(reader.take('['));
      while (reader.next_item(']', first_number)) {
        std::uint64_t number = 0;
        ASSERT_TRUE(reader.unsigned_integer(number));
        seen.push_back(std::to_string(number));
      }
    } else {
      ASSERT_TRUE(reader.skip_value(1));
    }
  }
  EXPECT_FALSE(reader.failed());
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "1", "2", "b", "c"}));
}

TEST(JsonReader, TheFirstFailureSticks) {
  JsonReader reader("[1 2]");
  bool first = true;
  std::uint64_t number = 0;
  ASSERT_TRUE(reader.take('['));
  ASSERT_TRUE(reader.next_item(']', first));
  ASSERT_TRUE(reader.unsigned_integer(number));
  EXPECT_FALSE(reader.next_item(']', first));
  EXPECT_TRUE(reader.failed());
  EXPECT_EQ(reader.offset(), 3u);
  const std::string what = reader.what();
  JsonText text;
  std::string_view word;
  EXPECT_FALSE(reader.unsigned_integer(number));
  EXPECT_FALSE(reader.string(text));
  EXPECT_FALSE(reader.number(word));
  EXPECT_FALSE(reader.literal("true"));
  EXPECT_FALSE(reader.take('2'));
  EXPECT_FALSE(reader.skip_value(0));
  EXPECT_FALSE(reader.fail(ErrorCode::io, "later"));
  EXPECT_EQ(reader.what(), what);
  EXPECT_EQ(reader.code(), ErrorCode::bad_header);
}

bool skips_json(std::string_view text, unsigned depth = 0) {
  JsonReader reader(text);
  return reader.skip_value(depth) && reader.at_end();
}

TEST(JsonReaderSkip, AcceptsWhatTheOracleAccepts) {
  const std::string sample =
      R"({"a":[1,-2.5e3,true,false,null,"\u00e9\n"],"b":{"c":{},"d":[]},"e":[[],[{}]]})";
  ASSERT_TRUE(skips_json(sample));
  for (std::size_t size = 0; size < sample.size(); ++size) {
    ASSERT_FALSE(skips_json(std::string_view(sample).substr(0, size))) << size;
  }
  for (std::size_t i = 0; i < sample.size(); ++i) {
    for (int byte = 1; byte < 256; ++byte) {  // the oracle takes a NUL for the end of the text
      std::string changed = sample;
      changed[i] = static_cast<char>(byte);
      ASSERT_EQ(skips_json(changed), nlohmann::json::accept(changed)) << changed;
    }
  }
}

TEST(JsonReaderSkip, StopsAtTheDeepestNesting) {
  for (const unsigned depth : {0u, 1u, 2u, 63u, 64u, 65u, max_json_depth - 1, max_json_depth}) {
    const unsigned left = max_json_depth - depth;
    EXPECT_TRUE(skips_json(test::nested_json(left, "[", "]"), depth));
    EXPECT_TRUE(skips_json(test::nested_json(left, "{\"a\":", "}"), depth));
    for (const std::string& text :
         {test::nested_json(left + 1, "[", "]"), test::nested_json(left + 1, "{\"a\":", "}"),
          test::nested_json(100'000, "[", "]")}) {
      JsonReader reader(text);
      EXPECT_FALSE(reader.skip_value(depth));
      EXPECT_EQ(reader.code(), ErrorCode::limit_exceeded);
    }
  }
}

TEST(JsonReaderSkip, KeepsListsAndObjectsApartAtEveryLevel) {
  std::string text;
  std::string close;
  for (unsigned i = 0; i < max_json_depth; ++i) {
    const bool object = i % 3 == 0;
    text += object ? "{\"a\":" : "[";
    close.insert(0, object ? "}" : "]");
  }
  ASSERT_TRUE(skips_json(text + "1" + close));
  for (std::size_t i = 0; i < close.size(); ++i) {
    std::string wrong = close;
    wrong[i] = wrong[i] == '}' ? ']' : '}';
    ASSERT_FALSE(skips_json(text + "1" + wrong)) << i;
  }
}

}  // namespace
}  // namespace andiron::detail
