// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/format/sniff.h"

#include <gtest/gtest.h>

#include "tests/support/safetensors_file.h"
#include "tests/support/tar_writing.h"

namespace andiron::detail {
namespace {

Sniffed sniffed(std::string_view content) {
  return sniff(*memory_source(test::to_bytes(content))).value();
}

TEST(Sniff, HeadersThatBeginLikeAPickleOrAZipAreSafetensors) {
  // 640, 896, 1152 and 1408 begin with 80 02 .. 80 05; 559903 with 1f 8b.
  for (std::size_t length : {640u, 896u, 1152u, 1408u, 559903u}) {
    std::string header = "{}";
    header.resize(length, ' ');
    EXPECT_EQ(sniffed(test::safetensors_file(header, 0)).content, Content::safetensors) << length;
  }
}

TEST(Sniff, BrokenSafetensorsAreStillSafetensors) {
  const std::string file =
      test::safetensors_file(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1);
  EXPECT_EQ(sniffed(file.substr(0, 20)).content, Content::safetensors);
  std::string lying = file;
  lying[7] = '\x7f';
  EXPECT_EQ(sniffed(lying).content, Content::safetensors);
  EXPECT_EQ(sniffed(test::safetensors_file(std::string(600, ' ') + "{}", 0)).content,
            Content::safetensors);
}

TEST(Sniff, NamesWhatElseAFileIs) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "empty"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00", "Git LFS"},
      {"<!DOCTYPE html><html>", "web page"},
      {"\n  <html lang=\"en\">", "web page"},
      {"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "XML"},
      {"\x93NUMPY\1", "NumPy"},
      {"GGUF\3", "GGUF"},
      {"\x89HDF\r\n\x1a\n", "HDF5"},
  };
  for (const auto& [content, what] : cases) {
    const Sniffed result = sniffed(content);
    EXPECT_EQ(result.content, Content::foreign) << what;
    EXPECT_NE(std::string(result.what).find(what), std::string::npos) << result.what;
  }
  EXPECT_EQ(sniffed(" {\"weight_map\":{}}").content, Content::json);
  EXPECT_EQ(sniffed(R"({"data":{"x":1}})").content, Content::json);
  EXPECT_EQ(sniffed("hello").content, Content::unknown);
}

TEST(Sniff, FindsTheContainersOfPytorch) {
  EXPECT_EQ(sniffed(std::string("PK\3\4") + std::string(30, '\0')).content, Content::pytorch);
  EXPECT_EQ(sniffed(std::string("PK\5\6") + std::string(18, '\0')).content, Content::pytorch);
  EXPECT_EQ(sniffed(std::string("\x80\2}q\0.", 6)).content, Content::pytorch);
  EXPECT_EQ(sniffed("\x80\2\x8a\x0al\xfc\x9c\x46\xf9\x20j\xa8P\x19.").content, Content::pytorch);
  EXPECT_EQ(sniffed("(dp0\nS'a'\np1\nI1\ns.").content, Content::pytorch);
  EXPECT_EQ(sniffed(test::tar_file({{.name = "sys_info", .content = "x"}})).content,
            Content::pytorch);
  EXPECT_EQ(sniffed(test::tar_file({{.name = "storages", .content = "x", .magic = ""}})).content,
            Content::pytorch);
}

TEST(Sniff, ATarOrAPickleThatIsNoneIsNoFileOfPytorch) {
  EXPECT_EQ(sniffed(std::string(257, 'x') + "ustar").content, Content::unknown);
  EXPECT_EQ(sniffed(test::tar_file({{.name = "readme", .content = "x", .magic = ""}})).content,
            Content::unknown);
  EXPECT_EQ(sniffed("PK\1\2").content, Content::unknown);
  EXPECT_EQ(sniffed("PK").content, Content::unknown);
  EXPECT_EQ(sniffed("\x80\7}q").content, Content::unknown);
}

TEST(Sniff, FindsTheFormatsOfBurn) {
  EXPECT_EQ(sniffed("NRUB").content, Content::burnpack);
  EXPECT_EQ(sniffed(std::string("NRUB\1\0\xff\xff\xff\xff", 10)).content, Content::burnpack);
  EXPECT_EQ(sniffed("NRU").content, Content::unknown);
  EXPECT_EQ(sniffed("BURN").content, Content::unknown);
  EXPECT_EQ(sniffed("\x1f\x8b\x08").content, Content::gzip);
  EXPECT_EQ(sniffed("\x82\xa8metadata\x80\xa4item\x80").content, Content::record);
  EXPECT_EQ(sniffed(R"({"metadata":{"float":"f32","int":"i32",)"
                    R"("format":"burn_core::record::file::PrettyJsonFileRecorder<X>"},"item":{}})")
                .content,
            Content::record);
  EXPECT_EQ(sniffed(R"({ "item": {}})").content, Content::record);
  EXPECT_EQ(sniffed(R"({"metadata":{},"weight_map":{}})").content, Content::json);
}

TEST(Sniff, ARecordThatCouldAlsoBeReadAsBincodeIsMessagePack) {
  // A map of three, or a text of 131 bytes, an empty one and the name of a recorder.
  std::string file =
      "\x83\xa8metadata\x81\xa1"
      "f\xd9\xff";
  file.resize(132, 'x');
  file += std::string("\0\x13", 2) + "burn_core::record::";
  EXPECT_EQ(sniffed(file).content, Content::record);
  file.replace(1, 9, 9, 'x');
  EXPECT_EQ(sniffed(file).content, Content::unnamed_record);
}

TEST(Sniff, ABurnpackFileIsNoSafetensorsWhateverItsMetadata) {
  // The first eight bytes, taken as a length, are far beyond any header.
  std::string file("NRUB\1\0", 6);
  EXPECT_EQ(sniffed(file + std::string("\0\0\0\0{\"", 6)).content, Content::burnpack);
}

}  // namespace
}  // namespace andiron::detail
