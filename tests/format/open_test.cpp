// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/open.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "andiron/sha256.h"
#include "andiron/write.h"
#include "src/io/system_calls.h"
#include "tests/support/burnpack_file.h"
#include "tests/support/bytes_of_text.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_containers.h"

namespace andiron {
namespace {

const std::string sample = test::safetensors_file(
    R"({"t":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", std::string_view("abc"));

TEST(Open, NoModeCopiesFromAMapping) {
  const test::TempDir folder;
  const std::string path = folder.file("m.safetensors");
  Archive archive;
  archive.add({"w", Tensor::from_values<float>({2, 3}, {1, 2, 3, 4, 5, 6}).value()}).value();
  write(archive, path).value();
  const System real = system_calls();
  for (IoMode mode : {IoMode::automatic, IoMode::mmap, IoMode::pread, IoMode::direct}) {
    const TensorSnapshot tensor = open(path, {.io = mode}).value().get("w").value();
    EXPECT_FALSE(tensor.is_in_memory());
    system_calls().map = [](int, std::size_t) -> void* {
      ADD_FAILURE() << "a mapping for a copy";
      return nullptr;
    };
    EXPECT_TRUE(tensor.read().ok());
    EXPECT_TRUE(tensor.transpose(0, 1)->cast(DType::f64)->read().ok());
    EXPECT_TRUE(sha256(tensor).ok());
    system_calls() = real;
    EXPECT_TRUE(tensor.borrow().ok());
  }
}

TEST(Open, FindsTheFormatByContentWhateverTheName) {
  const test::TempDir folder;
  test::write_file(folder.file("weights.bin"), sample);
  for (IoMode mode : {IoMode::automatic, IoMode::mmap, IoMode::pread, IoMode::direct}) {
    const Archive archive = open(folder.file("weights.bin"), {.io = mode}).value();
    EXPECT_EQ(archive.format(), "safetensors");
    EXPECT_EQ(archive.packaging(), "single");
    EXPECT_FALSE(archive.is_pickled());
    EXPECT_EQ(archive.file_bytes(), sample.size());
    EXPECT_EQ(archive.get("t").value().read().value().bytes().text(), "abc");
  }
}

TEST(Open, FindsBurnpackByContentWhateverTheName) {
  const test::TempDir folder;
  for (const char* name : {"m.bpk", "m.safetensors", "m.mpk", "m"}) {
    test::write_file(folder.file(name), test::worked_example());
    for (IoMode mode : {IoMode::automatic, IoMode::mmap, IoMode::pread, IoMode::direct}) {
      const Archive archive = open(folder.file(name), {.io = mode}).value();
      EXPECT_EQ(archive.format(), "burnpack");
      EXPECT_EQ(archive.size(), 3u);
    }
  }
}

TEST(Open, TakesTheFormatThatItIsTold) {
  EXPECT_EQ(open(test::bytes_of_text(sample), {.format = Format::burnpack}).error().code,
            ErrorCode::not_a_weight_file);
  EXPECT_FALSE(open(test::bytes_of_text(test::worked_example()), {.format = Format::safetensors}));
  EXPECT_FALSE(open(test::bytes_of_text(test::worked_example()), {.format = Format::mpk}));
  EXPECT_FALSE(open(test::bytes_of_text(test::worked_example()), {.format = Format::pytorch}));
}

TEST(Open, BorrowsFromStaticMemoryWithoutACopy) {
  const Bytes memory = Bytes::borrow(std::as_bytes(std::span(sample.data(), sample.size())));
  const Archive archive = open(memory).value();
  const Tensor tensor = archive.get("t").value().borrow().value();
  EXPECT_EQ(static_cast<const void*>(tensor.bytes().data()), sample.data() + sample.size() - 3);
}

TEST(Open, TensorsOutliveTheArchive) {
  const test::TempDir folder;
  test::write_file(folder.file("m.safetensors"), sample);
  Tensor tensor;
  {
    const Archive archive = open(folder.file("m.safetensors")).value();
    tensor = archive.get("t").value().borrow().value();
  }
  std::filesystem::remove(folder.file("m.safetensors"));
  EXPECT_EQ(tensor.bytes().text(), "abc");
}

TEST(Open, TellsWhatAFileIsInstead) {
  const test::TempDir folder;
  test::write_file(folder.file("pointer.safetensors"),
                   "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n");
  Result<Archive> archive = open(folder.file("pointer.safetensors"));
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().code, ErrorCode::not_a_weight_file);
  EXPECT_NE(archive.error().to_string().find("git lfs pull"), std::string::npos);

  EXPECT_EQ(open(folder.file("absent")).error().code, ErrorCode::not_found);
  test::write_file(folder.file("text"), "hello");
  EXPECT_EQ(open(folder.file("text")).error().code, ErrorCode::not_a_weight_file);
  EXPECT_EQ(open(folder.file("text")).error().found, "content that begins with 'hello'");
  test::write_file(folder.file("config.json"), R"({"hidden_size": 8})");
  EXPECT_EQ(open(folder.file("config.json")).error().code, ErrorCode::not_a_weight_file);
}

TEST(Open, AnIndexInMemoryHasNoShardsBesideIt) {
  EXPECT_EQ(open(test::bytes_of_text(R"({"weight_map":{"a":"a.safetensors"}})")).error().code,
            ErrorCode::unsupported);
}

TEST(Open, ErrorsOfASourceNameIt) {
  class Broken : public ByteSource {
   public:
    std::uint64_t size() const noexcept override { return 100; }
    const std::string& name() const noexcept override { return name_; }

   private:
    Status do_read_at(std::uint64_t, std::span<std::byte>) const override {
      return Error{.code = ErrorCode::io, .message = "gone"};
    }
    std::string name_ = "net://x";
  };
  EXPECT_EQ(open(ByteSourcePtr(std::make_shared<Broken>())).error().to_string(), "net://x: gone");
}

TEST(Open, ABrokenFileGetsTheReasonWhyByItsName) {
  const test::TempDir folder;
  test::write_file(folder.file("short.safetensors"), "abc");
  EXPECT_EQ(open(folder.file("short.safetensors")).error().code, ErrorCode::truncated);
  test::write_file(folder.file("short.bpk"), "NRU");
  EXPECT_EQ(open(folder.file("short.bpk")).error().code, ErrorCode::truncated);
  test::write_file(folder.file("short.pt"), "abc");
  EXPECT_EQ(open(folder.file("short.pt")).error().code, ErrorCode::not_a_weight_file);
  test::write_file(folder.file("other.bpk"), "something else");
  EXPECT_EQ(open(folder.file("other.bpk")).error().code, ErrorCode::not_a_weight_file);
}

TEST(Open, TakesAFolderWithOneModel) {
  const test::TempDir folder;
  EXPECT_EQ(open(folder.path()).error().code, ErrorCode::not_a_weight_file);
  test::write_file(folder.file("config.json"), "{}");
  test::write_file(folder.file("other.safetensors"), sample);
  EXPECT_EQ(open(folder.path()).value().size(), 1u);
  test::write_file(folder.file("second.safetensors"), sample);
  Result<Archive> two = open(folder.path());
  ASSERT_FALSE(two);
  EXPECT_NE(two.error().to_string().find("other.safetensors, second.safetensors"),
            std::string::npos);
  test::write_file(folder.file("model.safetensors"), test::safetensors_file("{}", 0));
  EXPECT_TRUE(open(folder.path()).value().empty());
}

TEST(Open, AFolderWithTwoModelsIsRefusedUnlessOneHasTheUsualName) {
  const test::TempDir folder;
  const auto format = [&] { return open(folder.path()).value().format(); };
  test::write_file(folder.file("net.bpk"), test::worked_example());
  EXPECT_EQ(format(), "burnpack");
  test::write_file(folder.file("second.bpk"), test::worked_example());
  EXPECT_EQ(open(folder.path()).error().code, ErrorCode::not_a_weight_file);
  std::filesystem::remove(folder.file("second.bpk"));
  test::write_file(folder.file("net.safetensors"), sample);
  EXPECT_EQ(open(folder.path()).error().code, ErrorCode::not_a_weight_file);
  test::write_file(folder.file("model.bpk"), test::worked_example());
  EXPECT_EQ(format(), "burnpack");
  test::write_file(folder.file("model.safetensors"), sample);
  EXPECT_EQ(format(), "safetensors");
}

std::string torch_sample() { return test::zip_file(test::sample_records()); }

TEST(Open, AFolderWithAFileOfPytorchIsTakenWhenThereIsNothingElse) {
  for (const char* name : {"pytorch_model.bin", "net.pt", "net.pth", "last.ckpt", "weights.bin"}) {
    const test::TempDir folder;
    test::write_file(folder.file("config.json"), "{}");
    test::write_file(folder.file(name), torch_sample());
    EXPECT_EQ(open(folder.path()).value().format(), "pytorch") << name;
  }
}

TEST(Open, APickleNeverComesBeforeAnotherFormat) {
  for (const char* pickle : {"pytorch_model.bin", "net.pt", ".metadata"}) {
    for (const char* name : {"model.safetensors", "other.safetensors"}) {
      const test::TempDir folder;
      test::write_file(folder.file(pickle), torch_sample());
      test::write_file(folder.file(name), sample);
      EXPECT_EQ(open(folder.path()).value().format(), "safetensors") << pickle << " " << name;
    }
  }
  const test::TempDir folder;
  test::write_file(folder.file("pytorch_model.bin"), torch_sample());
  test::write_file(folder.file("net.bpk"), test::worked_example());
  EXPECT_EQ(open(folder.path()).value().format(), "burnpack");
}

TEST(Open, OfFilesOfPytorchTheUsualNameComesFirst) {
  const test::TempDir folder;
  test::write_file(folder.file("optimizer.pt"), torch_sample());
  test::write_file(folder.file("scheduler.pt"), torch_sample());
  EXPECT_EQ(open(folder.path()).error().code, ErrorCode::not_a_weight_file);
  test::write_file(folder.file("pytorch_model.bin"), torch_sample());
  EXPECT_EQ(open(folder.path()).value().origin(), folder.file("pytorch_model.bin"));
  test::write_file(folder.file("pytorch_model-1.bin"), torch_sample());
  test::write_file(folder.file("pytorch_model.bin.index.json"),
                   R"({"weight_map":{"w":"pytorch_model-1.bin","b":"pytorch_model-1.bin"}})");
  // A single file wins over an index.
  EXPECT_EQ(open(folder.path()).value().origin(), folder.file("pytorch_model.bin"));
  std::filesystem::remove(folder.file("pytorch_model.bin"));
  EXPECT_EQ(open(folder.path()).value().packaging(), "sharded");
}

TEST(Open, ShardsGoByTheNameOfTheWholeModel) {
  const test::TempDir folder;
  test::write_file(folder.file("part.bin"), torch_sample());
  test::write_file(folder.file("whole.bin.index.json"),
                   R"({"weight_map":{"w":"part.bin","b":"part.bin"}})");
  EXPECT_EQ(open(folder.file("whole.bin")).value().packaging(), "sharded");
}

TEST(Open, PartsWithoutWhatBelongsToThemSayWhatIsMissing) {
  const auto hint = [](const std::string& path) { return open(path).error().hint; };
  const test::TempDir shards;
  test::write_file(shards.file("pytorch_model-00001-of-00002.bin"), torch_sample());
  test::write_file(shards.file("pytorch_model-00002-of-00002.bin"), torch_sample());
  EXPECT_NE(hint(shards.path()).find(".index.json is missing"), std::string::npos);

  const test::TempDir distributed;
  test::write_file(distributed.file("__0_0.distcp"), torch_sample() + torch_sample());
  EXPECT_NE(open(distributed.path()).error().found.find("without their .metadata"),
            std::string::npos);
  EXPECT_NE(hint(distributed.file("__0_0.distcp")).find("open its folder"), std::string::npos);
}

TEST(Open, AFileCutUnderAnOpenArchiveIsAnError) {
  const test::TempDir folder;
  const std::string path = folder.file("m.safetensors");
  for (IoMode mode : {IoMode::automatic, IoMode::mmap, IoMode::pread, IoMode::direct}) {
    test::write_file(path, sample);
    const Archive archive = open(path, {.io = mode}).value();
    std::filesystem::resize_file(path, 20);
    Result<Tensor> read = archive.get("t").value().read();
    ASSERT_FALSE(read);
    EXPECT_TRUE(read.error().code == ErrorCode::truncated ||
                read.error().code == ErrorCode::file_changed);
    EXPECT_EQ(read.error().tensor, "t");
    EXPECT_FALSE(archive.get("t").value().borrow());
    std::filesystem::remove(path);
  }
}

}  // namespace
}  // namespace andiron
