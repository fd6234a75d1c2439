// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of src/io/write_target.cpp.
#include "src/io/write_target.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/temp_dir.h"

namespace andiron {
namespace {

namespace fs = std::filesystem;
using test::TempDir;
using test::write_file;

bool is_folder(const Descriptor& folder, const std::string& path) {
  struct stat a{};
  struct stat b{};
  return ::fstat(folder.get(), &a) == 0 && ::stat(path.c_str(), &b) == 0 && a.st_ino == b.st_ino &&
         a.st_dev == b.st_dev;
}

TEST(FindTarget, FindsAPlaceWhereNothingIs) {
  TempDir dir;
  const auto target = find_target(dir.file("new.bin"));
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_TRUE(is_folder(target->folder, dir.path()));
  EXPECT_EQ(target->name, "new.bin");
  EXPECT_FALSE(target->old);
}

TEST(FindTarget, TellsThePermissionsOfAnOldFile) {
  TempDir dir;
  write_file(dir.file("old.bin"), "old");
  ASSERT_EQ(::chmod(dir.file("old.bin").c_str(), 04640), 0);
  const auto target = find_target(dir.file("old.bin"));
  ASSERT_TRUE(target);
  EXPECT_EQ(target->old->st_mode & 0777, mode_t{0640});
}

TEST(FindTarget, FollowsChainsOfLinksRelativeToWhereEachLies) {
  TempDir dir;
  fs::create_directories(dir.file("a/b"));
  fs::create_directories(dir.file("c"));
  fs::create_symlink("b/second", dir.file("a/first"));
  fs::create_symlink("../../c/third", dir.file("a/b/second"));
  fs::create_symlink(dir.file("c/end.bin"), dir.file("c/third"));
  const auto target = find_target(dir.file("a/first"));
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_TRUE(is_folder(target->folder, dir.file("c")));
  EXPECT_EQ(target->name, "end.bin");
}

TEST(FindTarget, GivesUpOnLinksInACircle) {
  TempDir dir;
  fs::create_symlink("b", dir.file("a"));
  fs::create_symlink("a", dir.file("b"));
  const auto target = find_target(dir.file("a"));
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, ErrorCode::io);
  EXPECT_NE(target.error().hint.find("form a loop"), std::string::npos);
}

TEST(FindTarget, RefusesWhatIsNoRegularFile) {
  TempDir dir;
  fs::create_directory(dir.file("folder"));
  fs::create_symlink("folder", dir.file("link"));
  ASSERT_EQ(::mkfifo(dir.file("pipe").c_str(), 0600), 0);
  for (const std::string& path :
       {dir.path(), dir.path() + "/", dir.file("folder"), dir.file("folder/"), dir.file("."),
        dir.file(".."), dir.file("link"), dir.file("pipe"), std::string("/dev/null"),
        std::string("/")}) {
    const auto target = find_target(path);
    ASSERT_FALSE(target) << path;
    EXPECT_EQ(target.error().code, ErrorCode::unsupported) << path;
    EXPECT_EQ(target.error().file, path);
  }
}

TEST(FindTarget, NeedsTheFolder) {
  TempDir dir;
  write_file(dir.file("file"), "");
  EXPECT_EQ(find_target(dir.file("missing/new.bin")).error().code, ErrorCode::not_found);
  EXPECT_EQ(find_target(dir.file("file/new.bin")).error().code, ErrorCode::not_found);
  EXPECT_EQ(find_target(dir.file("missing/")).error().code, ErrorCode::not_found);
  EXPECT_EQ(find_target("").error().code, ErrorCode::not_found);
}

TEST(FindTarget, RefusesNamesThatAreTooLongAtOnce) {
  TempDir dir;
  EXPECT_TRUE(find_target(dir.file(std::string(255, 'n'))));
  const auto target = find_target(dir.file(std::string(256, 'n')));
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().hint, "choose a shorter name");
}

TEST(FindTarget, DoesNotFollowLinksOfOthersInAFolderOfEverybody) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives links away";
  const test::TempDir dir;
  const std::string link = dir.file("link");
  std::filesystem::create_symlink(dir.file("precious"), link);
  ASSERT_EQ(::lchown(link.c_str(), 1234, 1234), 0);
  EXPECT_TRUE(find_target(link)) << "a folder of our own";
  ASSERT_EQ(::chmod(dir.path().c_str(), 01777), 0);
  const Result<Target> target = find_target(link);
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, ErrorCode::io);
  EXPECT_NE(target.error().found.find("user 1234"), std::string::npos);
  // The folder's owner could change everything in it anyway.
  ASSERT_EQ(::chown(dir.path().c_str(), 1234, 1234), 0);
  EXPECT_TRUE(find_target(link));
  ASSERT_EQ(::lchown(link.c_str(), 0, 0), 0);
  EXPECT_TRUE(find_target(link)) << "a link of our own";
}

}  // namespace
}  // namespace andiron
