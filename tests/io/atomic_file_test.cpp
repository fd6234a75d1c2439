// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of src/io/atomic_file.cpp.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "src/io/file_draft.h"
#include "tests/io/atomic_file_fixture.h"

namespace andiron {
namespace {

namespace fs = std::filesystem;
Status save(const std::string& path, const std::string& content, AtomicFileOptions options = {}) {
  auto file = AtomicFile::create(path, options);
  if (!file) return file.error();
  if (Status status = (*file)->reserve(content.size()); !status) return status;
  // In two parts, so that a failure can strike between them.
  const std::size_t half = content.size() / 2;
  if (Status status = (*file)->write(bytes_of(content).first(half)); !status) return status;
  if (Status status = (*file)->write(bytes_of(content).subspan(half)); !status) return status;
  return (*file)->commit();
}

unsigned mode_of(const std::string& path) {
  struct stat found{};
  EXPECT_EQ(::stat(path.c_str(), &found), 0);
  return found.st_mode & 07777u;
}

bool is_folder(int file) {
  struct stat found{};
  return ::fstat(file, &found) == 0 && S_ISDIR(found.st_mode);
}

// A file system of 1 MiB in a folder, where the test may mount one.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& folder)
      : folder_(folder),
        mounted_(::mount("andiron-test", folder.c_str(), "tmpfs", 0, "size=1m") == 0) {}
  ~SmallDisk() {
    if (mounted_) ::umount(folder_.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  explicit operator bool() const { return mounted_; }

 private:
  std::string folder_;
  bool mounted_;
};

INSTANTIATE_TEST_SUITE_P(Drafts, AtomicFileTest, ::testing::Values(Draft::nameless, Draft::named),
                         testing::PrintToStringParamName());

TEST_P(AtomicFileTest, AppearsWholeAtCommit) {
  auto file = AtomicFile::create(path_).value();
  ASSERT_TRUE(file->write(bytes_of("some ")));
  ASSERT_TRUE(file->write({}));
  ASSERT_TRUE(file->write(bytes_of("content")));
  EXPECT_FALSE(fs::exists(path_));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(read_file(path_), "some content");
  EXPECT_EQ(dir_.names(), Names{"model.bin"});
}

TEST_P(AtomicFileTest, IsWrittenAtAnyPlace) {
  const auto draft = detail::FileDraft::create(path_, {}).value();
  ASSERT_TRUE(draft->reserve(1000));
  ASSERT_TRUE(draft->write(bytes_of("head ")));
  ASSERT_TRUE(draft->write_at(10, bytes_of("third")));
  EXPECT_EQ(draft->written(), 15U);
  ASSERT_TRUE(draft->write_at(5, bytes_of("")));
  ASSERT_TRUE(draft->write_at(5, bytes_of("2nd, ")));
  EXPECT_EQ(draft->written(), 15U);
  ASSERT_TRUE(draft->write(bytes_of(" tail")));
  ASSERT_TRUE(draft->commit());
  EXPECT_EQ(read_file(path_), "head 2nd, third tail");
  EXPECT_EQ(draft->write_at(0, bytes_of("x")).error().code, ErrorCode::invalid_argument);
}

TEST_P(AtomicFileTest, LeavesNothingWithoutCommit) {
  write_file(dir_.file("old.bin"), "old");
  for (const char* name : {"model.bin", "old.bin"}) {
    auto file = AtomicFile::create(dir_.file(name), {.overwrite = true}).value();
    ASSERT_TRUE(file->write(bytes_of("half")));
  }
  EXPECT_EQ(dir_.names(), Names{"old.bin"});
  EXPECT_EQ(read_file(dir_.file("old.bin")), "old");
}

TEST_P(AtomicFileTest, CanBeEmpty) {
  ASSERT_TRUE(save(path_, ""));
  EXPECT_EQ(read_file(path_), "");
}

TEST_P(AtomicFileTest, ReplacesAnOldFileWhenAsked) {
  write_file(path_, "old content, and longer");
  ASSERT_TRUE(save(path_, "new", {.overwrite = true}));
  EXPECT_EQ(read_file(path_), "new");
  EXPECT_EQ(dir_.names(), Names{"model.bin"});
  ASSERT_TRUE(save(dir_.file("other.bin"), "new", {.overwrite = true}));
  EXPECT_EQ(dir_.names(), (Names{"model.bin", "other.bin"}));
}

TEST_P(AtomicFileTest, RefusesAnOldFileAtOnceUnlessAsked) {
  write_file(path_, "old");
  const auto file = AtomicFile::create(path_);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::already_exists);
  EXPECT_EQ(file.error().file, path_);
  EXPECT_FALSE(file.error().hint.empty());
}

TEST_P(AtomicFileTest, DoesNotClobberAFileThatAppearedMeanwhile) {
  auto file = AtomicFile::create(path_).value();
  ASSERT_TRUE(file->write(bytes_of("ours")));
  write_file(path_, "theirs");
  EXPECT_EQ(file->commit().error().code, ErrorCode::already_exists);
  file.reset();
  EXPECT_EQ(read_file(path_), "theirs");
  EXPECT_EQ(dir_.names(), Names{"model.bin"});
}

TEST_P(AtomicFileTest, DoesNotClobberWhereRenamesAlwaysReplace) {
  make_fail(system_calls().rename_noreplace, EINVAL);
  ASSERT_TRUE(save(dir_.file("first.bin"), "first"));
  auto file = AtomicFile::create(path_).value();
  write_file(path_, "theirs");
  EXPECT_EQ(file->commit().error().code, ErrorCode::already_exists);
  file.reset();
  EXPECT_EQ(read_file(path_), "theirs");
  EXPECT_EQ(dir_.names(), (Names{"first.bin", "model.bin"}));
}

TEST_P(AtomicFileTest, ReplacesAFileThatAppearedMeanwhileWhenAsked) {
  auto file = AtomicFile::create(path_, {.overwrite = true}).value();
  ASSERT_TRUE(file->write(bytes_of("ours")));
  write_file(path_, "theirs");
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(read_file(path_), "ours");
}

TEST_P(AtomicFileTest, LeavesOpenMappingsOfTheOldFileAlone) {
  const std::string old = noise(100000);
  write_file(path_, old);
  const ByteSourcePtr source = open_file(path_).value();
  const Bytes view = source->view(0, old.size()).value();
  ASSERT_TRUE(save(path_, "new", {.overwrite = true}));
  EXPECT_EQ(view.text(), old);
  EXPECT_TRUE(source->view(0, 10));
}

TEST_P(AtomicFileTest, CommitsOnce) {
  auto file = AtomicFile::create(path_).value();
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(file->commit().error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(file->write(bytes_of("late")).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(file->reserve(10).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(read_file(path_), "");
}

TEST_P(AtomicFileTest, GoesOnAfterSignalsAndShortWrites) {
  static int calls;
  calls = 0;
  System& system = system_calls();
  system.pwrite = [](int file, const void* data, std::size_t count, off_t offset) {
    if (++calls % 2 == 1) {
      errno = EINTR;
      return ssize_t{-1};
    }
    return ::pwrite(file, data, std::min<std::size_t>(count, 7), offset);
  };
  system.fsync = [](int file) {
    if (++calls % 2 == 0) return ::fsync(file);
    errno = EINTR;
    return -1;
  };
  const std::string content = noise(1001);
  ASSERT_TRUE(save(path_, content));
  EXPECT_EQ(read_file(path_), content);
}

TEST_P(AtomicFileTest, GivesBackWhatItReservedAndDidNotWrite) {
  auto file = AtomicFile::create(path_).value();
  ASSERT_TRUE(file->reserve(mib));
  ASSERT_TRUE(file->write(bytes_of("short")));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(read_file(path_), "short");
}

TEST_P(AtomicFileTest, WorksWhereNothingCanBeReserved) {
  make_fail(system_calls().fallocate, EOPNOTSUPP);
  ASSERT_TRUE(save(path_, "content"));
  EXPECT_EQ(read_file(path_), "content");
}

TEST_P(AtomicFileTest, SaysHowMuchSpaceItNeeded) {
  make_fail(system_calls().fallocate, ENOSPC);
  auto file = AtomicFile::create(path_).value();
  const Status status = file->reserve(123456789);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::io);
  EXPECT_EQ(status.error().file, path_);
  EXPECT_EQ(status.error().message, "cannot reserve space on disk: No space left on device");
  EXPECT_NE(status.error().found.find("bytes free"), std::string::npos);
  EXPECT_EQ(status.error().expected, "room for 123456789 bytes");
  EXPECT_NE(status.error().hint.find("free some space"), std::string::npos);
}

TEST_P(AtomicFileTest, DoesNotCommitAfterAFailedWrite) {
  auto file = AtomicFile::create(path_).value();
  ASSERT_TRUE(file->write(bytes_of("begin")));
  const auto pwrite = system_calls().pwrite;
  make_fail(system_calls().pwrite, EIO);
  EXPECT_EQ(file->write(bytes_of("middle")).error().code, ErrorCode::io);
  system_calls().pwrite = pwrite;
  EXPECT_EQ(file->write(bytes_of("end")).error().code, ErrorCode::io);
  EXPECT_EQ(file->commit().error().code, ErrorCode::io);
  file.reset();
  EXPECT_TRUE(dir_.names().empty());
}

// Each way to fail, with and without an old file: the folder is afterwards as it was before.
TEST_P(AtomicFileTest, LeavesTheFolderAsItWasWhateverFails) {
  struct Failure {
    const char* what;
    void (*inject)(System&);
    bool only_when_replacing = false;
  };
  static int writes;
  const Failure failures[] = {
      {"creating",
       [](System& system) {
         make_nameless_fail();
         static auto real = system.openat;
         system.openat = [](int folder, const char* path, int flags, mode_t mode) {
           if ((flags & O_CREAT) == 0) return real(folder, path, flags, mode);
           errno = EACCES;
           return -1;
         };
       }},
      {"chmod", [](System& system) { make_fail(system.fchmod, EPERM); }, true},
      {"reserving", [](System& system) { make_fail(system.fallocate, ENOSPC); }},
      {"the first write", [](System& system) { make_fail(system.pwrite, ENOSPC); }},
      {"the second write",
       [](System& system) {
         writes = 0;
         system.pwrite = [](int file, const void* data, std::size_t count, off_t offset) {
           if (++writes == 1) return ::pwrite(file, data, count, offset);
           errno = EIO;
           return ssize_t{-1};
         };
       }},
      {"a write of nothing",
       [](System& system) {
         system.pwrite = [](int, const void*, std::size_t, off_t) { return ssize_t{0}; };
       }},
      {"truncating", [](System& system) { make_fail(system.ftruncate, EIO); }},
      {"fsync", [](System& system) { make_fail(system.fsync, EIO); }},
      {"naming",
       [](System& system) {
         make_fail(system.linkat, EIO);
         make_fail(system.renameat, EIO);
         make_fail(system.rename_noreplace, EIO);
       }},
      {"renaming", [](System& system) { make_fail(system.renameat, EIO); }, true},
  };
  const System working = system_calls();
  for (const Failure& failure : failures) {
    for (const bool replacing : {false, true}) {
      if (failure.only_when_replacing && !replacing) continue;
      SCOPED_TRACE(std::string(failure.what) + (replacing ? ", replacing" : ""));
      if (replacing) write_file(path_, "old");
      failure.inject(system_calls());
      const Status status = save(path_, "new content", {.overwrite = replacing});
      system_calls() = working;
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code, ErrorCode::io);
      EXPECT_EQ(status.error().file, path_);
      EXPECT_EQ(dir_.names(), replacing ? Names{"model.bin"} : Names{});
      if (replacing) {
        EXPECT_EQ(read_file(path_), "old");
      }
      fs::remove(path_);
    }
  }
}

TEST_P(AtomicFileTest, IsWholeWhenOnlyTheFoldersFsyncFails) {
  write_file(path_, "old");
  system_calls().fsync = [](int file) {
    if (!is_folder(file)) return ::fsync(file);
    errno = EIO;
    return -1;
  };
  const Status status = save(path_, "new", {.overwrite = true});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::io);
  EXPECT_NE(status.error().found.find("in place"), std::string::npos);
  EXPECT_EQ(read_file(path_), "new");
  EXPECT_EQ(dir_.names(), Names{"model.bin"});
}

TEST_P(AtomicFileTest, SaysThatTheOldFileIsInPlaceIfItsOwnFsyncFails) {
  write_file(path_, "old");
  system_calls().fsync = [](int) {
    errno = EIO;
    return -1;
  };
  const Status status = save(path_, "new", {.overwrite = true});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().found, "the new file is not in place; what was there is as before");
  EXPECT_EQ(read_file(path_), "old");
}

TEST_P(AtomicFileTest, ToleratesFileSystemsWithoutFsyncOfFolders) {
  system_calls().fsync = [](int file) {
    if (!is_folder(file)) return ::fsync(file);
    errno = EINVAL;
    return -1;
  };
  EXPECT_TRUE(save(path_, "content"));
}

TEST_P(AtomicFileTest, SyncsTheFileBeforeNamingItAndTheFolderAfter) {
  static std::string events;
  System& system = system_calls();
  system.fsync = [](int file) {
    events += is_folder(file) ? "folder " : "file ";
    return ::fsync(file);
  };
  static const System real = system;
  system.linkat = [](int a, const char* from, int b, const char* to, int flags) {
    events += "name ";
    return real.linkat(a, from, b, to, flags);
  };
  system.rename_noreplace = [](int a, const char* from, int b, const char* to) {
    events += "name ";
    return real.rename_noreplace(a, from, b, to);
  };
  events.clear();
  ASSERT_TRUE(save(path_, "content"));
  EXPECT_EQ(events, "file name folder ");
  events.clear();
  ASSERT_TRUE(save(dir_.file("other.bin"), "content", {.sync = false}));
  EXPECT_EQ(events, "name ");
}

TEST_P(AtomicFileTest, DoesNotPublishWhatAnEarlierCloseLost) {
  // Only named files are closed before they get their name, and only network file systems, which
  // have no others, fail there.
  make_nameless_fail();
  static bool armed;
  auto file = AtomicFile::create(path_, {.sync = false}).value();
  armed = true;
  system_calls().close = [](int number) {
    ::close(number);
    if (!std::exchange(armed, false)) return 0;
    errno = EDQUOT;
    return -1;
  };
  EXPECT_EQ(file->commit().error().code, ErrorCode::io);
  file.reset();
  EXPECT_TRUE(dir_.names().empty());
}

TEST_P(AtomicFileTest, FollowsSymbolicLinks) {
  fs::create_directory(dir_.file("store"));
  write_file(dir_.file("store/real.bin"), "old");
  fs::create_symlink("store/real.bin", path_);
  EXPECT_EQ(AtomicFile::create(path_).error().code, ErrorCode::already_exists);
  ASSERT_TRUE(save(path_, "new", {.overwrite = true}));
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_FALSE(fs::is_symlink(dir_.file("store/real.bin")));
  EXPECT_EQ(read_file(dir_.file("store/real.bin")), "new");
}

TEST_P(AtomicFileTest, CreatesTheTargetOfADanglingLinkOnlyWhenItMayReplace) {
  fs::create_directory(dir_.file("store"));
  fs::create_symlink("store/real.bin", path_);
  EXPECT_EQ(AtomicFile::create(path_).error().code, ErrorCode::already_exists);
  ASSERT_TRUE(save(path_, "new", {.overwrite = true}));
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(read_file(dir_.file("store/real.bin")), "new");
}

TEST_P(AtomicFileTest, RefusesLinksInACircleFoldersAndDevices) {
  fs::create_symlink("model.bin", path_);
  EXPECT_EQ(AtomicFile::create(path_, {.overwrite = true}).error().code, ErrorCode::io);
  EXPECT_EQ(AtomicFile::create(dir_.path(), {.overwrite = true}).error().code,
            ErrorCode::unsupported);
  EXPECT_EQ(AtomicFile::create("/dev/null", {.overwrite = true}).error().code,
            ErrorCode::unsupported);
  EXPECT_EQ(AtomicFile::create(dir_.file("no/such/folder")).error().code, ErrorCode::not_found);
}

TEST_P(AtomicFileTest, KeepsThePermissionsOfTheOldFile) {
  for (const unsigned mode : {0600u, 0640u, 0444u, 0755u}) {
    write_file(path_, "old");
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    ASSERT_TRUE(save(path_, "new", {.overwrite = true}));
    EXPECT_EQ(mode_of(path_), mode);
    EXPECT_EQ(read_file(path_), "new");
    fs::remove(path_);
  }
}

TEST_P(AtomicFileTest, GivesNewFilesThePermissionsOfTheUmask) {
  const mode_t before = ::umask(027);
  EXPECT_TRUE(save(path_, "new"));
  ::umask(before);
  EXPECT_EQ(mode_of(path_), 0640u);
}

TEST_P(AtomicFileTest, TakesTheLongestNames) {
  const std::string plain(255, 'n');
  std::string accented;  // 255 bytes that no temporary name may cut in the middle of a character
  while (accented.size() < 254) accented += "\xC3\xA9";
  accented += "x";
  for (const std::string& name : {plain, accented}) {
    auto file = AtomicFile::create(dir_.file(name)).value();
    const Names during = dir_.names();
    if (GetParam() == Draft::nameless) {
      EXPECT_TRUE(during.empty());
    } else {
      ASSERT_EQ(during.size(), 1u);
      EXPECT_LE(during[0].size(), 255u);
      EXPECT_EQ(during[0].front(), '.');
      EXPECT_TRUE(during[0].ends_with(".0.tmp"));
      const std::string kept = during[0].substr(1, during[0].size() - 7);
      EXPECT_EQ(name.compare(0, kept.size(), kept), 0);
      if (name == accented) {
        EXPECT_EQ(kept.size() % 2, 0u);
      }
    }
    ASSERT_TRUE(file->write(bytes_of("new")));
    ASSERT_TRUE(file->commit());
    ASSERT_TRUE(save(dir_.file(name), "newer", {.overwrite = true}));
    EXPECT_EQ(dir_.names(), Names{name});
    fs::remove(dir_.file(name));
  }
  EXPECT_FALSE(AtomicFile::create(dir_.file(std::string(256, 'n'))));
}

TEST_P(AtomicFileTest, TriesOtherTemporaryNamesWhenOneIsTaken) {
  write_file(path_, "old");
  static int collisions;
  static System real;
  collisions = 0;
  real = system_calls();
  system_calls().openat = [](int folder, const char* path, int flags, mode_t mode) {
    if ((flags & O_CREAT) == 0 || ++collisions > 3) return real.openat(folder, path, flags, mode);
    errno = EEXIST;
    return -1;
  };
  system_calls().linkat = [](int a, const char* from, int b, const char* to, int flags) {
    if (++collisions > 3) return real.linkat(a, from, b, to, flags);
    errno = EEXIST;
    return -1;
  };
  ASSERT_TRUE(save(path_, "new", {.overwrite = true}));
  EXPECT_GT(collisions, 3);
  EXPECT_EQ(read_file(path_), "new");
  EXPECT_EQ(dir_.names(), Names{"model.bin"});
}

TEST_P(AtomicFileTest, UsesANamedFileWhereProcIsMissing) {
  static System real;
  real = system_calls();
  system_calls().fstatat = [](int folder, const char* path, struct stat* out, int flags) {
    if (std::string_view(path).substr(0, 6) != "/proc/") {
      return real.fstatat(folder, path, out, flags);
    }
    errno = ENOENT;
    return -1;
  };
  auto file = AtomicFile::create(path_).value();
  EXPECT_EQ(dir_.names().size(), 1u);
  ASSERT_TRUE(file->write(bytes_of("content")));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(read_file(path_), "content");
  EXPECT_EQ(dir_.names(), Names{"model.bin"});
}

TEST_P(AtomicFileTest, LosesNothingWhenTheProcessIsKilled) {
  write_file(path_, "old");
  for (const char* name : {"model.bin", "other.bin"}) {
    const pid_t child = ::fork();
    ASSERT_NE(child, -1);
    if (child == 0) {
      auto file = AtomicFile::create(dir_.file(name), {.overwrite = true});
      if (file && (*file)->reserve(1000) && (*file)->write(bytes_of("half"))) {
        ::kill(::getpid(), SIGKILL);
      }
      ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(read_file(path_), "old");
    EXPECT_FALSE(fs::exists(dir_.file("other.bin")));
    // A named file has to stay behind: nobody is left to remove it, until somebody saves again.
    if (GetParam() == Draft::nameless) {
      EXPECT_EQ(dir_.names(), Names{"model.bin"});
    } else {
      EXPECT_EQ(dir_.names(), (Names{"." + std::string(name) + ".0.tmp", "model.bin"}));
      ASSERT_TRUE(save(dir_.file(name), "new", {.overwrite = true}));
      fs::remove(dir_.file("other.bin"));
      write_file(path_, "old");
      EXPECT_EQ(dir_.names(), Names{"model.bin"});
    }
  }
}

TEST_P(AtomicFileTest, LeavesTheFilesOfLiveProcessesAlone) {
  make_nameless_fail();
  auto first = AtomicFile::create(path_, {.overwrite = true}).value();
  auto second = AtomicFile::create(path_, {.overwrite = true}).value();
  EXPECT_EQ(dir_.names(), (Names{".model.bin.0.tmp", ".model.bin.1.tmp"}));
  ASSERT_TRUE(first->write(bytes_of("first")));
  ASSERT_TRUE(second->write(bytes_of("second")));
  ASSERT_TRUE(second->commit());
  ASSERT_TRUE(first->commit());
  EXPECT_EQ(read_file(path_), "first");
  EXPECT_EQ(dir_.names(), Names{"model.bin"});
}

TEST_P(AtomicFileTest, DoesNotTakeWhatIsNotAFileForALeftover) {
  fs::create_directory(dir_.file(".model.bin.0.tmp"));
  fs::create_symlink(dir_.file("elsewhere"), dir_.file(".model.bin.1.tmp"));
  write_file(dir_.file("elsewhere"), "precious");
  write_file(path_, "old");
  ASSERT_TRUE(save(path_, "new", {.overwrite = true}));
  EXPECT_EQ(dir_.names(),
            (Names{".model.bin.0.tmp", ".model.bin.1.tmp", "elsewhere", "model.bin"}));
  EXPECT_EQ(read_file(dir_.file("elsewhere")), "precious");
}

TEST_P(AtomicFileTest, ALimitOnFileSizesIsAnErrorBeforeItIsASignal) {
  system_calls().file_size_limit = [] { return std::uint64_t{1000}; };
  write_file(dir_.file("source"), noise(2000));
  const ByteSourcePtr source = open_file(dir_.file("source")).value();
  auto file = AtomicFile::create(path_).value();
  EXPECT_EQ(file->reserve(1001).error().code, ErrorCode::io);
  ASSERT_TRUE(file->write(bytes_of(noise(1000))));
  const Status past = file->copy_from(*source, 0, 1);
  ASSERT_FALSE(past);
  EXPECT_EQ(past.error().found, "1001 bytes");
  EXPECT_EQ(past.error().expected, "at most 1000 bytes in a file of this process");
  EXPECT_NE(past.error().hint.find("ulimit -f"), std::string::npos);
}

TEST_P(AtomicFileTest, LosesNothingOnAFullDisk) {
  const std::string disk = dir_.file("disk");
  fs::create_directory(disk);
  const SmallDisk mounted(disk);
  if (!mounted) GTEST_SKIP() << "needs the right to mount a small file system";
  const std::string target = disk + "/model.bin";
  const std::string big = noise(2 * mib);
  write_file(dir_.file("source"), big);
  write_file(target, "old");
  {
    auto file = AtomicFile::create(target, {.overwrite = true}).value();
    const Status reserved = file->reserve(big.size());
    ASSERT_FALSE(reserved);
    EXPECT_EQ(reserved.error().code, ErrorCode::io);
    EXPECT_EQ(reserved.error().expected, "room for 2097152 bytes");
    const Status written = file->write(bytes_of(big));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().message, "cannot write the file: No space left on device");
    EXPECT_FALSE(file->commit());
  }
  {
    auto file = AtomicFile::create(target, {.overwrite = true}).value();
    const ByteSourcePtr source = open_file(dir_.file("source")).value();
    const Status copied = file->copy_from(*source, 0, big.size());
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().message, "cannot write the file: No space left on device");
    EXPECT_EQ(copied.error().file, target);
  }
  EXPECT_EQ(read_file(target), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(disk), fs::directory_iterator()), 1);
  EXPECT_TRUE(save(target, std::string(mib / 2, 'x'), {.overwrite = true})) << "space came back";
}

TEST_P(AtomicFileTest, WritesLargeFilesInSteps) {
  static off_t begun;
  begun = 0;
  system_calls().start_writeback = [](int, off_t offset, off_t count) {
    EXPECT_EQ(offset, begun) << "no byte twice, none left out";
    begun += count;
    return 0;
  };
  const std::string content = noise(5 * mib + 1);
  auto file = AtomicFile::create(path_).value();
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(file->write(bytes_of(content)));
  EXPECT_GE(begun, static_cast<off_t>(20 * mib));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(read_file(path_).substr(6 * content.size()), content);
}

}  // namespace
}  // namespace andiron
