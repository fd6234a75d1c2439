// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/format/recognize.h"

#include <gtest/gtest.h>

#include "tests/support/bytes_of_text.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/tar_writing.h"

namespace andiron::detail {
namespace {

Recognized recognized(std::string_view content) {
  return recognize(*memory_source(test::bytes_of_text(content))).value();
}

// The format's name; "json" for other JSON, "foreign" for what is known and not read.
std::string_view format_of(std::string_view content) {
  const Recognized found = recognized(content);
  if (found.row != nullptr) return found.row->info.name;
  if (found.is_json) return "json";
  return found.what.empty() ? "unknown" : "foreign";
}

TEST(Recognize, HeadersThatBeginLikeAPickleOrAZipAreSafetensors) {
  // 640, 896, 1152 and 1408 begin with 80 02 .. 80 05; 559903 with 1f 8b.
  for (std::size_t length : {640u, 896u, 1152u, 1408u, 559903u}) {
    std::string header = "{}";
    header.resize(length, ' ');
    EXPECT_EQ(format_of(test::safetensors_file(header, 0)), "safetensors") << length;
  }
}

TEST(Recognize, BrokenSafetensorsAreStillSafetensors) {
  const std::string file =
      test::safetensors_file(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1);
  EXPECT_EQ(format_of(file.substr(0, 20)), "safetensors");
  std::string lying = file;
  lying[7] = '\x7f';
  EXPECT_EQ(format_of(lying), "safetensors");
  EXPECT_EQ(format_of(test::safetensors_file(std::string(600, ' ') + "{}", 0)), "safetensors");
}

TEST(Recognize, NamesWhatElseAFileIs) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "empty"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00", "Git LFS"},
      {"<!DOCTYPE html><html>", "web page"},
      {"\n  <html lang=\"en\">", "web page"},
      {"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "XML"},
      {"GGUF\3", "GGUF"},
      {"\x89HDF\r\n\x1a\n", "HDF5"},
  };
  for (const auto& [content, what] : cases) {
    const Recognized result = recognized(content);
    EXPECT_EQ(result.row, nullptr) << what;
    EXPECT_NE(result.what.find(what), std::string::npos) << result.what;
  }
  EXPECT_EQ(format_of(" {\"weight_map\":{}}"), "json");
  EXPECT_EQ(format_of(R"({"data":{"x":1}})"), "json");
  EXPECT_EQ(format_of("hello"), "unknown");
}

TEST(Recognize, FindsNumpysArraysAndTheirArchives) {
  EXPECT_EQ(format_of("\x93NUMPY\1"), "numpy");
  const std::string name = "w.npy";
  const std::string local = "PK\3\4" + std::string(22, '\0') + std::string("\5\0\0\0", 4);
  EXPECT_EQ(format_of(local + name), "numpy");
  EXPECT_EQ(format_of(local + "a.pkl"), "pytorch");
}

TEST(Recognize, FindsTheContainersOfPytorch) {
  EXPECT_EQ(format_of(std::string("PK\3\4") + std::string(30, '\0')), "pytorch");
  EXPECT_EQ(format_of(std::string("PK\5\6") + std::string(18, '\0')), "numpy");
  EXPECT_EQ(format_of(std::string("\x80\2}q\0.", 6)), "pytorch");
  EXPECT_EQ(format_of("\x80\2\x8a\x0al\xfc\x9c\x46\xf9\x20j\xa8P\x19."), "pytorch");
  EXPECT_EQ(format_of("(dp0\nS'a'\np1\nI1\ns."), "pytorch");
  EXPECT_EQ(format_of(test::tar_file({{.name = "sys_info", .content = "x"}})), "pytorch");
  EXPECT_EQ(format_of(test::tar_file({{.name = "storages", .content = "x", .magic = ""}})),
            "pytorch");
}

TEST(Recognize, ATarOrAPickleThatIsNoneIsNoFileOfPytorch) {
  EXPECT_EQ(format_of(std::string(257, 'x') + "ustar"), "unknown");
  EXPECT_EQ(format_of(test::tar_file({{.name = "readme", .content = "x", .magic = ""}})),
            "unknown");
  EXPECT_EQ(format_of("PK\1\2"), "unknown");
  EXPECT_EQ(format_of("PK"), "unknown");
  EXPECT_EQ(format_of("\x80\7}q"), "unknown");
}

TEST(Recognize, FindsTheFormatsOfBurn) {
  EXPECT_EQ(format_of("NRUB"), "burnpack");
  EXPECT_EQ(format_of(std::string("NRUB\1\0\xff\xff\xff\xff", 10)), "burnpack");
  EXPECT_EQ(format_of("NRU"), "unknown");
  EXPECT_EQ(format_of("BURN"), "unknown");
  EXPECT_EQ(recognize(*memory_source(test::bytes_of_text("\x1f\x8b\x08"))).error().code,
            ErrorCode::truncated);
  EXPECT_EQ(format_of("\x82\xa8metadata\x80\xa4item\x80"), "mpk");
  EXPECT_EQ(
      format_of(R"({"metadata":{"float":"f32","int":"i32",)"
                R"("format":"burn_core::record::file::PrettyJsonFileRecorder<X>"},"item":{}})"),
      "mpk");
  EXPECT_EQ(format_of(R"({ "item": {}})"), "mpk");
  EXPECT_EQ(format_of(R"({"metadata":{},"weight_map":{}})"), "json");
}

TEST(Recognize, ARecordThatCouldAlsoBeReadAsBincodeIsMessagePack) {
  // A map of three, or a text of 131 bytes, an empty one and the name of a recorder.
  std::string file =
      "\x83\xa8metadata\x81\xa1"
      "f\xd9\xff";
  file.resize(132, 'x');
  file += std::string("\0\x13", 2) + "burn_core::record::";
  EXPECT_EQ(format_of(file), "mpk");
  file.replace(1, 9, 9, 'x');
  EXPECT_EQ(format_of(file), "mpk");
}

TEST(Recognize, ABurnpackFileIsNoSafetensorsWhateverItsMetadata) {
  // The first eight bytes, taken as a length, are far beyond any header.
  std::string file("NRUB\1\0", 6);
  EXPECT_EQ(format_of(file + std::string("\0\0\0\0{\"", 6)), "burnpack");
}

}  // namespace
}  // namespace andiron::detail
