// SPDX-License-Identifier: MIT OR Apache-2.0
// Limits and faults of writing Burnpack files, and files that are there already.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <vector>

#include "andiron/open.h"
#include "andiron/write.h"
#include "tests/support/burnpack_file.h"
#include "tests/support/burnpack_writing.h"
#include "tests/support/progress_steps.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {
namespace {

TEST(BurnpackWriter, KeepsToTheLimitsOfBurnsReader) {
  const Archive archive =
      archive_of({{"a", filled(DType::u8, {100})}, {"big", filled(DType::u8, {1000})}});
  const std::string file = written(archive);
  const std::uint64_t metadata_bytes =
      static_cast<unsigned char>(file[6]) | static_cast<unsigned char>(file[7]) << 8;
  const auto code = [&](std::uint64_t Limits::* limit, std::uint64_t most) {
    WriteOptions options = for_release();
    options.limits.*limit = most;
    const Result<Bytes> bytes = write_to_memory(archive, options);
    return bytes ? "fine" : std::string(code_name(bytes.error().code)) + " " + bytes.error().tensor;
  };
  EXPECT_EQ(code(&Limits::burnpack_tensors, 1), "LimitExceeded ");
  EXPECT_EQ(code(&Limits::burnpack_tensors, 2), "fine");
  EXPECT_EQ(code(&Limits::burnpack_tensor_bytes, 999), "LimitExceeded big");
  EXPECT_EQ(code(&Limits::burnpack_tensor_bytes, 1000), "fine");
  EXPECT_EQ(code(&Limits::burnpack_file_bytes, file.size() - 1), "LimitExceeded ");
  EXPECT_EQ(code(&Limits::burnpack_file_bytes, file.size()), "fine");
  EXPECT_EQ(code(&Limits::burnpack_metadata_bytes, metadata_bytes - 1), "LimitExceeded ");
  EXPECT_EQ(code(&Limits::burnpack_metadata_bytes, metadata_bytes), "fine");
  EXPECT_EQ(code(&Limits::name_bytes, 2), "LimitExceeded big");
}

TEST(BurnpackWriter, BurnsOwnLimitsAreTheDefault) {
  const auto source = [](std::uint64_t size) {
    class Huge : public ByteSource {
     public:
      explicit Huge(std::uint64_t size) : size_(size) {}
      std::uint64_t size() const noexcept override { return size_; }
      const std::string& name() const noexcept override { return name_; }

     private:
      Status do_read_at(std::uint64_t, std::span<std::byte>) const override {
        return Error{.code = ErrorCode::io, .message = "nothing is read"};
      }
      std::uint64_t size_;
      std::string name_ = "huge";
    };
    return std::make_shared<Huge>(size);
  };
  const std::uint64_t most = std::uint64_t{10} << 30;
  const auto archive = [&](std::uint64_t size, int count) {
    Archive result;
    for (int i = 0; i < count; ++i) {
      result
          .add(TensorSnapshot::from_source("t" + std::to_string(i), source(size), 0, size,
                                           DType::u8, {size})
                   .value())
          .value();
    }
    return result;
  };
  EXPECT_EQ(refusal(archive(most + 1, 1)).code, ErrorCode::limit_exceeded);
  EXPECT_EQ(refusal(archive(most, 10)).code, ErrorCode::limit_exceeded);
  const TempDir folder;
  WriteOptions options{.dry_run = true};
  const WriteReport report = write(archive(most, 9), folder.file("m.bpk"), options).value();
  EXPECT_EQ(report.bytes, 9 * most + 768);
}

TEST(BurnpackWriter, ShardsAreRefused) {
  const TempDir folder;
  const Result<WriteReport> report = write(archive_of({{"t", filled(DType::u8, {10})}}),
                                           folder.file("m.bpk"), {.max_shard_bytes = 5});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::unsupported);
  EXPECT_TRUE(folder.names().empty());
}

TEST(BurnpackWriter, ReportsProgressInTensorBytesAndCancels) {
  const TempDir folder;
  const Archive archive =
      archive_of({{"a", filled(DType::u8, {100})}, {"b", filled(DType::u8, {50})}});
  std::vector<std::uint64_t> seen;
  WriteOptions options;
  options.limits.window_bytes = 64;
  options.progress = steps_into(seen, 150);
  ASSERT_TRUE(write(archive, folder.file("a.bpk"), options));
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{64, 100, 150}));
  options.progress = [](std::uint64_t done, std::uint64_t) { return done < 100; };
  EXPECT_EQ(write(archive, folder.file("b.bpk"), options).error().code, ErrorCode::cancelled);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.bpk"});
}

TEST(BurnpackWriter, ARefusedPlanReadsNothingAndMakesNoFile) {
  const TempDir folder;
  Watched watched(2);
  watched.archive.add({"bad", filled(DType::c64, {1})}).value();
  EXPECT_FALSE(write(watched.archive, folder.file("m.bpk")));
  EXPECT_EQ(watched.sources[0]->reads(), 0u);
  EXPECT_TRUE(folder.names().empty());
}

TEST(BurnpackWriter, AFailingTensorIsNamedAndLeavesTheOldFile) {
  const TempDir folder;
  const std::string path = folder.file("m.bpk");
  Watched watched(3, 4096);
  watched.sources[1]->fail_reads_past(1000);
  WriteOptions options;
  options.limits.window_bytes = 256;
  Result<WriteReport> report = write(watched.archive, path, options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::io);
  EXPECT_EQ(report.error().tensor, "t1");
  EXPECT_NE(report.error().to_string().find("the test said so"), std::string::npos);
  EXPECT_TRUE(folder.names().empty());

  ASSERT_TRUE(write(archive_of({{"old", filled(DType::u8, {3})}}), path));
  const std::string before = read_file(path);
  options.overwrite = true;
  EXPECT_FALSE(write(watched.archive, path, options));
  EXPECT_EQ(read_file(path), before);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"m.bpk"});
}

TEST(BurnpackWriter, ASinkThatFailsAnywhereEndsTheWrite) {
  class Full : public Sink {
   public:
    explicit Full(std::size_t room) : room_(room) {}
    Status write(std::span<const std::byte> data) override {
      EXPECT_FALSE(failed_) << "written to after a failure";
      if (data.size() > room_) {
        failed_ = true;
        return Error{.code = ErrorCode::io, .message = "full"};
      }
      room_ -= data.size();
      return {};
    }

   private:
    std::size_t room_;
    bool failed_ = false;
  };
  const Archive archive = open_burnpack(worked_example()).value();
  const std::size_t size = written(archive).size();
  for (std::size_t room = 0; room < size; ++room) {
    Full sink(room);
    EXPECT_EQ(write(archive, sink, for_release()).error().code, ErrorCode::io) << room;
  }
  Full enough(size);
  EXPECT_TRUE(write(archive, enough, for_release()));
}

TEST(BurnpackWriter, AnExistingFileIsReplacedOnlyWhenTold) {
  const TempDir folder;
  const std::string path = folder.file("m.bpk");
  ASSERT_TRUE(write(archive_of({{"old", filled(DType::u8, {3})}}), path));
  const std::string before = read_file(path);
  EXPECT_EQ(write(Archive(), path).error().code, ErrorCode::already_exists);
  EXPECT_EQ(read_file(path), before);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  ASSERT_TRUE(write(Archive(), path, {.overwrite = true}));
  EXPECT_EQ(read_file(path).size(), 256u);
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"m.bpk"});
  // A folder cannot be replaced, and nothing is left beside it.
  EXPECT_FALSE(write(Archive(), folder.path(), {.format = Format::burnpack, .overwrite = true}));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"m.bpk"});
}

TEST(BurnpackWriter, AFileThatAppearsDuringTheWriteIsKept) {
  const TempDir folder;
  const std::string path = folder.file("m.bpk");
  WriteOptions options;
  options.progress = [&](std::uint64_t, std::uint64_t) {
    write_file(path, "somebody else's");
    return true;
  };
  EXPECT_EQ(write(archive_of({{"t", filled(DType::u8, {3})}}), path, options).error().code,
            ErrorCode::already_exists);
  EXPECT_EQ(read_file(path), "somebody else's");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"m.bpk"});
}

TEST(BurnpackWriter, AnArchiveCanBeWrittenOverTheFileItReads) {
  const TempDir folder;
  expect_can_be_written_over_itself(folder.file("m.bpk"));
}

}  // namespace
}  // namespace andiron::test
