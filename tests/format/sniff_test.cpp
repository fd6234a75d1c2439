// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/format/sniff.h"

#include <gtest/gtest.h>

#include "tests/support/safetensors_file.h"

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
      {std::string("PK\3\4") + std::string(30, '\0'), "zip"},
      {std::string("\x80\2}q\0.", 6), "pickle"},
      {std::string(257, 'x') + "ustar", "tar"},
      {"\x93NUMPY\1", "NumPy"},
      {"GGUF\3", "GGUF"},
      {"\x1f\x8b\x08", "gzip"},
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

}  // namespace
}  // namespace andiron::detail
