// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/io/file_attributes.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/io/atomic_file_fixture.h"

#ifdef __linux__
#include <sys/xattr.h>
#endif

namespace andiron {
namespace {

class FileAttributes : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(path_, "old");
    write_file(dir_.file("new"), "new");
  }
  void TearDown() override { system_calls() = saved_; }

  TakenAttributes take() {
    const Descriptor file(::open(dir_.file("new").c_str(), O_WRONLY | O_CLOEXEC));
    struct stat old{};
    ::stat(path_.c_str(), &old);
    return take_attributes(file.get(), {AT_FDCWD, path_, old});
  }
  struct stat status(const std::string& path) {
    struct stat found{};
    EXPECT_EQ(::stat(path.c_str(), &found), 0);
    return found;
  }

  TempDir dir_;
  const std::string path_ = dir_.file("old");
  const System saved_ = system_calls();
};

TEST_F(FileAttributes, OwnerGroupAndPermissionsAreKept) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  ASSERT_EQ(::chown(path_.c_str(), 1234, 4321), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  const TakenAttributes taken = take();
  EXPECT_TRUE(taken.lost.empty());
  EXPECT_EQ(taken.error_number, 0);
  const struct stat found = status(dir_.file("new"));
  EXPECT_EQ(found.st_uid, 1234u);
  EXPECT_EQ(found.st_gid, 4321u);
  EXPECT_EQ(found.st_mode & 0777, 0640u);
}

#ifdef __linux__
TEST_F(FileAttributes, ExtendedAttributesAreKept) {
  if (::setxattr(path_.c_str(), "user.origin", "a\0b", 3, 0) != 0) {
    GTEST_SKIP() << "no extended attributes on this file system";
  }
  EXPECT_TRUE(take().lost.empty());
  char value[8] = {};
  EXPECT_EQ(::getxattr(dir_.file("new").c_str(), "user.origin", value, sizeof value), 3);
  EXPECT_EQ(std::string(value, 3), std::string("a\0b", 3));
}
#endif

TEST_F(FileAttributes, WhatTheProcessMayNotSetIsTold) {
  static int calls;
  calls = 0;
  system_calls().fgetxattr = [](int, const char*, void* out, std::size_t size) {
    // The old file has it; the new one has not.
    if (++calls > 2) {
      errno = ENODATA;
      return ssize_t{-1};
    }
    if (size >= 1) *static_cast<char*>(out) = 'v';
    return ssize_t{1};
  };
  system_calls().flistxattr = [](int, char* out, std::size_t size) {
    constexpr std::string_view names("security.x\0", 11);
    if (size >= names.size()) std::copy(names.begin(), names.end(), out);
    return static_cast<ssize_t>(names.size());
  };
  make_fail(system_calls().fsetxattr, EPERM);
  EXPECT_EQ(take().lost, std::vector<std::string>{"attribute security.x"});
}

TEST_F(FileAttributes, AnotherGroupMayDoNoMoreThanEverybody) {
  ASSERT_EQ(::chmod(path_.c_str(), 0664), 0);
  static const System real = saved_;
  system_calls().fstat = [](int file, struct stat* out) {
    const int result = real.fstat(file, out);
    out->st_uid += 1;
    out->st_gid += 1;
    return result;
  };
  make_fail(system_calls().fchown, EPERM);
  EXPECT_EQ(take().lost, (std::vector<std::string>{"owner", "group"}));
  EXPECT_EQ(status(dir_.file("new")).st_mode & 0777, 0644u);
}

TEST_F(FileAttributes, PermissionsThatCannotBeSetAreAnError) {
  make_fail(system_calls().fchmod, EPERM);
  EXPECT_EQ(take().error_number, EPERM);
}

TEST_F(FileAttributes, AFileThatReplacesAnotherTellsWhatItLost) {
  static const System real = saved_;
  system_calls().fstat = [](int file, struct stat* out) {
    const int result = real.fstat(file, out);
    out->st_uid += 1;
    return result;
  };
  make_fail(system_calls().fchown, EPERM);
  auto file = AtomicFile::create(path_, {.overwrite = true}).value();
  EXPECT_EQ(file->notes(), std::vector<Message>{"could not keep the old file's owner"});
}

}  // namespace
}  // namespace andiron
