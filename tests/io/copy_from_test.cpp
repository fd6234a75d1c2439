// SPDX-License-Identifier: MIT OR Apache-2.0
// Ranges of sources into atomic files: tests of src/io/atomic_file.cpp.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "tests/io/atomic_file_fixture.h"

namespace andiron {
namespace {

class CopyFromTest : public AtomicFileTest {
 protected:
  // The content of a file made of "head", the range, and "tail".
  std::string copy(const ByteSource& source, std::uint64_t offset, std::uint64_t count) {
    auto file = AtomicFile::create(path_, {.overwrite = true}).value();
    EXPECT_TRUE(file->write(bytes_of("head")));
    const Status status = file->copy_from(source, offset, count);
    EXPECT_TRUE(status) << status.error().to_string();
    EXPECT_TRUE(file->write(bytes_of("tail")));
    EXPECT_TRUE(file->commit());
    return read_file(path_);
  }
  void expect_ranges_to_arrive(const ByteSource& source) {
    const std::pair<std::size_t, std::size_t> ranges[] = {
        {0, content_.size()}, {0, 0},       {content_.size(), 0},          {4, 100000},
        {3, 9 * mib},         {4100, 4096}, {content_.size() - 5000, 5000}};
    for (const auto& [offset, count] : ranges) {
      EXPECT_TRUE(copy(source, offset, count) == "head" + content_.substr(offset, count) + "tail")
          << offset << " " << count;
    }
  }

  std::string content_ = noise(9 * mib + 321);
  std::string source_path_ = dir_.file("source.bin");
};

INSTANTIATE_TEST_SUITE_P(Drafts, CopyFromTest, ::testing::Values(Draft::nameless),
                         testing::PrintToStringParamName());

TEST_P(CopyFromTest, CopiesRangesOfFilesInEveryMode) {
  write_file(source_path_, content_);
  for (const IoMode mode : {IoMode::automatic, IoMode::mmap, IoMode::pread, IoMode::direct}) {
    expect_ranges_to_arrive(*open_file(source_path_, mode).value());
  }
}

TEST_P(CopyFromTest, CopiesRangesOfMemory) {
  expect_ranges_to_arrive(*memory_source(Bytes::borrow(bytes_of(content_))));
}

TEST_P(CopyFromTest, CopiesThroughMemoryWhereTheSystemCannot) {
  write_file(source_path_, content_);
  make_fail(system_calls().copy_file_range, EXDEV);
  expect_ranges_to_arrive(*open_file(source_path_).value());
}

TEST_P(CopyFromTest, GoesOnWhereTheSystemStopped) {
  write_file(source_path_, content_);
  static int calls;
  calls = 0;
  static System real;
  real = system_calls();
  system_calls().copy_file_range = [](int from, off_t from_offset, int to, off_t to_offset,
                                      std::size_t count) -> ssize_t {
    if (++calls % 4 == 0) return 0;
    if (calls % 2 == 0) {
      errno = EINTR;
      return -1;
    }
    return real.copy_file_range(from, from_offset, to, to_offset,
                                std::min<std::size_t>(count, 1000));
  };
  expect_ranges_to_arrive(*open_file(source_path_).value());
}

TEST_P(CopyFromTest, SharesWholeBlocksThatLieAlikeInBothFiles) {
  write_file(source_path_, content_);
  static std::size_t shared;
  shared = 0;
  system_calls().clone_range = [](int from, off_t from_offset, int to, off_t to_offset,
                                  std::size_t count) {
    EXPECT_EQ(from_offset % 4096, 0);
    EXPECT_EQ(to_offset % 4096, 0);
    EXPECT_EQ(count % 4096, 0u);
    shared += count;
    std::string block(count, '\0');
    EXPECT_EQ(::pread(from, block.data(), count, from_offset), static_cast<ssize_t>(count));
    EXPECT_EQ(::pwrite(to, block.data(), count, to_offset), static_cast<ssize_t>(count));
    return 0;
  };
  const ByteSourcePtr source = open_file(source_path_).value();
  // After "head" the file stands at 4, and so does the range.
  EXPECT_TRUE(copy(*source, 4, 100000) == "head" + content_.substr(4, 100000) + "tail");
  EXPECT_EQ(shared, 23u * 4096);
  EXPECT_TRUE(copy(*source, 5, 100000) == "head" + content_.substr(5, 100000) + "tail");
  EXPECT_EQ(shared, 23u * 4096);
  expect_ranges_to_arrive(*source);
}

TEST_P(CopyFromTest, RefusesRangesPastTheEnd) {
  write_file(source_path_, content_);
  const ByteSourcePtr source = open_file(source_path_).value();
  constexpr std::uint64_t huge = ~std::uint64_t{0};
  const std::pair<std::uint64_t, std::uint64_t> ranges[] = {
      {0, content_.size() + 1}, {content_.size() + 1, 0}, {1, huge}, {huge, 1}};
  for (const auto& [offset, count] : ranges) {
    auto file = AtomicFile::create(path_).value();
    const Status status = file->copy_from(*source, offset, count);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::truncated);
    EXPECT_EQ(status.error().file, source_path_);
  }
}

TEST_P(CopyFromTest, DoesNotCommitWhenTheSourceWasCut) {
  write_file(source_path_, content_);
  const ByteSourcePtr source = open_file(source_path_).value();
  ASSERT_EQ(::truncate(source_path_.c_str(), 5000), 0);
  auto file = AtomicFile::create(path_).value();
  const Status status = file->copy_from(*source, 0, content_.size());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::truncated);
  EXPECT_EQ(status.error().file, source_path_);
  EXPECT_FALSE(file->commit());
  file.reset();
  EXPECT_EQ(dir_.names(), Names{"source.bin"});
}

}  // namespace
}  // namespace andiron
