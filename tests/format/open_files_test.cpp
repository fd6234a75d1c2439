// SPDX-License-Identifier: MIT OR Apache-2.0
// Models whose files are not in a folder.
#include <gtest/gtest.h>

#include "andiron/open.h"
#include "andiron/stores.h"
#include "andiron/write.h"
#include "tests/support/bytes_of_text.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/temp_dir.h"

namespace andiron {
namespace {

Archive two_tensors() {
  Archive archive;
  archive.add(TensorSnapshot("a", Tensor::from_values<float>({2}, {1, 2}).value())).value();
  archive.add(TensorSnapshot("b", Tensor::from_values<float>({2}, {3, 4}).value())).value();
  return archive;
}

// The files of a sharded model, under the names that they had in a folder.
std::map<std::string, Bytes> shards(const std::string& prefix = "") {
  const test::TempDir folder;
  const WriteReport report =
      write(two_tensors(), folder.file("model.safetensors"), {.max_shard_bytes = 8}).value();
  std::map<std::string, Bytes> files;
  for (const std::string& path : report.files) {
    const std::string name = path.substr(path.rfind('/') + 1);
    files.emplace(prefix + name, test::bytes_of_text(test::read_file(path)));
  }
  return files;
}

std::vector<float> values(const Archive& archive, const char* name) {
  return archive.get(name).value().read().value().to_vector<float>().value();
}

TEST(OpenFiles, ShardsInMemoryOpenLikeThoseOnDisk) {
  const FileSetPtr files = memory_files(shards());
  for (const char* name : {"", "model.safetensors.index.json", "model.safetensors"}) {
    const Archive archive = open(*files, name).value();
    EXPECT_EQ(archive.packaging(), "sharded");
    EXPECT_EQ(archive.size(), 2u);
    EXPECT_EQ(values(archive, "b"), (std::vector<float>{3, 4}));
    EXPECT_EQ(archive.info(1).file, "model-00002-of-00002.safetensors");
  }
}

TEST(OpenFiles, TensorsOutliveTheSet) {
  Archive archive;
  {
    const FileSetPtr files = memory_files(shards());
    archive = open(*files).value();
  }
  EXPECT_EQ(values(archive, "a"), (std::vector<float>{1, 2}));
}

TEST(OpenFiles, AnIndexInAFolderOfTheSetNamesFilesBesideIt) {
  const FileSetPtr files = memory_files(shards("models/small/"));
  EXPECT_EQ(open(*files, "models/small/model.safetensors").value().size(), 2u);
}

TEST(OpenFiles, AMissingShardIsNamed) {
  std::map<std::string, Bytes> files = shards();
  files.erase("model-00002-of-00002.safetensors");
  const Error error = open(*memory_files(files)).error();
  EXPECT_EQ(error.code, ErrorCode::missing_shard);
  EXPECT_EQ(error.file, "model-00002-of-00002.safetensors");
}

TEST(OpenFiles, AnIndexCannotReachOutOfTheSet) {
  class Watched : public FileSet {
   public:
    explicit Watched(FileSetPtr files) : files_(std::move(files)) {}
    std::string name() const override { return "watched"; }
    Result<ByteSourcePtr> open(const std::string& name) const override {
      asked.push_back(name);
      return files_->open(name);
    }
    mutable std::vector<std::string> asked;

   private:
    FileSetPtr files_;
  };
  const std::string index = R"({"weight_map":{"a":"../up.safetensors"}})";
  const Watched files(memory_files({{"i.safetensors.index.json", test::bytes_of_text(index)}}));
  EXPECT_EQ(open(files, "i.safetensors.index.json").error().code, ErrorCode::bad_index);
  EXPECT_EQ(files.asked, std::vector<std::string>{"i.safetensors.index.json"});
}

TEST(OpenFiles, ASetThatCannotListNeedsAName) {
  class Unlisted : public FileSet {
   public:
    std::string name() const override { return "http"; }
    Result<ByteSourcePtr> open(const std::string& name) const override {
      return memory_files(shards())->open(name);
    }
  };
  EXPECT_EQ(open(Unlisted()).error().code, ErrorCode::unsupported);
  EXPECT_EQ(open(Unlisted(), "model.safetensors").value().size(), 2u);
}

TEST(OpenFiles, WithoutASetAnIndexIsUnsupported) {
  const Bytes index = shards().at("model.safetensors.index.json");
  const Error error = open(index).error();
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_NE(error.hint.find("FileSet"), std::string::npos);
}

TEST(OpenFiles, AStoreLoadsFromASetAndDoesNotSaveIntoIt) {
  auto store = SafetensorsStore::from_files(memory_files(shards()), "model.safetensors");
  EXPECT_EQ(store.keys().value(), (std::vector<std::string>{"a", "b"}));
  struct Net {
    Param a;
    Param b;
    ANDIRON_MODULE(Net, a, b)
  };
  Net net;
  EXPECT_EQ(load_from(net, store).value().applied.size(), 2u);
  EXPECT_EQ(save_into(net, store).error().code, ErrorCode::unsupported);
  EXPECT_EQ(SafetensorsStore::from_files(nullptr).keys().error().code, ErrorCode::invalid_argument);
}

TEST(OpenFiles, ShardsOpenAlsoWhereTheFormatIsTold) {
  EXPECT_EQ(open(*memory_files(shards()), "model.safetensors", {.format = Format::safetensors})
                .value()
                .size(),
            2u);
}

TEST(OpenFiles, AFolderIsASet) {
  const test::TempDir folder;
  write(two_tensors(), folder.file("model.bpk")).value();
  const FileSetPtr files = folder_files(folder.path());
  EXPECT_EQ(files->names().value(), std::vector<std::string>{"model.bpk"});
  EXPECT_EQ(open(*files).value().format(), "burnpack");
  EXPECT_EQ(open(*folder_files(folder.file("absent"))).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace andiron
