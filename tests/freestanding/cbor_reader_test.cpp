// SPDX-License-Identifier: MIT OR Apache-2.0
// CBOR, pulled item by item.
#include "src/freestanding/cbor_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "tests/support/burnpack_file.h"
#include "tests/support/decoded_text.h"
#include "tests/support/repeated_text.h"

namespace andiron::detail {
namespace {

using Kind = CborReader::Kind;
using test::cbor_head;
using test::cbor_text;
using test::from_hex;
using test::repeated;

CborReader reader_of(const std::string& bytes) {
  return CborReader(std::as_bytes(std::span(bytes)));
}

// The decoded text, or the failure in angle brackets.
std::string read_text(const std::string& bytes) {
  CborReader reader = reader_of(bytes);
  CborText found;
  if (!reader.text(found)) return "<" + std::string(reader.what()) + ">";
  const std::string decoded = test::decode_text(found);
  EXPECT_TRUE(found.equals(decoded));
  EXPECT_FALSE(found.equals(decoded + "x"));
  EXPECT_EQ(found.equals(decoded.substr(decoded.empty() ? 0 : 1)), decoded.empty());
  return decoded;
}

bool is_refused(const std::string& text) { return text.starts_with("<"); }

// Skips one item that `depth` others enclose; true when it took all the bytes.
bool skips(const std::string& bytes, unsigned depth = 0) {
  CborReader reader = reader_of(bytes);
  return reader.skip_value(depth) && reader.offset() == bytes.size();
}

TEST(CborReaderText, ReadsTextOfDefiniteLength) {
  EXPECT_EQ(read_text(from_hex("60")), "");
  EXPECT_EQ(read_text(cbor_text("conv1.weight")), "conv1.weight");
  EXPECT_EQ(read_text(cbor_text("\xe6\xbc\xa2\xf0\x9f\x94\xa5")), "\xe6\xbc\xa2\xf0\x9f\x94\xa5");
  EXPECT_EQ(read_text(cbor_text(std::string(70'000, 'n'))), std::string(70'000, 'n'));
  // Lengths need not be in their shortest form.
  EXPECT_EQ(read_text(from_hex("7b 0000000000000002") + "ab"), "ab");
}

TEST(CborReaderText, JoinsChunks) {
  EXPECT_EQ(read_text(from_hex("7f ff")), "");
  EXPECT_EQ(read_text(from_hex("7f 60 ff")), "");
  EXPECT_EQ(read_text(from_hex("7f 62 6162 60 61 63 ff")), "abc");
  EXPECT_EQ(read_text(from_hex("7f") + cbor_text(std::string(300, 'a')) + cbor_text("b") +
                      from_hex("ff")),
            std::string(300, 'a') + "b");
}

TEST(CborReaderText, AChunkWithoutTextEqualsTheEmptyText) {
  const std::string bytes = from_hex("7f 60 ff");
  CborReader reader = reader_of(bytes);
  CborText text;
  ASSERT_TRUE(reader.text(text));
  EXPECT_TRUE(text.equals({}));
}

TEST(CborReaderText, SkipsTags) { EXPECT_EQ(read_text(from_hex("c0 d818 d9ffff 61 61")), "a"); }

TEST(CborReaderText, RefusesWhatIsNoText) {
  for (const char* bytes : {"", "00", "20", "41 61", "80", "a0", "f6", "fa00000000", "ff", "c0"}) {
    EXPECT_TRUE(is_refused(read_text(from_hex(bytes)))) << bytes;
  }
}

TEST(CborReaderText, RefusesTextThatIsCutShortOrBrokenlyChunked) {
  for (const char* bytes : {"61", "62 61", "78", "79 00", "7a 000000", "7b ffffffffffffffff 61",
                            "7f", "7f 61", "7f 61 61", "7f 41 61 ff", "7f 7f 61 61 ff ff",
                            "7f c0 61 61 ff", "7f 00 ff", "7c", "7d", "7e"}) {
    EXPECT_TRUE(is_refused(read_text(from_hex(bytes)))) << bytes;
  }
}

TEST(CborReaderText, RefusesTextThatIsNotUtf8) {
  for (const char* text : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe6\xbc",
                           "twelve bytes\x80", "\x80 at the start of a longer text"}) {
    EXPECT_EQ(read_text(cbor_text(text)), "<text is not UTF-8>") << text;
  }
  // A letter may not be cut by the end of a chunk.
  EXPECT_TRUE(is_refused(read_text(from_hex("7f 61 c3 61 a9 ff"))));
}

TEST(CborReaderWord, TakesShortTextOfDefiniteLengthAlone) {
  const auto word = [](const std::string& bytes) {
    CborReader reader = reader_of(bytes);
    std::string_view found;
    return reader.word(found) ? std::string(found) : "<" + std::string(reader.what()) + ">";
  };
  EXPECT_EQ(word(cbor_text("dtype")), "dtype");
  EXPECT_EQ(word(from_hex("c6 61 61")), "a");
  EXPECT_EQ(word(cbor_text(std::string(4096, 'k'))), std::string(4096, 'k'));
  EXPECT_TRUE(is_refused(word(cbor_text(std::string(4097, 'k')))));
  EXPECT_TRUE(is_refused(word(from_hex("7f 61 61 ff"))));
  EXPECT_TRUE(is_refused(word(from_hex("61 ff"))));
  EXPECT_TRUE(is_refused(word(from_hex("01"))));
}

std::string read_unsigned(const std::string& bytes) {
  CborReader reader = reader_of(bytes);
  std::uint64_t number = 0;
  return reader.unsigned_integer(number) ? std::to_string(number)
                                         : "<" + std::string(reader.what()) + ">";
}

std::string read_integer(const std::string& bytes) {
  CborReader reader = reader_of(bytes);
  std::int64_t number = 0;
  return reader.integer(number) ? std::to_string(number) : "<" + std::string(reader.what()) + ">";
}

TEST(CborReaderNumber, ReadsEveryWidth) {
  EXPECT_EQ(read_unsigned(from_hex("17")), "23");
  EXPECT_EQ(read_unsigned(from_hex("18ff")), "255");
  EXPECT_EQ(read_unsigned(from_hex("190100")), "256");
  EXPECT_EQ(read_unsigned(from_hex("1a00010000")), "65536");
  EXPECT_EQ(read_unsigned(from_hex("1bffffffffffffffff")), "18446744073709551615");
  EXPECT_EQ(read_unsigned(from_hex("1b0000000000000001")), "1");
  EXPECT_EQ(read_integer(from_hex("20")), "-1");
  EXPECT_EQ(read_integer(from_hex("3b7fffffffffffffff")), "-9223372036854775808");
  EXPECT_EQ(read_integer(from_hex("1b7fffffffffffffff")), "9223372036854775807");
}

TEST(CborReaderNumber, ReadsBignumsThatFit) {
  EXPECT_EQ(read_unsigned(from_hex("c2 41 2a")), "42");
  EXPECT_EQ(read_unsigned(from_hex("c2 40")), "0");
  EXPECT_EQ(read_unsigned(from_hex("c2 48 ffffffffffffffff")), "18446744073709551615");
  EXPECT_EQ(read_unsigned(from_hex("c2 4a 0000 ffffffffffffffff")), "18446744073709551615");
  EXPECT_EQ(read_unsigned(from_hex("c2 5f 41 01 41 00 ff")), "256");
  EXPECT_EQ(read_unsigned(from_hex("d900ff c2 41 2a")), "42");
  EXPECT_EQ(read_integer(from_hex("c3 40")), "-1");
  EXPECT_EQ(read_integer(from_hex("c3 48 7fffffffffffffff")), "-9223372036854775808");
}

TEST(CborReaderNumber, RefusesWhatDoesNotFit) {
  EXPECT_TRUE(is_refused(read_unsigned(from_hex("20"))));
  EXPECT_TRUE(is_refused(read_unsigned(from_hex("c3 41 00"))));
  EXPECT_TRUE(is_refused(read_unsigned(from_hex("c2 49 01 0000000000000000"))));
  EXPECT_TRUE(is_refused(read_integer(from_hex("1b8000000000000000"))));
  EXPECT_TRUE(is_refused(read_integer(from_hex("3b8000000000000000"))));
  EXPECT_TRUE(is_refused(read_integer(from_hex("c3 48 8000000000000000"))));
}

TEST(CborReaderNumber, RefusesWhatIsNoNumber) {
  for (const char* bytes : {"",      "18",       "19 00",       "1a 000000", "1b 00000000000000",
                            "1c",    "1d",       "1e",          "1f",        "3f",
                            "60",    "80",       "f93c00",      "f5",        "c2",
                            "c2 01", "c2 61 61", "c2 c2 41 01", "c2 42 01",  "dc",
                            "df"}) {
    EXPECT_TRUE(is_refused(read_unsigned(from_hex(bytes)))) << bytes;
    EXPECT_TRUE(is_refused(read_integer(from_hex(bytes)))) << bytes;
  }
}

TEST(CborReaderFloat, ReadsHalvesFloatsAndDoubles) {
  const auto number = [](const char* hex) {
    const std::string bytes = from_hex(hex);
    CborReader reader = reader_of(bytes);
    double found = 0;
    EXPECT_TRUE(reader.floating(found)) << hex;
    return found;
  };
  EXPECT_EQ(number("f93c00"), 1.0);
  EXPECT_EQ(number("f90001"), 0x1p-24);
  EXPECT_EQ(number("f903ff"), 0x1.ff8p-15);
  EXPECT_EQ(number("f9fc00"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("fa47c35000"), 100000.0);
  EXPECT_EQ(number("fa00000001"), 0x1p-149);
  EXPECT_EQ(number("fb3f50624dd2f1a9fc"), 0.001);
  EXPECT_EQ(number("c1 f93c00"), 1.0);
  EXPECT_TRUE(std::signbit(number("f98000")));
  EXPECT_TRUE(std::isnan(number("f97e00")));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(number("fa7f800001")), 0x7ff0000020000000u);
}

TEST(CborReaderFloat, RefusesIntegersAndOtherKinds) {
  for (const char* hex : {"01", "20", "c2 41 01", "f4", "f6", "f8ff", "61 31", "f9 3c", "fa 0000",
                          "fb 00", "ff", ""}) {
    const std::string bytes = from_hex(hex);
    CborReader reader = reader_of(bytes);
    double found = 0;
    EXPECT_FALSE(reader.floating(found)) << hex;
  }
}

TEST(CborReader, ReadsTruthAndNull) {
  const std::string bytes = from_hex("f4 f5 c0f5 f6 f7 00");
  CborReader reader = reader_of(bytes);
  bool truth = true;
  EXPECT_TRUE(reader.boolean(truth) && !truth);
  EXPECT_TRUE(reader.boolean(truth) && truth);
  EXPECT_TRUE(reader.boolean(truth) && truth);
  EXPECT_TRUE(reader.take_null());
  EXPECT_TRUE(reader.take_null());
  EXPECT_FALSE(reader.take_null());
  EXPECT_FALSE(reader.failed());
  EXPECT_FALSE(reader.boolean(truth));
}

TEST(CborReader, PeeksPastTagsAndMovesNothing) {
  const auto kind = [](const char* hex) {
    const std::string bytes = from_hex(hex);
    CborReader reader = reader_of(bytes);
    const Kind found = reader.peek();
    EXPECT_EQ(reader.offset(), 0u);
    return found;
  };
  EXPECT_EQ(kind("00"), Kind::unsigned_integer);
  EXPECT_EQ(kind("20"), Kind::negative_integer);
  EXPECT_EQ(kind("40"), Kind::bytes);
  EXPECT_EQ(kind("60"), Kind::text);
  EXPECT_EQ(kind("9f"), Kind::list);
  EXPECT_EQ(kind("bf"), Kind::map);
  EXPECT_EQ(kind("c0 d818 a0"), Kind::map);
  EXPECT_EQ(kind("c2 40"), Kind::unsigned_integer);
  EXPECT_EQ(kind("c3 40"), Kind::negative_integer);
  EXPECT_EQ(kind("f5"), Kind::boolean);
  EXPECT_EQ(kind("f7"), Kind::null);
  EXPECT_EQ(kind("f90000"), Kind::floating);
  EXPECT_EQ(kind("f0"), Kind::other);
  EXPECT_EQ(kind("ff"), Kind::other);
  EXPECT_EQ(kind(""), Kind::none);
  EXPECT_EQ(kind("c0"), Kind::none);
}

TEST(CborReader, WalksListsAndMapsOfDefiniteAndIndefiniteLength) {
  for (const char* hex : {"83 01 02 03", "9f 01 02 03 ff", "c5 9f 01 02 03 ff"}) {
    const std::string bytes = from_hex(hex);
    CborReader reader = reader_of(bytes);
    CborOpen list;
    ASSERT_TRUE(reader.open_list(list));
    std::uint64_t sum = 0;
    while (reader.next(list)) {
      std::uint64_t number = 0;
      ASSERT_TRUE(reader.unsigned_integer(number));
      sum += number;
    }
    EXPECT_FALSE(reader.failed());
    EXPECT_EQ(sum, 6u);
    EXPECT_EQ(reader.offset(), bytes.size());
  }
  const std::string map = from_hex("bf 61 61 01 ff");
  CborReader reader = reader_of(map);
  CborOpen open;
  ASSERT_TRUE(reader.open_map(open));
  ASSERT_TRUE(reader.next(open));
  ASSERT_TRUE(reader.skip_value(1) && reader.skip_value(1));
  EXPECT_FALSE(reader.next(open));
  EXPECT_FALSE(reader.failed());
}

TEST(CborReader, AnIndefiniteLengthWithoutAnEndIsAnError) {
  const std::string bytes = from_hex("9f 01");
  CborReader reader = reader_of(bytes);
  CborOpen list;
  ASSERT_TRUE(reader.open_list(list) && reader.next(list) && reader.skip_value(1));
  EXPECT_FALSE(reader.next(list));
  EXPECT_TRUE(reader.failed());
  EXPECT_EQ(reader.code(), ErrorCode::bad_header);
  EXPECT_EQ(reader.offset(), 2u);
}

TEST(CborReader, TheFirstFailureSticks) {
  const std::string bytes = from_hex("01 02");
  CborReader reader = reader_of(bytes);
  CborText text;
  EXPECT_FALSE(reader.text(text));
  const std::string what = reader.what();
  std::uint64_t number = 0;
  CborOpen list{5, false};
  EXPECT_FALSE(reader.unsigned_integer(number));
  EXPECT_FALSE(reader.next(list));
  EXPECT_FALSE(reader.skip_value(0));
  EXPECT_FALSE(reader.take_null());
  EXPECT_EQ(reader.peek(), Kind::none);
  EXPECT_FALSE(reader.fail(ErrorCode::overflow, "another"));
  EXPECT_EQ(reader.what(), what);
  EXPECT_EQ(reader.code(), ErrorCode::bad_header);
}

TEST(CborReaderSkip, SkipsValuesOfEveryKind) {
  for (const char* hex : {"00",
                          "1bffffffffffffffff",
                          "3bffffffffffffffff",
                          "40",
                          "43 010203",
                          "5f 41 00 42 0000 ff",
                          "61 61",
                          "7f 61 61 ff",
                          "80",
                          "82 01 82 02 03",
                          "9f ff",
                          "9f 9f ff a0 ff",
                          "a0",
                          "a1 01 02",
                          "bf 01 02 80 f6 ff",
                          "c2 58 09 010000000000000000",
                          "c0 c1 00",
                          "e0",
                          "f820",
                          "f4",
                          "f6",
                          "f7",
                          "f90000",
                          "fa00000000",
                          "fb0000000000000000"}) {
    EXPECT_TRUE(skips(from_hex(hex))) << hex;
  }
}

TEST(CborReaderSkip, RefusesBrokenGrammar) {
  for (const char* hex : {"",
                          "ff",
                          "1c",
                          "1f",
                          "3f",
                          "5c",
                          "fc",
                          "fe",
                          "df",
                          "81",
                          "82 01",
                          "a1 01",
                          "9f",
                          "9f 01",
                          "bf 01 ff",
                          "bf",
                          "5f 61 61 ff",
                          "7f 41 61 ff",
                          "61 ff",
                          "9bffffffffffffffff 00",
                          "bbffffffffffffffff 00",
                          "bb7fffffffffffffff",
                          "5bffffffffffffffff",
                          "c0",
                          "81 ff",
                          "a1 ff"}) {
    EXPECT_FALSE(skips(from_hex(hex))) << hex;
  }
}

TEST(CborReaderSkip, FollowsListsMapsAnd128LevelsButNoMore) {
  EXPECT_TRUE(skips(repeated("\x81", 128) + from_hex("00")));
  EXPECT_FALSE(skips(repeated("\x81", 129) + from_hex("00")));
  EXPECT_TRUE(skips(repeated("\x9f", 128) + repeated("\xff", 128)));
  EXPECT_FALSE(skips(repeated("\x9f", 129) + repeated("\xff", 129)));
  EXPECT_TRUE(skips(repeated(from_hex("a1 00"), 128) + from_hex("00")));
  EXPECT_FALSE(skips(repeated(from_hex("a1 00"), 129) + from_hex("00")));
  // Levels around the value count.
  EXPECT_TRUE(skips(repeated("\x81", 125) + from_hex("00"), 3));
  EXPECT_FALSE(skips(repeated("\x81", 126) + from_hex("00"), 3));
  const std::string hostile = repeated("\x81", 1'000'000);
  CborReader reader = reader_of(hostile);
  EXPECT_FALSE(reader.skip_value(0));
  EXPECT_EQ(reader.code(), ErrorCode::limit_exceeded);
  // Tags nest nothing.
  EXPECT_TRUE(skips(repeated("\xc1", 100'000) + from_hex("00")));
}

TEST(CborReader, EveryPrefixOfAnItemIsRefused) {
  const std::string item = from_hex(
      "bf 61 61 82 18ff 3903e8 62 6263 5f 42 0102 ff 7f 61 78 ff c2 43 010203 f5 fb3f50624dd2f1a9fc"
      " 00 a1 f6 f93c00 ff");
  ASSERT_TRUE(skips(item));
  for (std::size_t size = 0; size < item.size(); ++size) {
    CborReader reader(std::as_bytes(std::span(item)).first(size));
    EXPECT_FALSE(reader.skip_value(0)) << size;
    EXPECT_LE(reader.offset(), size);
  }
}

TEST(CborReader, TheQuickWayTakesOnlyWhatIsExactlyThere) {
  const std::string bytes =
      from_hex("a3 65") + "dtype" + from_hex("63") + "F32" + from_hex("1900ff 9f");
  CborReader reader = reader_of(bytes);
  EXPECT_FALSE(reader.take_bytes("\xa4"));
  EXPECT_TRUE(
      reader.take_bytes("\xa3\x65"
                        "dtype"));
  std::string_view name;
  std::uint64_t number = 0;
  EXPECT_FALSE(reader.take_unsigned(number));
  EXPECT_TRUE(reader.take_short_text(name));
  EXPECT_EQ(name, "F32");
  EXPECT_TRUE(reader.take_unsigned(number));
  EXPECT_EQ(number, 255u);
  EXPECT_FALSE(reader.take_head(CborReader::list_major, number));  // of indefinite length
  EXPECT_FALSE(reader.failed());
  const std::string cut = from_hex("63") + "F3";
  CborReader short_reader = reader_of(cut);
  EXPECT_FALSE(short_reader.take_short_text(name));
  EXPECT_FALSE(
      short_reader.take_bytes("\x63"
                              "F32"));
}

}  // namespace
}  // namespace andiron::detail
