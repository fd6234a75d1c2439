// SPDX-License-Identifier: MIT OR Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "andiron/open.h"
#include "andiron/write.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/temp_dir.h"

namespace andiron {
namespace {

ino_t inode(const std::string& path) {
  struct stat found{};
  EXPECT_EQ(::stat(path.c_str(), &found), 0);
  return found.st_ino;
}

class EditMetadata : public testing::Test {
 protected:
  void put(const std::string& header, std::string_view data) {
    test::write_file(path_, test::safetensors_file(header, data));
  }
  std::string header() {
    const std::string file = test::read_file(path_);
    return file.substr(8, file.size() - 8 - 3);
  }
  const std::string tensor_ = R"("t" : {"dtype":"U8","shape":[3],"data_offsets":[0,3]})";
  test::TempDir folder_;
  const std::string path_ = folder_.file("m.safetensors");
};

TEST_F(EditMetadata, ChangesNothingButTheMetadata) {
  put("{" + tensor_ +
          R"(, "__metadata__" : {"a": "1", "b": "2"}, "u":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
      "abc");
  ASSERT_TRUE(edit_safetensors_metadata(path_, {.set = {{"c", "3"}}, .remove = {"a", "absent"}}));
  const Archive archive = open(path_).value();
  EXPECT_EQ(archive.metadata(), (Metadata{{"b", "2"}, {"c", "3"}}));
  EXPECT_EQ(archive.get("t").value().read().value().bytes().text(), "abc");
  EXPECT_TRUE(
      header().starts_with("{" + tensor_ + R"(, "__metadata__" : {"b":"2","c":"3"}, "u":{)"));
}

TEST_F(EditMetadata, AddsMetadataWhereThereWasNone) {
  for (const std::string& header :
       {"{" + tensor_ + "}", R"({"__metadata__":null,)" + tensor_ + "}"}) {
    put(header, "abc");
    ASSERT_TRUE(edit_safetensors_metadata(path_, {.set = {{"k", "v"}}}));
    const Archive archive = open(path_).value();
    EXPECT_EQ(archive.metadata(), (Metadata{{"k", "v"}}));
    EXPECT_EQ(archive.get("t").value().read().value().bytes().text(), "abc");
  }
  test::write_file(path_, test::safetensors_file("{}", 0));
  ASSERT_TRUE(edit_safetensors_metadata(path_, {.set = {{"k", "v"}}}));
  EXPECT_EQ(open(path_).value().metadata().size(), 1u);
}

TEST_F(EditMetadata, KeepsTheDataWhereItIsOrAsAligned) {
  Archive archive;
  archive.add({"t", Tensor::zeros(DType::u8, {3}).value()}).value();
  ASSERT_TRUE(write(archive, path_, {.settings = SafetensorsSettings{.data_alignment = 4096}}));
  ASSERT_TRUE(edit_safetensors_metadata(path_, {.set = {{"k", std::string(100, 'x')}}}));
  EXPECT_EQ(open(path_).value().info(0).offset, 4096u);
  ASSERT_TRUE(edit_safetensors_metadata(path_, {.set = {{"k", std::string(5000, 'x')}}}));
  EXPECT_EQ(open(path_).value().info(0).offset, 8192u);
}

TEST_F(EditMetadata, ReplacesTheFileUnlessToldToChangeItInPlace) {
  put(R"({"__metadata__":{"k":"a"},)" + tensor_ + "}   ", "abc");
  const ino_t before = inode(path_);
  ASSERT_TRUE(edit_safetensors_metadata(path_, {.set = {{"k", "b"}}, .in_place = true}));
  EXPECT_EQ(inode(path_), before);
  EXPECT_EQ(open(path_).value().metadata().at("k"), "b");
  // A borrowed tensor keeps the old file alive.
  const Tensor borrowed = open(path_).value().snapshot(0).borrow().value();
  ASSERT_TRUE(edit_safetensors_metadata(path_, {.set = {{"k", "c"}}}));
  EXPECT_NE(inode(path_), before);
  EXPECT_EQ(borrowed.bytes().text(), "abc");
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"m.safetensors"});
}

TEST_F(EditMetadata, InPlaceIsRefusedWhenTheHeaderWouldGrowOrPagesWouldTear) {
  put(R"({"__metadata__":{"k":"a"},)" + tensor_ + "}", "abc");
  const std::string before = test::read_file(path_);
  EXPECT_EQ(
      edit_safetensors_metadata(path_, {.set = {{"k", "long"}}, .in_place = true}).error().code,
      ErrorCode::unsupported);
  EXPECT_EQ(test::read_file(path_), before);

  put(R"({"__metadata__":{"k":")" + std::string(5000, 'a') + R"("},)" + tensor_ + "}", "abc");
  EXPECT_EQ(
      edit_safetensors_metadata(path_, {.set = {{"k", std::string(5000, 'b')}}, .in_place = true})
          .error()
          .code,
      ErrorCode::unsupported);
  EXPECT_TRUE(edit_safetensors_metadata(
      path_, {.set = {{"k", std::string(4999, 'a') + "b"}}, .in_place = true}));
}

TEST_F(EditMetadata, ABrokenFileIsLeftAlone) {
  put("{" + tensor_ + "}", "abcd");
  const std::string before = test::read_file(path_);
  EXPECT_EQ(edit_safetensors_metadata(path_, {.set = {{"k", "v"}}}).error().code,
            ErrorCode::size_mismatch);
  EXPECT_EQ(test::read_file(path_), before);
}

}  // namespace
}  // namespace andiron
