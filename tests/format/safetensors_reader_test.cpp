// SPDX-License-Identifier: MIT OR Apache-2.0
// Accepts, refuses, survives. Case numbers (ST-nn) are those of docs/formats/safetensors.md.
#include <gtest/gtest.h>

#include <algorithm>

#include "andiron/open.h"
#include "andiron/safetensors_view.h"
#include "andiron/sha256.h"
#include "andiron/write.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

using test::open_safetensors;
using test::safetensors_file;

const std::string two_by_two = R"({"t":{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]}})";

std::string tensor(std::string name, std::string dtype, std::string shape, std::uint64_t begin,
                   std::uint64_t end) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

ErrorCode code_of(const std::string& file, Strictness strictness = Strictness::standard) {
  Result<Archive> archive = open_safetensors(file, strictness);
  EXPECT_FALSE(archive) << file;
  return archive ? ErrorCode::io : archive.error().code;
}

// --- Accepts

TEST(SafetensorsReader, ReadsEveryDtypeOfTheFormat) {
  const struct {
    const char* name;
    DType dtype;
    std::uint64_t bytes;
  } cases[] = {{"BOOL", DType::boolean, 4},
               {"F4", DType::f4e2m1, 2},
               {"F6_E2M3", DType::f6e2m3, 3},
               {"F6_E3M2", DType::f6e3m2, 3},
               {"U8", DType::u8, 4},
               {"I8", DType::i8, 4},
               {"F8_E5M2", DType::f8e5m2, 4},
               {"F8_E4M3", DType::f8e4m3fn, 4},
               {"F8_E8M0", DType::f8e8m0, 4},
               {"F8_E4M3FNUZ", DType::f8e4m3fnuz, 4},
               {"F8_E5M2FNUZ", DType::f8e5m2fnuz, 4},
               {"I16", DType::i16, 8},
               {"U16", DType::u16, 8},
               {"F16", DType::f16, 8},
               {"BF16", DType::bf16, 8},
               {"I32", DType::i32, 16},
               {"U32", DType::u32, 16},
               {"F32", DType::f32, 16},
               {"C64", DType::c64, 32},
               {"F64", DType::f64, 32},
               {"I64", DType::i64, 32},
               {"U64", DType::u64, 32}};
  for (const auto& c : cases) {
    const std::string file =
        safetensors_file("{" + tensor("t", c.name, "[2,2]", 0, c.bytes) + "}", c.bytes);
    Result<Archive> archive = open_safetensors(file);
    ASSERT_TRUE(archive) << c.name << ": " << archive.error().to_string();
    EXPECT_EQ(archive->info(0).dtype, c.dtype);
    EXPECT_EQ(archive->info(0).file_dtype, c.name);
    EXPECT_EQ(archive->snapshot(0).read().value().byte_size(), c.bytes);
  }
}

TEST(SafetensorsReader, ReadsScalarsEmptyTensorsAndNoTensors) {
  const std::string header = "{" + tensor("scalar", "I32", "[]", 0, 4) + "," +
                             tensor("none", "F32", "[2,0]", 4, 4) + "," +
                             tensor("none_too", "F32", "[0,9223372036854775808,4]", 4, 4) + "}";
  const Archive archive = open_safetensors(safetensors_file(header, 4)).value();
  EXPECT_EQ(archive.size(), 3u);
  EXPECT_EQ(archive.get("scalar").value().read().value().byte_size(), 4u);
  EXPECT_EQ(archive.get("none").value().read().value().byte_size(), 0u);
  EXPECT_EQ(archive.get("none_too").value().read().value().shape()[1], 9223372036854775808u);
  EXPECT_TRUE(open_safetensors(safetensors_file("{}", 0)).value().empty());
}

TEST(SafetensorsReader, AcceptsWhiteSpaceAroundAndWithinTheHeader) {
  for (const char* header : {"{}\r \t\n", "\t\n{}\r ", "  { }  "}) {
    EXPECT_TRUE(open_safetensors(safetensors_file(header, 0))) << header;
  }
  const std::string spaced =
      "{ \"t\" : { \"shape\" : [ 2 , 2 ] ,\n\"data_offsets\":[ 0 , 16 ], \"dtype\" : \"I32\" } }  "
      " ";
  EXPECT_TRUE(open_safetensors(safetensors_file(spaced, 16)));
}

TEST(SafetensorsReader, ReadsMetadataAndTakesNullForNone) {
  const std::string header =
      R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"__metadata__":{"b":"2","a":"\u00e9\n"}})";
  const Archive archive = open_safetensors(safetensors_file(header, 1)).value();
  EXPECT_EQ(archive.metadata(), (Metadata{{"a", "\xc3\xa9\n"}, {"b", "2"}}));
  EXPECT_TRUE(
      open_safetensors(safetensors_file(R"({"__metadata__":null})", 0)).value().metadata().empty());
}

TEST(SafetensorsReader, DecodesEscapedNamesAndFindsThem) {
  const std::string header =
      "{" + tensor(R"(a\"b\\c\/\u00e9\ud83d\ude00)", "U8", "[1]", 0, 1) + "}";
  const Archive archive = open_safetensors(safetensors_file(header, 1)).value();
  const std::string name = "a\"b\\c/\xc3\xa9\xf0\x9f\x98\x80";
  EXPECT_EQ(archive.info(0).name, name);
  EXPECT_TRUE(archive.find(name));
}

TEST(SafetensorsReader, TakesTensorsInAnyOrderOfOffsets) {
  const std::string header = "{" + tensor("late", "U8", "[3]", 5, 8) + "," +
                             tensor("empty", "U8", "[0]", 5, 5) + "," +
                             tensor("early", "U8", "[5]", 0, 5) + "}";
  const Archive archive = open_safetensors(safetensors_file(header, "01234567")).value();
  EXPECT_EQ(archive.info(0).name, "late");
  EXPECT_EQ(archive.get("late").value().read().value().bytes().text(), "567");
}

TEST(SafetensorsReader, CarriesUnknownDtypesThroughUnlessStrict) {
  const std::string file =
      safetensors_file("{" + tensor("t", "F3_E1M1", "[5]", 0, 2) + "}", "\x12\x34");
  const Archive archive = open_safetensors(file).value();
  EXPECT_EQ(archive.snapshot(0).dtype_text(), "raw:F3_E1M1");
  EXPECT_EQ(archive.snapshot(0).read().value().bytes().text(), "\x12\x34");
  const Bytes again = write_to_memory(archive).value();
  EXPECT_NE(again.text().find("\"dtype\":\"F3_E1M1\""), std::string_view::npos);
  Result<Archive> strict = open_safetensors(file, Strictness::strict);
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().code, ErrorCode::unsupported_dtype);
  EXPECT_EQ(strict.error().tensor, "t");
}

TEST(SafetensorsReader, NotesUnknownKeysAndNulBytesInNames) {
  const std::string header =
      R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"extra":{"x":[1,{"y":null}]}},)"
      R"("n\u0000":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
  const Archive archive = open_safetensors(safetensors_file(header, 2)).value();
  ASSERT_EQ(archive.notes().size(), 2u);
  EXPECT_NE(archive.notes()[0].find("unknown keys"), std::string::npos);
  EXPECT_NE(archive.notes()[1].find("NUL"), std::string::npos);
}

TEST(SafetensorsReader, UnderstandsTiedNamesInMetadata) {
  const std::string header =
      "{\"__metadata__\":{\"format\":\"pt\",\"lm_head.weight\":\"embed.weight\"}," +
      tensor("embed.weight", "U8", "[2]", 0, 2) + "}";
  const Archive archive = open_safetensors(safetensors_file(header, "ab")).value();
  EXPECT_EQ(archive.size(), 1u);
  EXPECT_EQ(archive.aliases(), (Aliases{{"lm_head.weight", "embed.weight"}}));
  EXPECT_EQ(archive.get("lm_head.weight").value().read().value().bytes().text(), "ab");
  EXPECT_EQ(archive.get("lm_head.weight").value().full_path(), "lm_head.weight");
}

TEST(SafetensorsReader, ReadsADtypeThatIsSpelledWithEscapes) {
  const std::string file =
      safetensors_file("{" + tensor("t", R"(F\u0033\u0032)", "[1]", 0, 4) + "}", 4);
  EXPECT_EQ(open_safetensors(file).value().info(0).dtype, DType::f32);
  EXPECT_EQ(open_safetensors(
                safetensors_file("{" + tensor("t", R"(F\u0033\u0032)", "[1]", 0, 5) + "}", 5))
                .error()
                .code,
            ErrorCode::size_mismatch);
}

TEST(SafetensorsReader, ReadsNoTensorWhenItOpens) {
  const std::string header = "{" + tensor("t", "U8", "[1000000]", 0, 1'000'000) + "}";
  const std::string file = safetensors_file(header, 1'000'000);
  const auto* begin = reinterpret_cast<const std::byte*>(file.data());
  auto source =
      std::make_shared<test::TestSource>(std::vector<std::byte>(begin, begin + file.size()));
  ASSERT_TRUE(open(ByteSourcePtr(source)));
  EXPECT_LE(source->bytes_read(), 512 + 8 + header.size());
}

// --- Refuses

TEST(SafetensorsReader, RefusesFilesThatEndTooSoon) {  // ST-01, ST-02
  EXPECT_EQ(code_of(""), ErrorCode::truncated);
  EXPECT_EQ(code_of("1234567"), ErrorCode::truncated);
  EXPECT_EQ(code_of(std::string("\x3c\0\0\0\0\0\0\0", 8)), ErrorCode::truncated);
  EXPECT_EQ(code_of(safetensors_file(two_by_two, 14)), ErrorCode::truncated);
}

TEST(SafetensorsReader, RefusesHeadersOverTheLimit) {  // ST-02
  EXPECT_EQ(code_of(std::string("\x3c\0\0\0\0\xff\xff\xff{}", 10)), ErrorCode::header_too_large);
  EXPECT_EQ(code_of(std::string(8, '\xff') + "{}"), ErrorCode::header_too_large);
  Limits small;
  small.header_bytes = 10;
  Result<Archive> archive =
      open_safetensors(safetensors_file(two_by_two, 16), Strictness::standard, small);
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().code, ErrorCode::header_too_large);
  EXPECT_EQ(archive.error().expected, "at most 10");
}

TEST(SafetensorsReader, RefusesHeadersThatAreNotStrictJson) {  // ST-03
  for (const char* header : {"",
                             " ",
                             "{",
                             "[]",
                             "\xff",
                             "\xef\xbb\xbf{}",
                             "{}x",
                             "{},",
                             "{\"a\"}",
                             "{\"a\":}",
                             "{,}",
                             "{} {}",
                             "{\"a\xff\":1}",
                             "{\"a\n\":1}",
                             "{\"\\ud800\":1}",
                             "{\"\\x\":1}",
                             "nul",
                             "{\"__metadata__\":1}",
                             "{\"__metadata__\":{\"a\":1}}",
                             "{\"__metadata__\":[]}",
                             "{'a':1}",
                             "{/**/}",
                             "{\"a\":{}}"}) {
    EXPECT_EQ(code_of(safetensors_file(header, 0)), ErrorCode::bad_header) << header;
  }
  Result<Archive> padded = open_safetensors(safetensors_file(std::string("{}\0\0\0\0", 6), 0));
  ASSERT_FALSE(padded);
  EXPECT_EQ(padded.error().code, ErrorCode::bad_header);
  EXPECT_NE(padded.error().hint.find("lenient"), std::string::npos);
}

TEST(SafetensorsReader, RefusesNamesFieldsAndMetadataGivenTwice) {  // ST-04
  const std::string t = tensor("t", "U8", "[1]", 0, 1);
  EXPECT_EQ(code_of(safetensors_file("{" + t + "," + t + "}", 1)), ErrorCode::duplicate_key);
  const std::string escaped = tensor(R"(\u0074)", "U8", "[1]", 1, 2);
  EXPECT_EQ(code_of(safetensors_file("{" + t + "," + escaped + "}", 2)), ErrorCode::duplicate_key);
  EXPECT_EQ(code_of(safetensors_file(R"({"__metadata__":{},"__metadata__":{}})", 0)),
            ErrorCode::duplicate_key);
  EXPECT_EQ(code_of(safetensors_file(R"({"__metadata__":{"a":"1","a":"2"}})", 0)),
            ErrorCode::duplicate_key);
  for (const char* field : {R"("dtype":"U8")", R"("shape":[1])", R"("data_offsets":[0,1])"}) {
    const std::string header =
        std::string(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],)") + field + "}}";
    EXPECT_EQ(code_of(safetensors_file(header, 1)), ErrorCode::duplicate_key) << field;
  }
}

TEST(SafetensorsReader, RefusesGapsOverlapsAndReversedOffsetsNamingTheTensor) {  // ST-05
  const std::string a = tensor("a", "U8", "[4]", 0, 4);
  const struct {
    std::string second;
    const char* blamed;
  } cases[] = {{tensor("b", "U8", "[4]", 5, 9), "b"},
               {tensor("b", "U8", "[4]", 3, 7), "b"},
               {tensor("b", "U8", "[4]", 0, 4), "b"},
               {tensor("b", "U8", "[4]", 8, 4), "b"}};
  for (const auto& c : cases) {
    Result<Archive> archive = open_safetensors(safetensors_file("{" + a + "," + c.second + "}", 9));
    ASSERT_FALSE(archive) << c.second;
    EXPECT_EQ(archive.error().code, ErrorCode::bad_offsets) << c.second;
    EXPECT_EQ(archive.error().tensor, c.blamed) << c.second;
  }
  EXPECT_EQ(code_of(safetensors_file("{" + tensor("a", "U8", "[4]", 4, 8) + "}", 8)),
            ErrorCode::bad_offsets);
  std::string ten;
  for (int i = 0; i < 10; ++i) {
    ten += (i == 0 ? "" : ",") + tensor("t" + std::to_string(i), "I32", "[2,2]", 0, 16);
  }
  EXPECT_EQ(code_of(safetensors_file("{" + ten + "}", 16)), ErrorCode::bad_offsets);
}

TEST(SafetensorsReader, RefusesTrailingAndMissingBytes) {  // ST-06
  EXPECT_EQ(code_of(safetensors_file(two_by_two, 17)), ErrorCode::size_mismatch);
  EXPECT_EQ(code_of(safetensors_file("{}", 1)), ErrorCode::size_mismatch);
  Result<Archive> archive = open_safetensors(safetensors_file(two_by_two, 15));
  EXPECT_EQ(archive.error().code, ErrorCode::truncated);
  EXPECT_EQ(archive.error().tensor, "t");
}

TEST(SafetensorsReader, RefusesShapesThatOverflowOrLeavePartOfAByte) {  // ST-07
  for (const char* shape : {"[2,18446744073709551614]", "[2,9223372036854775807]",
                            "[9223372036854775808,4,0]", "[4294967296,4294967296]"}) {
    EXPECT_EQ(code_of(safetensors_file("{" + tensor("t", "I32", shape, 0, 16) + "}", 16)),
              ErrorCode::overflow)
        << shape;
  }
  EXPECT_EQ(code_of(safetensors_file("{" + tensor("t", "F4", "[1,3]", 0, 1) + "}", 1)),
            ErrorCode::misaligned);
  EXPECT_EQ(code_of(safetensors_file("{" + tensor("t", "F6_E2M3", "[2]", 0, 1) + "}", 1)),
            ErrorCode::misaligned);
}

TEST(SafetensorsReader, RefusesSizesThatDisagreeWithShapeAndDtype) {  // ST-08
  Result<Archive> archive =
      open_safetensors(safetensors_file("{" + tensor("t", "I32", "[2,2]", 0, 4) + "}", 4));
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().code, ErrorCode::size_mismatch);
  EXPECT_EQ(archive.error().to_string(),
            "memory: tensor 't': the data size does not match dtype and shape: 4 bytes; expected "
            "16 for i32 "
            "[2, 2]");
}

TEST(SafetensorsReader, RefusesNumbersThatAreNotPlainSizes) {  // ST-09
  for (const char* shape : {"[-1]", "[1.0]", "[1e0]", "[\"1\"]", "[18446744073709551616]", "[01]",
                            "[-0]", "[null]", "[[1]]", "1", "null", "[1,]"}) {
    const std::string header =
        std::string(R"({"t":{"dtype":"U8","shape":)") + shape + R"(,"data_offsets":[0,1]}})";
    EXPECT_EQ(code_of(safetensors_file(header, 1)), ErrorCode::bad_header) << shape;
  }
  for (const char* offsets : {"[0]", "[0,1,2]", "[]", "[0,-1]", "[0,1.0]", "{}", "[0 1]"}) {
    const std::string header =
        std::string(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":)") + offsets + "}}";
    EXPECT_EQ(code_of(safetensors_file(header, 1)), ErrorCode::bad_header) << offsets;
  }
  for (const char* info :
       {R"(["U8",[1],[0,1]])", R"({"dtype":{"U8":null},"shape":[1],"data_offsets":[0,1]})",
        R"({"shape":[1],"data_offsets":[0,1]})", R"({"dtype":"U8","shape":[1]})",
        R"({"dtype":"U8","data_offsets":[0,1]})",
        R"({"dtype":7,"shape":[1],"data_offsets":[0,1]})"}) {
    EXPECT_EQ(code_of(safetensors_file(std::string("{\"t\":") + info + "}", 1)),
              ErrorCode::bad_header)
        << info;
  }
}

TEST(SafetensorsReader, KeepsToItsLimits) {  // ST-10
  const std::string deep = R"({"t":{"x":)" + std::string(100'000, '[') + std::string(100'000, ']') +
                           R"(,"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  EXPECT_EQ(code_of(safetensors_file(deep, 1)), ErrorCode::limit_exceeded);

  std::string shape = "[1";
  for (int i = 0; i < 64; ++i) shape += ",1";
  EXPECT_EQ(code_of(safetensors_file("{" + tensor("t", "U8", shape + "]", 0, 1) + "}", 1)),
            ErrorCode::limit_exceeded);

  Limits small;
  small.tensors = 2;
  small.name_bytes = 5;
  small.metadata_bytes = 8;
  auto limited = [&](const std::string& header, std::size_t bytes) {
    Result<Archive> archive =
        open_safetensors(safetensors_file(header, bytes), Strictness::standard, small);
    return archive ? ErrorCode::io : archive.error().code;
  };
  const std::string three = "{" + tensor("a", "U8", "[0]", 0, 0) + "," +
                            tensor("b", "U8", "[0]", 0, 0) + "," + tensor("c", "U8", "[0]", 0, 0) +
                            "}";
  EXPECT_EQ(limited(three, 0), ErrorCode::limit_exceeded);
  EXPECT_EQ(limited("{" + tensor("abcdef", "U8", "[0]", 0, 0) + "}", 0), ErrorCode::limit_exceeded);
  EXPECT_EQ(limited(R"({"__metadata__":{"key":"value too long"}})", 0), ErrorCode::limit_exceeded);
}

TEST(SafetensorsReader, LenientTurnsWhatIsHarmlessIntoNotes) {
  const std::string a = tensor("a", "U8", "[4]", 0, 4);
  const std::string b = tensor("b", "U8", "[4]", 5, 9);
  const struct {
    std::string file;
    const char* note;
  } cases[] = {{safetensors_file("{" + a + "," + b + "}", 9), "gap"},
               {safetensors_file("{" + a + "}", 7), "after the last tensor"},
               {safetensors_file(std::string("{}\0\0", 4), 0), "NUL"},
               {safetensors_file(R"({"__metadata__":{"k":"1","k":"2"}})", 0), "twice"}};
  for (const auto& c : cases) {
    EXPECT_FALSE(open_safetensors(c.file));
    Result<Archive> archive = open_safetensors(c.file, Strictness::lenient);
    ASSERT_TRUE(archive) << c.note << ": " << archive.error().to_string();
    ASSERT_EQ(archive->notes().size(), 1u) << c.note;
    EXPECT_NE(archive->notes()[0].find(c.note), std::string::npos) << archive->notes()[0];
  }
  // What could mislead stays refused.
  const std::string overlap = "{" + a + "," + tensor("b", "U8", "[4]", 2, 6) + "}";
  EXPECT_EQ(code_of(safetensors_file(overlap, 6), Strictness::lenient), ErrorCode::bad_offsets);
  EXPECT_EQ(code_of(safetensors_file("{" + a + "," + a + "}", 4), Strictness::lenient),
            ErrorCode::duplicate_key);
}

TEST(SafetensorsReader, AMillionTinyTensorsAreIndexedNotRefused) {
  std::string header = "{";
  for (int i = 0; i < 1'000'000; ++i) {
    if (i != 0) header += ',';
    header += tensor("t" + std::to_string(i), "U8", "[0]", 0, 0);
  }
  const Archive archive = open_safetensors(safetensors_file(header + "}", 0)).value();
  EXPECT_EQ(archive.size(), 1'000'000u);
  EXPECT_EQ(archive.find("t999999"), 999'999u);
}

// --- Survives

// Whatever was done to a file, what opens is whole: every tensor lies inside it and can be read.
void expect_error_or_sound(const std::string& file) {
  for (Strictness strictness : {Strictness::lenient, Strictness::standard, Strictness::strict}) {
    Result<Archive> archive = open_safetensors(file, strictness);
    if (!archive) {
      EXPECT_FALSE(archive.error().to_string().empty());
      continue;
    }
    for (std::size_t i = 0; i < archive->size(); ++i) {
      const TensorInfo info = archive->info(i);
      ASSERT_LE(*info.offset + info.byte_size, file.size());
      ASSERT_TRUE(archive->snapshot(i).read());
      ASSERT_EQ(archive->find(info.name), i);
    }
  }
}

std::vector<std::string> small_files() {
  return {
      safetensors_file(two_by_two + "     ", 16),
      safetensors_file(R"({"__metadata__":{"format":"pt","\u00e9":"\"x\""},)" +
                           tensor("a.weight", "F16", "[2,3]", 0, 12) + "," +
                           tensor("a.bias", "F32", "[]", 12, 16) + "," +
                           tensor(R"(\ud83d\ude00)", "F4", "[4]", 16, 18) + "}",
                       18),
      safetensors_file(
          "{" + tensor("e", "I64", "[0,3]", 0, 0) + "," + tensor("u", "X9", "[2]", 0, 5) +
              R"(,"x":{"k":[true,null,-1.5e3],"dtype":"BOOL","shape":[1],"data_offsets":[5,6]}})",
          6),
  };
}

TEST(SafetensorsReader, EveryTruncationIsAnErrorOrSound) {
  for (const std::string& file : small_files()) {
    ASSERT_TRUE(open_safetensors(file)) << open_safetensors(file).error().to_string();
    for (std::size_t size = 0; size < file.size(); ++size) {
      EXPECT_FALSE(open_safetensors(file.substr(0, size))) << size;
      expect_error_or_sound(file.substr(0, size));
    }
  }
}

TEST(SafetensorsReader, EveryChangedByteIsAnErrorOrSound) {
  for (const std::string& file : small_files()) {
    for (std::size_t at = 0; at < file.size(); ++at) {
      for (int value = 0; value < 256; ++value) {
        std::string changed = file;
        changed[at] = static_cast<char>(value);
        expect_error_or_sound(changed);
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace andiron
