// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/write.h"

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace andiron {
namespace {

Archive small_archive() {
  Archive archive;
  archive.add({"t", Tensor::from_values<float>({2}, {1, 2}).value()}).value();
  return archive;
}

TEST(Write, TakesTheFormatFromTheNameOrTheOptions) {
  const test::TempDir folder;
  const WriteReport report = write(small_archive(), folder.file("m.safetensors")).value();
  EXPECT_EQ(report.files, std::vector<std::string>{folder.file("m.safetensors")});
  EXPECT_EQ(report.bytes, test::read_file(report.files[0]).size());
  EXPECT_EQ(write(small_archive(), folder.file("m.bin")).error().code, ErrorCode::unsupported);
  EXPECT_TRUE(write(small_archive(), folder.file("m.bin"), {.format = Format::safetensors}));
}

TEST(Write, ReplacesOnlyWhenTold) {
  const test::TempDir folder;
  const std::string path = folder.file("m.safetensors");
  ASSERT_TRUE(write(small_archive(), path));
  EXPECT_EQ(write(Archive(), path).error().code, ErrorCode::already_exists);
  EXPECT_TRUE(write(Archive(), path, {.overwrite = true, .sync = false}));
  EXPECT_EQ(test::read_file(path).size(), 16u);
}

TEST(Write, GivesTheSameBytesToFileSinkAndMemory) {
  const test::TempDir folder;
  const std::string path = folder.file("m.safetensors");
  ASSERT_TRUE(write(small_archive(), path));
  MemorySink sink;
  ASSERT_TRUE(write(small_archive(), sink));
  EXPECT_EQ(sink.take().text(), test::read_file(path));
  EXPECT_EQ(write_to_memory(small_archive()).value().text(), test::read_file(path));
  EXPECT_EQ(write_to_memory(small_archive(), {.max_shard_bytes = 1}).error().code,
            ErrorCode::invalid_argument);
}

TEST(Write, NamesTheFolderThatIsNotThere) {
  const test::TempDir folder;
  Result<WriteReport> report = write(small_archive(), folder.file("absent/m.safetensors"));
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().to_string().find("absent"), std::string::npos);
}

}  // namespace
}  // namespace andiron
