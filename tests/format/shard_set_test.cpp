// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/format/shard_set.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "andiron/file.h"
#include "andiron/open.h"
#include "src/io/folder.h"
#include "tests/support/temp_dir.h"
#include "tests/support/uniform_archive.h"

namespace andiron::detail {
namespace {

using NameList = std::vector<std::string>;

Archive numbered(int count) { return test::uniform_archive(count, static_cast<float>(count)); }

const ShardNames model{"model", ".safetensors"};

TEST(ShardNames, TheFirstSetHasNoNumber) {
  EXPECT_EQ(model.name(0, 1, 3), "model-00001-of-00003.safetensors");
  EXPECT_EQ(model.name(12, 3, 3), "model-12-00003-of-00003.safetensors");
}

TEST(ShardNames, TellsTheSetOfAShard) {
  EXPECT_EQ(model.set_number("model-00001-of-00003.safetensors"), 0u);
  EXPECT_EQ(model.set_number("model-12-00003-of-00003.safetensors"), 12u);
  for (const char* name :
       {"model.safetensors", "model-1-of-3.safetensors", "model-00001-of-00003.bin",
        "mode-00001-of-00003.safetensors", "model-x-00001-of-00003.safetensors",
        "model-00001-of-00003-00001.safetensors", "model--00001-of-00003.safetensors",
        "model-9999999999-00001-of-00003.safetensors", "other/model-00001-of-00003.safetensors"}) {
    EXPECT_FALSE(model.set_number(name)) << name;
  }
}

TEST(ShardNames, TakesOnlyItsOwnShardsFromAnIndex) {
  const auto names = model.in_index(
      R"({"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "/etc/passwd",
          "c": "important.safetensors", "d": "../model-00001-of-00002.safetensors", "e": 3}})");
  ASSERT_TRUE(names);
  EXPECT_EQ(*names, std::set<std::string>{"model-00001-of-00002.safetensors"});
  EXPECT_FALSE(model.in_index("{\"weight_map\": "));
  EXPECT_FALSE(model.in_index("[]"));
}

class ShardSets : public ::testing::Test {
 protected:
  Result<WriteReport> save(int count, WriteOptions options = {}) {
    options.overwrite = true;
    if (options.max_shard_bytes == 0) options.max_shard_bytes = 80;
    return write(numbered(count), path_, options);
  }

  const test::TempDir folder_;
  const std::string path_ = folder_.file("model.safetensors");
};

TEST_F(ShardSets, AReplacedSetGetsNewNamesAndTheOldShardsGo) {
  ASSERT_TRUE(save(3));
  EXPECT_EQ(folder_.names(),
            (NameList{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                      "model.safetensors.index.json"}));
  const WriteReport report = save(4).value();
  EXPECT_EQ(folder_.names(),
            (NameList{"model-1-00001-of-00002.safetensors", "model-1-00002-of-00002.safetensors",
                      "model.safetensors.index.json"}));
  EXPECT_EQ(report.files.front(), folder_.file("model-1-00001-of-00002.safetensors"));
  EXPECT_EQ(report.files.back(), folder_.file("model.safetensors.index.json"));
  ASSERT_TRUE(save(5));
  EXPECT_EQ(folder_.names().front(), "model-2-00001-of-00003.safetensors");
  EXPECT_EQ(open(path_).value().size(), 5u);
}

TEST_F(ShardSets, WhatAnOpenReaderReadsIsTheOldSet) {
  ASSERT_TRUE(save(3));
  const Archive old = open(path_).value();
  ASSERT_TRUE(save(4));
  EXPECT_EQ(old.get("layers.2").value().read().value().to_vector<float>().value()[0], 3.0f);
}

TEST_F(ShardSets, ADryRunNamesTheFilesThatASaveMakes) {
  ASSERT_TRUE(save(3));
  const NameList before = folder_.names();
  const WriteReport planned = save(4, {.dry_run = true}).value();
  EXPECT_EQ(folder_.names(), before);
  const WriteReport made = save(4).value();
  EXPECT_EQ(planned.files, made.files);
  EXPECT_EQ(planned.bytes, made.bytes);
}

TEST_F(ShardSets, FilesOfOthersStay) {
  test::write_file(folder_.file("model-00001-of-00002.safetensors"), "somebody else's");
  test::write_file(folder_.file("important.safetensors"), "precious");
  ASSERT_TRUE(save(3));
  test::write_file(folder_.file("model.safetensors.index.json"),
                   R"({"weight_map": {"a": "important.safetensors"}})");
  ASSERT_TRUE(save(4));
  EXPECT_EQ(test::read_file(folder_.file("model-00001-of-00002.safetensors")), "somebody else's");
  EXPECT_EQ(test::read_file(folder_.file("important.safetensors")), "precious");
  EXPECT_EQ(open(path_).value().size(), 4u);
}

TEST_F(ShardSets, ASingleFileGoesBeforeAnIndexByPathAndByFolder) {
  ASSERT_TRUE(save(3));
  const test::TempDir other;
  ASSERT_TRUE(write(numbered(1), other.file("model.safetensors")));
  std::filesystem::copy_file(other.file("model.safetensors"), path_);
  EXPECT_EQ(open(path_).value().size(), 1u);
  EXPECT_EQ(open(folder_.path()).value().size(), 1u);
  // Under a name that is not a usual one, too.
  const test::TempDir third;
  ASSERT_TRUE(write(numbered(3), third.file("net.safetensors"), {.max_shard_bytes = 80}));
  std::filesystem::copy_file(path_, third.file("net.safetensors"));
  EXPECT_EQ(open(third.path()).value().size(), 1u);
}

TEST_F(ShardSets, OneFileInPlaceOfShardsRemovesThemAndTheirIndex) {
  ASSERT_TRUE(save(3));
  ASSERT_TRUE(write(numbered(1), path_, {.overwrite = true}));
  EXPECT_EQ(folder_.names(), NameList{"model.safetensors"});
  ASSERT_TRUE(save(3));
  EXPECT_EQ(folder_.names().size(), 3u);
  EXPECT_EQ(open(folder_.path()).value().size(), 3u);
}

TEST_F(ShardSets, WhatAKilledSaveLeftIsRemovedByItsIndex) {
  ASSERT_TRUE(save(3));
  test::write_file(folder_.file("model-7-00001-of-00001.safetensors"), "left");
  test::write_file(folder_.file(".model.safetensors.index.json.7.tmp"),
                   R"({"weight_map": {"a": "model-7-00001-of-00001.safetensors",
                                      "b": "model-00001-of-00002.safetensors"}})");
  test::write_file(folder_.file(".model.safetensors.index.json.8.tmp"), "half an index");
  // Shards of the current set stay, whatever else names them.
  EXPECT_EQ(open(path_).value().size(), 3u);
  ASSERT_TRUE(save(4));
  EXPECT_EQ(folder_.names(),
            (NameList{"model-1-00001-of-00002.safetensors", "model-1-00002-of-00002.safetensors",
                      "model.safetensors.index.json"}));
}

TEST_F(ShardSets, NewShardsAreAsPrivateAsTheOld) {
  ASSERT_TRUE(save(3));
  ASSERT_EQ(::chmod(folder_.file("model.safetensors.index.json").c_str(), 0600), 0);
  ASSERT_TRUE(save(4));
  for (const std::string& name : folder_.names()) {
    struct stat found{};
    ASSERT_EQ(::stat(folder_.file(name).c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600u) << name;
  }
  ASSERT_TRUE(write(numbered(1), path_, {.overwrite = true}));
  struct stat found{};
  ASSERT_EQ(::stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST_F(ShardSets, ShardsOfAModelWithANumberInItsNameStay) {
  ASSERT_TRUE(write(numbered(3), folder_.file("model-1.safetensors"), {.max_shard_bytes = 80}));
  ASSERT_TRUE(save(3));
  ASSERT_TRUE(save(4));
  // Somebody makes it look as if a killed save of "model" had left them.
  test::write_file(folder_.file(".model.safetensors.index.json.1.tmp"),
                   R"({"weight_map": {"a": "model-1-00001-of-00002.safetensors"}})");
  ASSERT_TRUE(save(5));
  EXPECT_EQ(open(folder_.file("model-1.safetensors")).value().size(), 3u);
  EXPECT_EQ(open(path_).value().size(), 5u);
}

TEST_F(ShardSets, TheFirstSetHasNoNumberBesideAModelWithANumberInItsName) {
  ASSERT_TRUE(write(numbered(3), folder_.file("model-1.safetensors"), {.max_shard_bytes = 80}));
  const WriteReport report = save(3).value();
  EXPECT_EQ(report.files.front(), folder_.file("model-00001-of-00002.safetensors"));
}

TEST_F(ShardSets, ALoneShardIsNotAModel) {
  ASSERT_TRUE(save(3));
  std::filesystem::remove(folder_.file("model.safetensors.index.json"));
  std::filesystem::remove(folder_.file("model-00002-of-00002.safetensors"));
  const Result<Archive> archive = open(folder_.path());
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().code, ErrorCode::not_a_weight_file);
}

TEST_F(ShardSets, AFileBesideNewShardsIsTheModelUntilItIsRemoved) {
  const test::TempDir folder;
  ASSERT_TRUE(write(numbered(1), folder.file("net.safetensors")));
  test::write_file(folder.file("net-00001-of-00002.safetensors"), "a new shard");
  EXPECT_EQ(open(folder.path()).value().size(), 1u);
}

TEST_F(ShardSets, WithoutOverwriteNothingIsRemovedThatAppearedMeanwhile) {
  const Archive archive = numbered(3);
  WriteOptions options{.max_shard_bytes = 80};
  options.progress = [&](std::uint64_t, std::uint64_t) {
    test::write_file(path_, "somebody else's");
    return true;
  };
  EXPECT_EQ(write(archive, path_, options).error().code, ErrorCode::already_exists);
  EXPECT_EQ(folder_.names(), NameList{"model.safetensors"});
  std::filesystem::remove(path_);
  options.max_shard_bytes = 0;
  const std::string index = folder_.file("model.safetensors.index.json");
  options.progress = [&](std::uint64_t, std::uint64_t) {
    test::write_file(index, "somebody else's");
    return true;
  };
  EXPECT_EQ(write(archive, path_, options).error().code, ErrorCode::already_exists);
  EXPECT_EQ(folder_.names(), NameList{"model.safetensors.index.json"});
}

TEST_F(ShardSets, NeedAPathWithTheirEnding) {
  const Result<WriteReport> report = write(numbered(3), folder_.file("model"),
                                           {.format = Format::safetensors, .max_shard_bytes = 80});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(folder_.names().empty());
}

TEST_F(ShardSets, AFolderBehindALinkIsTheOneThatItWasAtTheStart) {
  const test::TempDir elsewhere;
  const std::string link = folder_.file("latest");
  const std::string first = folder_.file("first");
  std::filesystem::create_directory(first);
  std::filesystem::create_directory_symlink(first, link);
  WriteOptions options{.overwrite = true, .max_shard_bytes = 80};
  options.progress = [&](std::uint64_t, std::uint64_t) {
    std::filesystem::remove(link);
    std::filesystem::create_directory_symlink(elsewhere.path(), link);
    return true;
  };
  ASSERT_TRUE(write(numbered(3), link + "/model.safetensors", options));
  EXPECT_EQ(open(first).value().size(), 3u);
  EXPECT_TRUE(elsewhere.names().empty());
}

TEST_F(ShardSets, ManyShardsNeedFewDescriptors) {
  const Archive archive = numbered(200);
  ASSERT_TRUE(write(archive, path_, {.max_shard_bytes = 40}));
  EXPECT_EQ(folder_.names().size(), 201u);
}

// As where a folder lets files be made, but not removed.
class ShardSetsThatStay : public ShardSets {
 protected:
  ~ShardSetsThatStay() override { system_calls() = saved_; }
  template <bool is_hidden>
  static int keep(int folder, const char* path, int flags) {
    struct stat found{};
    const bool is_kept = (file_name_of(path).front() == '.') == is_hidden;
    if (!is_kept || ::fstatat(folder, path, &found, 0) != 0) return ::unlinkat(folder, path, flags);
    errno = EPERM;
    return -1;
  }
  void removing_works() { system_calls().unlinkat = saved_.unlinkat; }

 private:
  const System saved_ = system_calls();
};

TEST_F(ShardSetsThatStay, AreNoted) {
  const std::string note =
      "shards of the old model, or its index, could not be removed; the next save removes them";
  for (const auto stays : {keep<false>, keep<true>}) {
    for (const std::uint64_t shard_bytes : {std::uint64_t{80}, std::uint64_t{1} << 20}) {
      ASSERT_TRUE(save(3));
      system_calls().unlinkat = stays;
      const Result<WriteReport> report = save(4, {.max_shard_bytes = shard_bytes});
      ASSERT_TRUE(report) << report.error();
      EXPECT_EQ(report->notes, std::vector<Message>{note});
      EXPECT_EQ(open(path_).value().size(), 4u);
      removing_works();
      ASSERT_TRUE(save(5));
      EXPECT_EQ(open(path_).value().size(), 5u);
      EXPECT_EQ(folder_.names().size(), 4u);
    }
  }
}

TEST_F(ShardSetsThatStay, AfterASaveThatFailedAreInItsHint) {
  ASSERT_TRUE(save(3));
  system_calls().unlinkat = keep<false>;
  WriteOptions options;
  options.progress = [](std::uint64_t done, std::uint64_t total) { return done < total; };
  const Result<WriteReport> report = save(4, options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::cancelled);
  EXPECT_EQ(report.error().hint,
            "some of the new shards could not be removed; the next save does that");
  EXPECT_EQ(open(path_).value().size(), 3u);
  removing_works();
  ASSERT_TRUE(save(5));
  EXPECT_EQ(folder_.names().size(), 4u);
}

}  // namespace
}  // namespace andiron::detail
