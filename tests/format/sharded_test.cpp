// SPDX-License-Identifier: MIT OR Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "andiron/open.h"
#include "andiron/write.h"
#include "tests/support/progress_steps.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_containers.h"

namespace andiron {
namespace {

std::string shard(const std::string& name, char fill) {
  return test::safetensors_file(R"({"__metadata__":{"format":"pt"},")" + name +
                                    R"(":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
                                std::string(4, fill));
}

// Two shards, a and b, and their index.
class Sharded : public testing::Test {
 protected:
  void SetUp() override {
    test::write_file(folder_.file("m-00001-of-00002.safetensors"), shard("a", 'a'));
    test::write_file(folder_.file("m-00002-of-00002.safetensors"), shard("b", 'b'));
    write_index({{"metadata", {{"total_size", 8}}},
                 {"weight_map",
                  {{"a", "m-00001-of-00002.safetensors"}, {"b", "m-00002-of-00002.safetensors"}}}});
  }
  void write_index(const nlohmann::json& index) {
    test::write_file(folder_.file("m.safetensors.index.json"), index.dump());
  }
  Result<Archive> open_index() { return open(folder_.file("m.safetensors.index.json")); }

  test::TempDir folder_;
};

TEST_F(Sharded, IsReadAsOneArchiveByIndexOrFolder) {
  for (const std::string& path : {folder_.file("m.safetensors.index.json"), folder_.path()}) {
    const Archive archive = open(path).value();
    EXPECT_EQ(archive.packaging(), "sharded");
    EXPECT_FALSE(archive.is_pickled());
    EXPECT_EQ(archive.size(), 2u);
    EXPECT_EQ(archive.info(1).file, "m-00002-of-00002.safetensors");
    EXPECT_EQ(archive.get("b").value().read().value().bytes().text(), "bbbb");
    EXPECT_EQ(archive.metadata(), (Metadata{{"format", "pt"}}));
    EXPECT_TRUE(archive.notes().empty());
  }
}

TEST_F(Sharded, AMissingShardIsNamed) {
  std::filesystem::remove(folder_.file("m-00002-of-00002.safetensors"));
  Result<Archive> archive = open_index();
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().code, ErrorCode::missing_shard);
  EXPECT_NE(archive.error().to_string().find("m-00002-of-00002.safetensors"), std::string::npos);
}

TEST_F(Sharded, ATensorInTheWrongShardIsToldWithTheRightOne) {
  write_index({{"weight_map",
                {{"a", "m-00002-of-00002.safetensors"}, {"b", "m-00001-of-00002.safetensors"}}}});
  Result<Archive> archive = open_index();
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().code, ErrorCode::missing_tensor);
  EXPECT_EQ(archive.error().tensor, "a");
  EXPECT_NE(archive.error().found.find("but in 'm-00001-of-00002.safetensors'"), std::string::npos);
}

TEST_F(Sharded, ATensorInNoShardIsAnErrorAndOneNotInTheIndexIsANote) {
  write_index({{"weight_map",
                {{"a", "m-00001-of-00002.safetensors"}, {"c", "m-00001-of-00002.safetensors"}}}});
  EXPECT_EQ(open_index().error().code, ErrorCode::missing_tensor);

  write_index({{"weight_map", {{"a", "m-00001-of-00002.safetensors"}}}});
  test::write_file(folder_.file("m-00001-of-00002.safetensors"),
                   test::safetensors_file(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                          R"("x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                                          2));
  const Archive archive = open_index().value();
  EXPECT_EQ(archive.size(), 1u);
  ASSERT_EQ(archive.notes().size(), 1u);
  EXPECT_NE(archive.notes()[0].find("'x'"), std::string::npos);
}

TEST_F(Sharded, ATotalThatDisagreesIsANote) {
  write_index({{"metadata", {{"total_size", 7}}},
               {"weight_map",
                {{"a", "m-00001-of-00002.safetensors"}, {"b", "m-00002-of-00002.safetensors"}}}});
  ASSERT_EQ(open_index().value().notes().size(), 1u);
}

TEST_F(Sharded, ShardsOutsideTheFolderAreRefused) {
  for (const char* name :
       {"../m.safetensors", "/etc/m.safetensors", "a/../../m.safetensors", "C:m.safetensors",
        "a\\m.safetensors", "", "./m.safetensors", "a//m.safetensors"}) {
    write_index({{"weight_map", {{"a", name}}}});
    Result<Archive> archive = open_index();
    ASSERT_FALSE(archive) << name;
    EXPECT_EQ(archive.error().code, ErrorCode::bad_index) << name;
  }
  write_index({{"weight_map", {{"a", "model-00001.gguf"}}}});
  EXPECT_EQ(open_index().error().code, ErrorCode::unsupported);
  write_index({{"weight_map", {{"a", 7}}}});
  EXPECT_EQ(open_index().error().code, ErrorCode::bad_index);
  write_index({{"weight_map", 7}});
  EXPECT_EQ(open_index().error().code, ErrorCode::bad_index);
  test::write_file(folder_.file("m.safetensors.index.json"), R"({"weight_map": {"a": )");
  EXPECT_EQ(open_index().error().code, ErrorCode::bad_index);
}

TEST_F(Sharded, ANameListedTwiceIsRefused) {
  test::write_file(
      folder_.file("m.safetensors.index.json"),
      R"({"weight_map":{"a":"m-00001-of-00002.safetensors","a":"m-00001-of-00002.safetensors"}})");
  EXPECT_EQ(open_index().error().code, ErrorCode::duplicate_key);
}

TEST_F(Sharded, ATieToATensorOfAnotherShardDoesNotHideThatTensor) {
  // Shard 2 ties "a" to its own "b", but "a" is a tensor of shard 1.
  test::write_file(
      folder_.file("m-00002-of-00002.safetensors"),
      test::safetensors_file(R"({"__metadata__":{"a":"b","c":"b"},"b":{"dtype":"U8","shape":[4],)"
                             R"("data_offsets":[0,4]}})",
                             std::string(4, 'b')));
  const Archive archive = open_index().value();
  EXPECT_EQ(archive.get("a").value().read().value().bytes().text(), "aaaa");
  EXPECT_EQ(archive.aliases(), (Aliases{{"c", "b"}}));
  // The index may list stored tensors alone.
  write_index({{"weight_map", {{"c", "m-00002-of-00002.safetensors"}}}});
  EXPECT_EQ(open_index().error().code, ErrorCode::missing_tensor);
}

// {"w": [2, 2], "b": [2]} in one file of PyTorch, and in another {"t": tied to "u", "v": a view}.
class ShardedPytorch : public testing::Test {
 protected:
  void SetUp() override {
    const auto tensor = [](std::vector<std::int64_t> strides) {
      return test::torch_tensor({.shape = {2, 2}, .strides = strides, .elements = 4});
    };
    const test::Py second =
        test::py::dict({{"u", tensor({2, 1})}, {"t", tensor({2, 1})}, {"v", tensor({1, 2})}});
    test::write_file(folder_.file("pytorch_model-00001-of-00002.bin"),
                     test::zip_file(test::sample_records()));
    test::write_file(folder_.file("pytorch_model-00002-of-00002.bin"),
                     test::legacy_file(second, {{"0", test::memory_of<float>({1, 2, 3, 4})}}));
    write_index({{"w", first_}, {"b", first_}, {"u", second_}, {"t", second_}, {"v", second_}});
  }
  void write_index(const nlohmann::json& map) {
    const nlohmann::json index = {{"metadata", {{"total_size", 72}}}, {"weight_map", map}};
    test::write_file(folder_.file("pytorch_model.bin.index.json"), index.dump());
  }
  Result<Archive> open_index() { return open(folder_.file("pytorch_model.bin.index.json")); }

  const std::string first_ = "pytorch_model-00001-of-00002.bin";
  const std::string second_ = "pytorch_model-00002-of-00002.bin";
  test::TempDir folder_;
};

TEST_F(ShardedPytorch, IsReadAsOneArchiveByIndexOrFolder) {
  for (const std::string& path : {folder_.file("pytorch_model.bin.index.json"), folder_.path()}) {
    const Archive archive = open(path).value();
    EXPECT_EQ(archive.format(), "pytorch");
    EXPECT_EQ(archive.packaging(), "sharded");
    EXPECT_TRUE(archive.is_pickled());
    EXPECT_EQ(test::names_of(archive), (test::Names{"w", "b", "u", "t", "v"}));
    EXPECT_EQ(archive.info(1).file, first_);
    EXPECT_EQ(archive.info(2).file, second_);
    EXPECT_EQ(test::floats(archive, "b"), (std::vector<float>{5, 6}));
    EXPECT_EQ(test::floats(archive, "v"), (std::vector<float>{1, 3, 2, 4}));
    EXPECT_EQ(archive.ties()[3], std::optional<std::size_t>(2));
    EXPECT_TRUE(archive.notes().empty());
  }
}

TEST_F(ShardedPytorch, NotesAndWhatWasSkippedAreThoseOfTheShards) {
  const test::Py object =
      test::py::dict({{"w", test::torch_tensor({.shape = {1}, .elements = 1})},
                      {"m", test::torch_tensor({.shape = {1}, .elements = 1, .device = "meta"})}});
  std::vector<test::ZipItem> items =
      test::torch_records(object, {{"0", test::memory_of<float>({1})}});
  items[0].content += "more";
  test::write_file(folder_.file(first_), test::zip_file(items));
  write_index({{"w", first_}, {"u", second_}, {"t", second_}, {"v", second_}});
  const Archive archive = open_index().value();
  test::expect_note(archive, first_ + ": 4 bytes follow the pickle");
  EXPECT_NE(test::reason_for(archive, "m").find("meta"), std::string::npos);
}

TEST_F(ShardedPytorch, MapsThatDoNotFitAreRefused) {
  write_index({{"w", second_}});
  EXPECT_EQ(open_index().error().code, ErrorCode::missing_tensor);
  write_index({{"w", "pytorch_model-00003-of-00002.bin"}});
  EXPECT_EQ(open_index().error().code, ErrorCode::missing_shard);
  write_index({{"w", "../" + first_}});
  EXPECT_EQ(open_index().error().code, ErrorCode::bad_index);
  // Files of two formats.
  write_index({{"b", "a.safetensors"}, {"w", first_}});
  EXPECT_EQ(open_index().error().code, ErrorCode::bad_index);
  // A shard of PyTorch that is none.
  test::write_file(folder_.file(first_), shard("w", 'w'));
  write_index({{"w", first_}});
  EXPECT_FALSE(open_index());
}

Archive numbered(int count) {
  Archive archive;
  for (int i = 0; i < count; ++i) {
    std::vector<float> values(10, static_cast<float>(i));
    archive.add({"layers." + std::to_string(i), Tensor::from_values<float>({10}, values).value()})
        .value();
  }
  return archive;
}

TEST(ShardedWriter, SpreadsTensorsInOrderAndWritesTheIndex) {
  const test::TempDir folder;
  const WriteReport report =
      write(numbered(5), folder.file("model.safetensors"), {.max_shard_bytes = 80}).value();
  EXPECT_EQ(folder.names(),
            (std::vector<std::string>{
                "model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                "model-00003-of-00003.safetensors", "model.safetensors.index.json"}));
  EXPECT_EQ(report.files.size(), 4u);
  const auto index =
      nlohmann::json::parse(test::read_file(folder.file("model.safetensors.index.json")));
  EXPECT_EQ(index["metadata"]["total_size"], 200);
  EXPECT_EQ(index["weight_map"]["layers.2"], "model-00002-of-00003.safetensors");
  const Archive archive = open(folder.path()).value();
  EXPECT_EQ(archive.size(), 5u);
  EXPECT_EQ(archive.metadata(), (Metadata{{"format", "pt"}}));
  EXPECT_EQ(archive.get("layers.4").value().read().value().to_vector<float>().value()[9], 4.0f);
}

TEST(ShardedWriter, NamesAreInHeadersAndIndexesAsTheyAre) {
  const test::TempDir folder;
  const std::string name = "a\x7f\u009b\u202e\u00a0\U000e0041";
  Archive archive = numbered(2);
  archive.add({name, Tensor::zeros(DType::u8, {40}).value()}).value();
  archive.set_metadata({{name, name}});
  ASSERT_TRUE(write(archive, folder.file("m.safetensors"), {.max_shard_bytes = 40}));
  const std::string last = test::read_file(folder.file("m-00003-of-00003.safetensors"));
  EXPECT_NE(last.find("{\"" + name + "\":\"" + name + "\","), std::string::npos) << last;
  EXPECT_NE(last.find("\"" + name + "\":{"), std::string::npos) << last;
  const std::string index = test::read_file(folder.file("m.safetensors.index.json"));
  EXPECT_NE(index.find("\"" + name + "\": \"m-00003"), std::string::npos) << index;
}

TEST(ShardedWriter, OneShardIsOneFileAndALargeTensorGetsItsOwn) {
  const test::TempDir folder;
  ASSERT_TRUE(write(numbered(2), folder.file("a.safetensors"), {.max_shard_bytes = 80}));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.safetensors"});
  const WriteReport report =
      write(numbered(3), folder.file("b.safetensors"), {.max_shard_bytes = 1}).value();
  EXPECT_EQ(report.files.size(), 4u);
}

TEST(ShardedWriter, LeavesNothingWhenAShardFails) {
  const test::TempDir folder;
  Archive archive = numbered(3);
  archive.add({"bad", Tensor::zeros(DType::c128, {10}).value()}).value();
  EXPECT_FALSE(write(archive, folder.file("m.safetensors"), {.max_shard_bytes = 40}));
  EXPECT_TRUE(folder.names().empty());
  // The last of the shards is taken already.
  test::write_file(folder.file("m-00003-of-00003.safetensors"), "old");
  EXPECT_EQ(write(numbered(3), folder.file("m.safetensors"), {.max_shard_bytes = 40}).error().code,
            ErrorCode::already_exists);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"m-00003-of-00003.safetensors"});
}

TEST(ShardedWriter, AModelHasOneForm) {
  const test::TempDir folder;
  const std::string path = folder.file("model.safetensors");
  ASSERT_TRUE(write(numbered(4), path, {.max_shard_bytes = 40}));
  EXPECT_EQ(write(numbered(1), path).error().code, ErrorCode::already_exists);
  EXPECT_EQ(open(folder.path()).value().size(), 4u);
  ASSERT_TRUE(write(numbered(1), path, {.overwrite = true}));
  EXPECT_EQ(open(folder.path()).value().size(), 1u);
  EXPECT_EQ(write(numbered(4), path, {.max_shard_bytes = 40}).error().code,
            ErrorCode::already_exists);
  ASSERT_TRUE(write(numbered(4), path, {.overwrite = true, .max_shard_bytes = 40}));
  EXPECT_EQ(open(folder.path()).value().size(), 4u);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ShardedWriter, ReportsProgressOverAllShards) {
  const test::TempDir folder;
  std::vector<std::uint64_t> seen;
  WriteOptions options{.max_shard_bytes = 40};
  options.progress = test::steps_into(seen, 120);
  ASSERT_TRUE(write(numbered(3), folder.file("m.safetensors"), options));
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{40, 80, 120}));
}

}  // namespace
}  // namespace andiron
