// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/format/safetensors/param_ids.h"

#include <gtest/gtest.h>

#include <string>

#include "andiron/open.h"
#include "andiron/write.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/temp_dir.h"

namespace andiron {
namespace {

Archive two_tensors() {
  const Tensor tensor = Tensor::from_values<std::uint8_t>({2}, {1, 2}).value();
  Archive archive;
  archive.add(TensorSnapshot("a \"quoted\"\n", tensor).with_param_id(ParamId{42})).value();
  archive.add(TensorSnapshot("b", tensor)).value();
  return archive;
}

std::string with_metadata(const std::string& ids) {
  return test::safetensors_file(R"({"__metadata__":{"param_ids":")" + ids +
                                    R"("},"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
                                std::string(2, 'x'));
}

TEST(SafetensorsParamIds, AreWrittenWhenAskedForAndReadBack) {
  const Archive back =
      open(write_to_memory(two_tensors(), {.settings = SafetensorsSettings{.param_ids = true}})
               .value())
          .value();
  EXPECT_EQ(back.get("a \"quoted\"\n").value().param_id(), ParamId{42});
  EXPECT_EQ(back.get("b").value().param_id(), std::nullopt);
  EXPECT_EQ(back.info(*back.find("a \"quoted\"\n")).param_id, ParamId{42});
  EXPECT_TRUE(back.metadata().empty());
}

TEST(SafetensorsParamIds, AreNotWrittenOtherwise) {
  const Archive back = open(write_to_memory(two_tensors()).value()).value();
  EXPECT_EQ(back.get("a \"quoted\"\n").value().param_id(), std::nullopt);
}

TEST(SafetensorsParamIds, FollowTheirTensorsThroughRenamingAndShards) {
  const test::TempDir dir;
  const std::string path = dir.file("m.safetensors");
  const std::string names[] = {"x", "y"};
  write(two_tensors().rename(names).value(), path,
        {.settings = SafetensorsSettings{.param_ids = true}, .max_shard_bytes = 2})
      .value();
  const Archive back = open(path).value();
  EXPECT_EQ(back.packaging(), "sharded");
  EXPECT_EQ(back.get("x").value().param_id(), ParamId{42});
  EXPECT_EQ(back.get("y").value().param_id(), std::nullopt);
}

TEST(SafetensorsParamIds, LeaveOtherMetadataOfThatNameAlone) {
  for (const std::string text :
       {"", "text", "[1]", R"({\"w\":1})", R"({\"w\":\"no id\"})", R"({\"w\")"}) {
    const Archive archive = test::open_safetensors(with_metadata(text)).value();
    EXPECT_EQ(archive.metadata().count("param_ids"), 1U) << text;
    EXPECT_EQ(archive.get("w").value().param_id(), std::nullopt);
  }
}

TEST(SafetensorsParamIds, OfTensorsThatAreNotThereAreIgnored) {
  const Archive archive =
      test::open_safetensors(with_metadata(R"({\"v\":\"72d17eukbtkma\"})")).value();
  EXPECT_EQ(archive.get("w").value().param_id(), std::nullopt);
}

}  // namespace
}  // namespace andiron
