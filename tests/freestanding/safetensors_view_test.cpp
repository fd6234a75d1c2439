// SPDX-License-Identifier: MIT OR Apache-2.0
// SafeTensors files in memory.
#include "andiron/safetensors_view.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/decoded_text.h"

namespace andiron {
namespace {

using test::decode_text;
using File = std::vector<std::byte>;

// A file of this header and so many bytes of data, which count 0, 1, 2 ...
File file_of(std::string_view header, std::size_t data_bytes) {
  File file(8 + header.size() + data_bytes);
  const std::uint64_t length = header.size();
  for (unsigned i = 0; i < 8; ++i) file[i] = static_cast<std::byte>(length >> 8 * i & 0xff);
  std::memcpy(file.data() + 8, header.data(), header.size());
  for (std::size_t i = 0; i < data_bytes; ++i) {
    file[8 + header.size() + i] = static_cast<std::byte>(i);
  }
  return file;
}

// One entry of a header: u8 of the shape [end - begin].
std::string u8(std::string_view name, std::size_t begin, std::size_t end) {
  return "\"" + std::string(name) + R"(":{"dtype":"U8","shape":[)" + std::to_string(end - begin) +
         R"(],"data_offsets":[)" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

ViewStatus open(const File& file, SafetensorsView& view) {
  return SafetensorsView::open(file, view);
}

ViewStatus open_header(std::string_view header, std::size_t data_bytes = 0) {
  SafetensorsView view;
  return open(file_of(header, data_bytes), view);
}

ViewStatus layout_of(std::string_view header, std::size_t data_bytes) {
  const File file = file_of(header, data_bytes);
  SafetensorsView view;
  const ViewStatus status = open(file, view);
  if (!status.ok()) return status;
  std::vector<SafetensorsScratch> scratch(view.tensor_count());
  return view.check_layout(scratch);
}

struct KnownDType {
  const char* name;
  DType dtype;
};
// In the order by which the reference implementation lays tensors out. The library has the same
// table, which is held against this one.
constexpr KnownDType known_dtypes[] = {
    {"BOOL", DType::boolean},
    {"F4", DType::f4e2m1},
    {"F6_E2M3", DType::f6e2m3},
    {"F6_E3M2", DType::f6e3m2},
    {"U8", DType::u8},
    {"I8", DType::i8},
    {"F8_E5M2", DType::f8e5m2},
    {"F8_E4M3", DType::f8e4m3fn},
    {"F8_E8M0", DType::f8e8m0},
    {"F8_E4M3FNUZ", DType::f8e4m3fnuz},
    {"F8_E5M2FNUZ", DType::f8e5m2fnuz},
    {"I16", DType::i16},
    {"U16", DType::u16},
    {"F16", DType::f16},
    {"BF16", DType::bf16},
    {"I32", DType::i32},
    {"U32", DType::u32},
    {"F32", DType::f32},
    {"C64", DType::c64},
    {"F64", DType::f64},
    {"I64", DType::i64},
    {"U64", DType::u64},
};

TEST(SafetensorsDType, KnowsAllTwentyTwoNames) {
  static_assert(std::size(known_dtypes) == 22);
  int rank = 0;
  for (const KnownDType& known : known_dtypes) {
    EXPECT_EQ(safetensors_dtype(known.name), known.dtype) << known.name;
    EXPECT_EQ(safetensors_dtype_name(known.dtype), known.name);
    EXPECT_EQ(safetensors_dtype_rank(known.dtype), rank++) << known.name;
  }
}

TEST(SafetensorsDType, TellsWhatTheFormatLacks) {
  for (const DType dtype : {DType::c32, DType::c128, DType::qfloat, DType::raw}) {
    EXPECT_EQ(safetensors_dtype_name(dtype), "");
    EXPECT_EQ(safetensors_dtype_rank(dtype), -1);
  }
  for (const char* name : {"", "f32", "F", "F3", "F322", "F32 ", "FLOAT", "F8", "C128"}) {
    EXPECT_EQ(safetensors_dtype(name), DType::raw) << name;
  }
}

TEST(SafetensorsView, OpensEveryDType) {
  for (const KnownDType& known : known_dtypes) {
    const std::size_t bytes = 16 * bit_width(known.dtype) / 8;
    const std::string fields = "\"dtype\":\"" + std::string(known.name) + "\",\"shape\":[2,8],";
    const auto header = [&](std::size_t end) {
      return "{\"x\":{" + fields + "\"data_offsets\":[0," + std::to_string(end) + "]}}";
    };
    const File file = file_of(header(bytes), bytes);
    SafetensorsView view;
    ASSERT_TRUE(open(file, view).ok()) << known.name;
    SafetensorsEntry entry;
    ASSERT_TRUE(view.find("x", entry).ok());
    EXPECT_EQ(entry.dtype, known.dtype);
    EXPECT_EQ(entry.dtype_name.raw, known.name);
    EXPECT_EQ(view.data(entry).size(), bytes);
    EXPECT_EQ(open_header(header(bytes + 1), bytes + 1).code, ErrorCode::size_mismatch);
    EXPECT_EQ(open_header(header(bytes - 1), bytes).code, ErrorCode::size_mismatch);
  }
}

TEST(SafetensorsView, GivesTensorsWithShapeAndData) {
  const File file = file_of(
      "{\"a\":{\"dtype\":\"U16\",\"shape\":[2,3],\"data_offsets\":[0,12]}," + u8("b", 12, 15) + "}",
      15);
  SafetensorsView view;
  ASSERT_TRUE(open(file, view).ok());
  EXPECT_EQ(view.tensor_count(), 2u);
  SafetensorsEntry entry;
  ASSERT_TRUE(view.find("a", entry).ok());
  ASSERT_EQ(entry.dims().size(), 2u);
  EXPECT_EQ(entry.dims()[0], 2u);
  EXPECT_EQ(entry.dims()[1], 3u);
  EXPECT_EQ(view.data(entry).data(), file.data() + file.size() - 15);
  ASSERT_TRUE(view.find("b", entry).ok());
  EXPECT_EQ(entry.rank, 1u) << "nothing is left of the entry before";
  EXPECT_EQ(view.data(entry)[0], std::byte{12});
  EXPECT_EQ(file[entry.header_offset], std::byte{'"'});
  EXPECT_EQ(file[entry.header_offset + 1], std::byte{'b'});
  EXPECT_EQ(view.find("c", entry).code, ErrorCode::missing_tensor);
  EXPECT_EQ(view.find("__metadata__", entry).code, ErrorCode::missing_tensor);
}

TEST(SafetensorsView, FindsNamesThatAreEscapedInTheHeader) {
  const std::string header = "{" + u8(R"(w\u0065ight)", 0, 1) + "," + u8(R"(\ud83d\udd25)", 1, 2) +
                             "," + u8(R"(a\"b\\c\/d)", 2, 3) + "," + u8("", 3, 4) + "," +
                             u8(R"(\u0000)", 4, 5) + "," + u8("caf\xc3\xa9", 5, 6) + "}";
  const File file = file_of(header, 6);
  SafetensorsView view;
  ASSERT_TRUE(open(file, view).ok());
  const std::string names[] = {"weight", "\xf0\x9f\x94\xa5",   "a\"b\\c/d",
                               "",       std::string(1, '\0'), "caf\xc3\xa9"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    SafetensorsEntry entry;
    ASSERT_TRUE(view.find(names[i], entry).ok()) << i;
    EXPECT_EQ(entry.begin, i);
    EXPECT_EQ(decode_text(entry.name), names[i]);
  }
  SafetensorsEntry entry;
  EXPECT_FALSE(view.find(R"(w\u0065ight)", entry).ok()) << "the spelling is not the name";
}

TEST(SafetensorsView, TakesFieldsInAnyOrderAndWhiteSpaceAnywhere) {
  const File file = file_of(
      " \n{ \"x\" : { \"data_offsets\" : [ 0 , 4 ] ,\t\"shape\" : [ ] , \"dtype\" : \"F32\" } } "
      "\r\n",
      4);
  SafetensorsView view;
  ASSERT_TRUE(open(file, view).ok());
  SafetensorsEntry entry;
  ASSERT_TRUE(view.find("x", entry).ok());
  EXPECT_EQ(entry.rank, 0u) << "a scalar";
}

TEST(SafetensorsView, TakesTensorsWithoutElements) {
  EXPECT_TRUE(layout_of("{}", 0).ok());
  EXPECT_TRUE(
      layout_of("{" + u8("a", 0, 0) + "," + u8("b", 0, 3) + "," + u8("c", 3, 3) + "}", 3).ok());
  EXPECT_TRUE(layout_of(R"({"a":{"dtype":"F32","shape":[2,0,3],"data_offsets":[0,0]}})", 0).ok());
}

TEST(SafetensorsView, CarriesTypesItDoesNotKnow) {
  const File file = file_of(R"({"a":{"dtype":"Q4_K","shape":[7],"data_offsets":[0,5]}})", 5);
  SafetensorsView view;
  ASSERT_TRUE(open(file, view).ok());
  SafetensorsEntry entry;
  ASSERT_TRUE(view.find("a", entry).ok());
  EXPECT_EQ(entry.dtype, DType::raw);
  EXPECT_EQ(entry.dtype_name.raw, "Q4_K");
}

TEST(SafetensorsView, IgnoresAndCountsUnknownFields) {
  const File file = file_of(
      R"({"a":{"x":[{"y":[]}],"dtype":"U8","shape":[1],"z":null,"data_offsets":[0,1]}})", 1);
  SafetensorsView view;
  ASSERT_TRUE(open(file, view).ok());
  SafetensorsEntry entry;
  ASSERT_TRUE(view.find("a", entry).ok());
  EXPECT_EQ(entry.unknown_keys, 2u);
}

TEST(SafetensorsView, RefusesHeadersThatBreakTheRules) {
  const struct {
    const char* header;
    ErrorCode code;
  } cases[] = {
      {"", ErrorCode::bad_header},
      {"[]", ErrorCode::bad_header},
      {"null", ErrorCode::bad_header},
      {"{", ErrorCode::bad_header},
      {"{}x", ErrorCode::bad_header},
      {"{}{}", ErrorCode::bad_header},
      {R"({"a"})", ErrorCode::bad_header},
      {R"({"a":1})", ErrorCode::bad_header},
      {R"({"a":null})", ErrorCode::bad_header},
      {R"({"a":{}})", ErrorCode::bad_header},
      {R"({"a":{"dtype":"U8","shape":[1]}})", ErrorCode::bad_header},
      {R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", ErrorCode::bad_header},
      {R"({"a":{"shape":[1],"data_offsets":[0,1]}})", ErrorCode::bad_header},
      {R"({"a":{"dtype":8,"shape":[1],"data_offsets":[0,1]}})", ErrorCode::bad_header},
      {R"({"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}})", ErrorCode::bad_header},
      {R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", ErrorCode::bad_header},
      {R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", ErrorCode::bad_header},
      {R"({"a":{"dtype":"U8","shape":["1"],"data_offsets":[0,1]}})", ErrorCode::bad_header},
      {R"({"a":{"dtype":"U8","shape":[1,],"data_offsets":[0,1]}})", ErrorCode::bad_header},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", ErrorCode::bad_header},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})", ErrorCode::bad_header},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":{}}})", ErrorCode::bad_header},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},})", ErrorCode::bad_header},
      {R"({"a":{"dtype":"U8","shape":[18446744073709551616],"data_offsets":[0,1]}})",
       ErrorCode::bad_header},
      {R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
       ErrorCode::duplicate_key},
      {R"({"a":{"dtype":"U8","shape":[1],"sh\u0061pe":[1],"data_offsets":[0,1]}})",
       ErrorCode::duplicate_key},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", ErrorCode::bad_offsets},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,1]}})", ErrorCode::size_mismatch},
      {R"({"a":{"dtype":"F4","shape":[1],"data_offsets":[0,1]}})", ErrorCode::misaligned},
      {R"({"a":{"dtype":"F6_E2M3","shape":[3],"data_offsets":[0,2]}})", ErrorCode::misaligned},
      {R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})",
       ErrorCode::overflow},
      {R"({"a":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]}})",
       ErrorCode::overflow},
      {R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", ErrorCode::truncated},
      {R"({"a":{"dtype":"Q","shape":[],"data_offsets":[0,18446744073709551615]}})",
       ErrorCode::truncated},
      {R"({"a":{"dtype":"Q","shape":[],)"
       R"("data_offsets":[18446744073709551615,18446744073709551615]}})",
       ErrorCode::truncated},
      {R"({"__metadata__":1})", ErrorCode::bad_header},
      {R"({"__metadata__":[]})", ErrorCode::bad_header},
      {R"({"__metadata__":{"a":1}})", ErrorCode::bad_header},
      {R"({"__metadata__":{"a":null}})", ErrorCode::bad_header},
      {R"({"__metadata__":{},"__metadata__":{}})", ErrorCode::duplicate_key},
      {R"({"__metadata__":{},"__met\u0061data__":null})", ErrorCode::duplicate_key},
  };
  for (const auto& [header, code] : cases) {
    SafetensorsView view;
    const ViewStatus status = open(file_of(header, 1), view);
    ASSERT_FALSE(status.ok()) << header;
    EXPECT_EQ(status.code, code) << header << ": " << status.what;
    EXPECT_GE(status.offset, 8u) << header;
    EXPECT_LE(status.offset, 8 + std::strlen(header)) << header;
    EXPECT_EQ(view.tensor_count(), 0u) << "nothing is left behind";
  }
}

TEST(SafetensorsView, RefusesLengthsThatTheFileDoesNotHold) {
  SafetensorsView view;
  for (std::size_t size = 0; size < 8; ++size) {
    EXPECT_EQ(open(File(size), view).code, ErrorCode::truncated) << size;
  }
  File file = file_of("{}", 0);
  file[0] = std::byte{3};
  EXPECT_EQ(open(file, view).code, ErrorCode::truncated);
  file[4] = std::byte{1};
  EXPECT_EQ(open(file, view).code, ErrorCode::header_too_large);
  for (unsigned i = 0; i < 8; ++i) file[i] = std::byte{0xff};
  EXPECT_EQ(open(file, view).code, ErrorCode::header_too_large);
}

TEST(SafetensorsView, TakesAsManyDimensionsAsTheLimitAllows) {
  const auto header = [](std::size_t rank) {
    std::string shape;
    for (std::size_t i = 0; i < rank; ++i) shape += shape.empty() ? "1" : ",1";
    return R"({"a":{"dtype":"U8","shape":[)" + shape + R"(],"data_offsets":[0,1]}})";
  };
  EXPECT_TRUE(open_header(header(max_rank), 1).ok());
  EXPECT_EQ(open_header(header(max_rank + 1), 1).code, ErrorCode::limit_exceeded);
  EXPECT_EQ(open_header(header(1000), 1).code, ErrorCode::limit_exceeded);
}

TEST(SafetensorsView, UnknownFieldsAreFollowedAsDeepAsTheLimitAllows) {
  const auto header = [](unsigned levels) {
    return R"({"a":{"x":)" + std::string(levels, '[') + std::string(levels, ']') +
           R"(,"dtype":"U8","shape":[],"data_offsets":[0,1]}})";
  };
  EXPECT_TRUE(open_header(header(max_json_depth - 2), 1).ok());
  EXPECT_EQ(open_header(header(max_json_depth - 1), 1).code, ErrorCode::limit_exceeded);
  EXPECT_EQ(open_header(header(100'000), 1).code, ErrorCode::limit_exceeded);
}

TEST(SafetensorsHeader, WalksThroughMetadataAndTensorsInFileOrder) {
  const std::string text =
      "{" + u8("a", 0, 1) + R"(,"__metadata__": {"k":"v","\u0065":"\n"} ,)" + u8("b", 1, 2) + "}";
  SafetensorsHeader header(text);
  SafetensorsEntry entry;
  EXPECT_EQ(header.metadata_text(), "");
  ASSERT_EQ(header.next(entry), SafetensorsHeader::Item::tensor);
  EXPECT_EQ(decode_text(entry.name), "a");
  ASSERT_EQ(header.next(entry), SafetensorsHeader::Item::metadata);
  EXPECT_EQ(decode_text(header.metadata_key()), "k");
  EXPECT_EQ(decode_text(header.metadata_value()), "v");
  ASSERT_EQ(header.next(entry), SafetensorsHeader::Item::metadata);
  EXPECT_EQ(decode_text(header.metadata_key()), "e");
  EXPECT_EQ(decode_text(header.metadata_value()), "\n");
  ASSERT_EQ(header.next(entry), SafetensorsHeader::Item::tensor);
  EXPECT_EQ(decode_text(entry.name), "b");
  EXPECT_EQ(header.metadata_text(), R"({"k":"v","\u0065":"\n"})");
  ASSERT_EQ(header.next(entry), SafetensorsHeader::Item::end);
  EXPECT_EQ(header.next(entry), SafetensorsHeader::Item::end);
  EXPECT_TRUE(header.status().ok());
}

TEST(SafetensorsHeader, TakesMetadataThatIsEmptyOrNull) {
  for (const char* value : {"{}", "null", "{ }"}) {
    const std::string text = "{\"__metadata__\":" + std::string(value) + "," + u8("a", 0, 1) + "}";
    SafetensorsHeader header(text);
    SafetensorsEntry entry;
    ASSERT_EQ(header.next(entry), SafetensorsHeader::Item::tensor) << value;
    EXPECT_EQ(header.metadata_text(), value);
    EXPECT_EQ(header.next(entry), SafetensorsHeader::Item::end);
  }
}

TEST(SafetensorsHeader, FailsTheSameWayAgain) {
  const std::string text = "{" + u8("a", 0, 1) + ",oops";
  SafetensorsHeader header(text);
  SafetensorsEntry entry;
  ASSERT_EQ(header.next(entry), SafetensorsHeader::Item::tensor);
  ASSERT_EQ(header.next(entry), SafetensorsHeader::Item::error);
  const ViewStatus first = header.status();
  EXPECT_EQ(first.offset, 8 + text.find("oops"));
  ASSERT_EQ(header.next(entry), SafetensorsHeader::Item::error);
  EXPECT_EQ(header.status().offset, first.offset);
  EXPECT_EQ(header.status().what, first.what);
}

TEST(SafetensorsLayout, TakesTensorsInAnyOrderThatCoverTheData) {
  EXPECT_TRUE(layout_of("{" + u8("a", 0, 2) + "," + u8("b", 2, 5) + "}", 5).ok());
  EXPECT_TRUE(
      layout_of("{" + u8("c", 4, 5) + "," + u8("a", 0, 2) + "," + u8("b", 2, 4) + "}", 5).ok());
}

TEST(SafetensorsLayout, RefusesGapsOverlapsAndTrailingBytes) {
  const struct {
    std::string header;
    std::size_t data_bytes;
    ErrorCode code;
    const char* at;  // the name of the tensor it concerns
  } cases[] = {
      {"{" + u8("a", 1, 2) + "}", 2, ErrorCode::bad_offsets, "a"},
      {"{" + u8("a", 0, 2) + "," + u8("b", 3, 5) + "}", 5, ErrorCode::bad_offsets, "b"},
      {"{" + u8("b", 3, 5) + "," + u8("a", 0, 2) + "}", 5, ErrorCode::bad_offsets, "b"},
      {"{" + u8("a", 0, 3) + "," + u8("b", 2, 5) + "}", 5, ErrorCode::bad_offsets, "b"},
      {"{" + u8("a", 0, 5) + "," + u8("b", 1, 2) + "}", 5, ErrorCode::bad_offsets, "b"},
      {"{" + u8("a", 0, 5) + "," + u8("b", 0, 5) + "}", 5, ErrorCode::bad_offsets, ""},
      {"{" + u8("a", 0, 5) + "," + u8("b", 2, 2) + "}", 5, ErrorCode::bad_offsets, "b"},
      {"{" + u8("a", 0, 5) + "}", 6, ErrorCode::size_mismatch, ""},
      {"{}", 1, ErrorCode::size_mismatch, ""},
  };
  for (const auto& [header, data_bytes, code, at] : cases) {
    const ViewStatus status = layout_of(header, data_bytes);
    ASSERT_FALSE(status.ok()) << header;
    EXPECT_EQ(status.code, code) << header << ": " << status.what;
    if (*at != '\0') {
      EXPECT_EQ(status.offset, 8 + header.find("\"" + std::string(at) + "\"")) << header;
    }
  }
}

TEST(SafetensorsLayout, RefusesNamesGivenTwiceHoweverTheyAreSpelled) {
  const std::string spellings[][2] = {{"a", "a"},
                                      {"a", R"(\u0061)"},
                                      {R"(\u0061)", R"(\u0061)"},
                                      {R"(\/)", "/"},
                                      {R"(\ud83d\udd25)", "\xf0\x9f\x94\xa5"},
                                      {"", ""}};
  for (const auto& [first, second] : spellings) {
    const std::string header =
        "{" + u8(first, 0, 1) + "," + u8("between", 1, 2) + "," + u8(second, 2, 3) + "}";
    const ViewStatus status = layout_of(header, 3);
    ASSERT_FALSE(status.ok()) << header;
    EXPECT_EQ(status.code, ErrorCode::duplicate_key) << header;
  }
  EXPECT_TRUE(layout_of("{" + u8("a", 0, 1) + "," + u8("A", 1, 2) + "}", 2).ok());
  EXPECT_TRUE(layout_of("{" + u8(R"(\\u0061)", 0, 1) + "," + u8("a", 1, 2) + "}", 2).ok());
}

TEST(SafetensorsLayout, WantsScratchForEveryTensor) {
  const File file = file_of("{" + u8("a", 0, 1) + "," + u8("b", 1, 2) + "}", 2);
  SafetensorsView view;
  ASSERT_TRUE(open(file, view).ok());
  std::vector<SafetensorsScratch> scratch(1);
  EXPECT_EQ(view.check_layout(scratch).code, ErrorCode::invalid_argument);
  EXPECT_EQ(view.check_layout({}).code, ErrorCode::invalid_argument);
  scratch.resize(5);
  EXPECT_TRUE(view.check_layout(scratch).ok()) << "more than needed is fine";
}

TEST(SafetensorsLayout, OfManyTensorsInAnyOrder) {
  constexpr std::size_t count = 10'000;
  std::string header = "{";
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = i * 7919 % count;
    if (i != 0) header += ",";
    header += u8("layers." + std::to_string(i), place, place + 1);
  }
  EXPECT_TRUE(layout_of(header + "}", count).ok());
  EXPECT_EQ(layout_of(header + "," + u8("layers.5000", count, count + 1) + "}", count + 1).code,
            ErrorCode::duplicate_key);
}

TEST(CheckCoverage, ToleratesGapsWhenAllowedButNotOverlaps) {
  using Kind = CoverageIssue::Kind;
  std::vector<SafetensorsScratch> ranges = {{6, 8, 2}, {1, 3, 1}};
  CoverageIssue issue = check_coverage(ranges, 10, false);
  EXPECT_EQ(issue.kind, Kind::gap);
  EXPECT_EQ(issue.tag, 1u);
  EXPECT_EQ(issue.found, 1u);
  EXPECT_EQ(issue.expected, 0u);
  EXPECT_EQ(check_coverage(ranges, 10, true).kind, Kind::none);
  EXPECT_EQ(ranges[0].key, 1u) << "sorted";

  ranges = {{0, 4, 1}, {3, 6, 2}};
  issue = check_coverage(ranges, 6, true);
  EXPECT_EQ(issue.kind, Kind::overlap);
  EXPECT_EQ(issue.tag, 2u);
  EXPECT_EQ(issue.found, 3u);
  EXPECT_EQ(issue.expected, 4u);

  ranges = {{0, 4, 1}, {4, 7, 2}};
  EXPECT_EQ(check_coverage(ranges, 6, true).kind, Kind::beyond_end);
  EXPECT_EQ(check_coverage(ranges, 6, false).kind, Kind::beyond_end);
  EXPECT_EQ(check_coverage(ranges, 8, false).kind, Kind::trailing);
  EXPECT_EQ(check_coverage(ranges, 8, true).kind, Kind::none);
  EXPECT_EQ(check_coverage(ranges, 7, false).kind, Kind::none);
  EXPECT_EQ(check_coverage({}, 0, false).kind, Kind::none);
  EXPECT_EQ(check_coverage({}, 1, false).kind, Kind::trailing);
}

// Either a status with an offset in the file, or a view of which every tensor lies within the file.
void expect_status_or_well_formed(const File& file) {
  SafetensorsView view;
  const ViewStatus status = open(file, view);
  if (!status.ok()) {
    ASSERT_LE(status.offset, file.size());
    ASSERT_EQ(view.tensor_count(), 0u);
    return;
  }
  SafetensorsHeader header = view.header();
  SafetensorsEntry entry;
  std::size_t tensors = 0;
  for (auto item = header.next(entry); item != SafetensorsHeader::Item::end;
       item = header.next(entry)) {
    ASSERT_NE(item, SafetensorsHeader::Item::error);
    if (item != SafetensorsHeader::Item::tensor) continue;
    ++tensors;
    const std::span<const std::byte> data = view.data(entry);
    ASSERT_GE(data.data(), file.data());
    ASSERT_LE(data.data() + data.size(), file.data() + file.size());
    if (entry.dtype != DType::raw) {
      std::uint64_t bytes = 0;
      ASSERT_EQ(byte_count(entry.dtype, entry.dims(), bytes), SizeCheck::ok);
      ASSERT_EQ(bytes, data.size());
    }
    SafetensorsEntry found;
    ASSERT_TRUE(view.find(decode_text(entry.name), found).ok());
  }
  ASSERT_EQ(tensors, view.tensor_count());
  std::vector<SafetensorsScratch> scratch(tensors);
  const ViewStatus layout = view.check_layout(scratch);
  if (!layout.ok()) {
    ASSERT_LE(layout.offset, file.size());
  }
}

File small_file() {
  return file_of(
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
      R"("b\u0062":{"dtype":"F4","shape":[2,2],"data_offsets":[8,10]},)"
      R"("c":{"dtype":"BOOL","shape":[],"data_offsets":[10,11]}})",
      11);
}

TEST(SafetensorsView, EveryTruncationIsRefused) {
  const File file = small_file();
  SafetensorsView view;
  ASSERT_TRUE(open(file, view).ok());
  for (std::size_t size = 0; size < file.size(); ++size) {
    // A buffer of its own, so that a sanitizer sees reads past the end.
    const File part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(open(part, view).ok()) << size;
    expect_status_or_well_formed(part);
  }
}

TEST(SafetensorsView, EveryChangedByteGivesAStatusOrAWellFormedView) {
  const File file = small_file();
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (unsigned value = 0; value < 256; ++value) {
      File changed = file;
      changed[i] = static_cast<std::byte>(value);
      ASSERT_NO_FATAL_FAILURE(expect_status_or_well_formed(changed)) << i << " " << value;
    }
  }
}

TEST(SafetensorsView, IsEmptyUntilOpened) {
  const SafetensorsView view;
  EXPECT_EQ(view.tensor_count(), 0u);
  SafetensorsEntry entry;
  EXPECT_FALSE(view.find("a", entry).ok());
  EXPECT_TRUE(view.check_layout({}).ok());
}

}  // namespace
}  // namespace andiron
