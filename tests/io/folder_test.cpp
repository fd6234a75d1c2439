// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/io/folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "andiron/file.h"
#include "src/io/system_calls.h"
#include "tests/support/temp_dir.h"

namespace andiron::detail {
namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Folder, ListsRegularFilesInOrder) {
  const test::TempDir folder;
  test::write_file(folder.file("b"), "");
  test::write_file(folder.file("a"), "");
  std::filesystem::create_directory(folder.file("sub"));
  EXPECT_EQ(list_files(folder.path()).value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(is_folder(folder.path()));
  EXPECT_FALSE(is_folder(folder.file("a")));
  EXPECT_FALSE(list_files(folder.file("absent")));
}

TEST(Folder, SplitsAndJoinsPaths) {
  EXPECT_EQ(folder_of("a/b/c"), "a/b");
  EXPECT_EQ(folder_of("c"), ".");
  EXPECT_EQ(file_name_of("a/b/c"), "c");
  EXPECT_EQ(join_path("a/b", "c"), "a/b/c");
  EXPECT_EQ(join_path(".", "c"), "c");
}

TEST(Folder, OverwritesBytesWhereTheyStand) {
  const test::TempDir folder;
  test::write_file(folder.file("f"), "0123456789");
  const ByteSourcePtr open = open_file(folder.file("f")).value();
  ASSERT_TRUE(overwrite_bytes(folder.file("f"), open->file_descriptor(), 3, bytes("xyz"), true));
  EXPECT_EQ(test::read_file(folder.file("f")), "012xyz6789");
  EXPECT_FALSE(overwrite_bytes(folder.file("absent"), -1, 0, bytes("x"), true));
}

TEST(Folder, DoesNotOverwriteAFileThatTookThePlaceOfAnother) {
  const test::TempDir folder;
  test::write_file(folder.file("f"), "0123456789");
  const ByteSourcePtr open = open_file(folder.file("f")).value();
  test::write_file(folder.file("g"), "another");
  std::filesystem::rename(folder.file("g"), folder.file("f"));
  Status status = overwrite_bytes(folder.file("f"), open->file_descriptor(), 3, bytes("x"), true);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::file_changed);
  EXPECT_EQ(test::read_file(folder.file("f")), "another");
}

TEST(Folder, OverwritingReportsAFullDisk) {
  const test::TempDir folder;
  test::write_file(folder.file("f"), "0123456789");
  const ByteSourcePtr open = open_file(folder.file("f")).value();
  System& system = system_calls();
  const System kept = system;
  system.pwrite = [](int, const void*, std::size_t, off_t) -> ssize_t {
    return errno = ENOSPC, -1;
  };
  Status failed = overwrite_bytes(folder.file("f"), open->file_descriptor(), 0, bytes("x"), true);
  system.pwrite = [](int, const void*, std::size_t, off_t) -> ssize_t { return 0; };
  Status stuck = overwrite_bytes(folder.file("f"), open->file_descriptor(), 0, bytes("x"), true);
  system = kept;
  EXPECT_EQ(failed.error().code, ErrorCode::io);
  EXPECT_EQ(stuck.error().code, ErrorCode::io);
}

// Puts the real calls back.
struct ChangedCalls {
  ~ChangedCalls() { system_calls() = saved; }
  const System saved = system_calls();
};

TEST(Folder, TellsWhyItCannotBeListedWhateverHappensWhenItIsClosed) {
  const test::TempDir folder;
  static std::string no_folder;
  no_folder = folder.file("f");
  test::write_file(no_folder, "");
  const ChangedCalls changed;
  system_calls().openat = [](int, const char*, int, mode_t) {
    return ::open(no_folder.c_str(), O_RDONLY | O_CLOEXEC);
  };
  system_calls().close = [](int file) {
    ::close(file);
    errno = EIO;
    return -1;
  };
  const auto names = names_in(AT_FDCWD, "model");
  ASSERT_FALSE(names);
  EXPECT_EQ(names.error().message, io_error("list the folder of the file", "", ENOTDIR).message);
}

TEST(Folder, OverwritingSaysWhatIsInPlaceIfItCannotBeFlushed) {
  const test::TempDir folder;
  test::write_file(folder.file("f"), "0123456789");
  const ByteSourcePtr open = open_file(folder.file("f")).value();
  const ChangedCalls changed;
  system_calls().fsync = [](int) {
    errno = EIO;
    return -1;
  };
  const Status status =
      overwrite_bytes(folder.file("f"), open->file_descriptor(), 0, bytes("x"), true);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().found, "the change is in place, but may be lost if the power fails now");
  EXPECT_EQ(test::read_file(folder.file("f")), "x123456789");
}

}  // namespace
}  // namespace andiron::detail
