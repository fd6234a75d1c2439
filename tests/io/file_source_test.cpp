// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of src/io/file_source.cpp.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

#include "andiron/file.h"
#include "src/io/system_calls.h"
#include "tests/support/noise.h"
#include "tests/support/temp_dir.h"

namespace andiron {
namespace {

using test::noise;
using test::TempDir;
using test::write_file;

constexpr IoMode all_modes[] = {IoMode::automatic, IoMode::mmap, IoMode::pread, IoMode::direct};
constexpr std::size_t mib = std::size_t{1} << 20;

std::string text_of(const Bytes& bytes) { return std::string(bytes.text()); }

Result<std::string> read_text(const ByteSource& source, std::uint64_t offset, std::size_t count) {
  std::string out(count, '?');
  Status status = source.read_at(offset, std::as_writable_bytes(std::span(out)));
  if (!status) return status.error();
  return out;
}

ByteSourcePtr open_or_fail(const std::string& path, IoMode mode = IoMode::automatic) {
  auto source = open_file(path, mode);
  if (!source) {
    ADD_FAILURE() << source.error().to_string();
    return nullptr;
  }
  return *source;
}

bool is_direct(int file) { return (::fcntl(file, F_GETFL) & O_DIRECT) != 0; }

// Puts the real system calls back, whatever a test did to them.
class FileSource : public ::testing::Test {
 protected:
  void TearDown() override { system_calls() = saved_; }
  TempDir dir_;
  std::string path_ = dir_.file("data.bin");

 private:
  System saved_ = system_calls();
};

TEST_F(FileSource, ReadsAnyRangeInEveryMode) {
  const std::string content = noise(3 * 4096 + 123);
  write_file(path_, content);
  for (const IoMode mode : all_modes) {
    const ByteSourcePtr source = open_or_fail(path_, mode);
    ASSERT_EQ(source->size(), content.size());
    EXPECT_EQ(source->name(), path_);
    for (const std::size_t offset : {0u, 1u, 511u, 4095u, 4096u, 4097u, 12288u, 12410u, 12411u}) {
      for (const std::size_t count : {0u, 1u, 2u, 100u, 4096u, 4097u, 12411u}) {
        if (offset + count > content.size()) continue;
        EXPECT_EQ(read_text(*source, offset, count).value(), content.substr(offset, count))
            << offset << " " << count;
      }
    }
    EXPECT_EQ(read_text(*source, 12410, 2).error().code, ErrorCode::truncated);
  }
}

TEST_F(FileSource, DirectReadsOfAllAlignmentsGiveTheFile) {
  const std::string content = noise(17 * mib + 777);
  write_file(path_, content);
  const ByteSourcePtr source = open_or_fail(path_, IoMode::direct);
  const std::size_t space = content.size() + 4096;
  std::unique_ptr<std::byte, void (*)(void*)> memory(
      static_cast<std::byte*>(std::aligned_alloc(4096, (space + 4095) / 4096 * 4096)), std::free);
  struct Case {
    std::size_t offset, count, misalignment;
  };
  const Case cases[] = {{0, content.size(), 0},      {0, content.size(), 64},
                        {1, content.size() - 1, 1},  {1, content.size() - 1, 0},
                        {4095, 9 * mib, 4095},       {4096, 8 * mib, 0},
                        {5000, 12 * mib + 3, 13},    {5000, 100, 5000 % 4096},
                        {content.size() - 1, 1, 77}, {content.size() - 5000, 5000, 0}};
  for (const Case& c : cases) {
    const std::span<std::byte> out(memory.get() + c.misalignment, c.count);
    ASSERT_TRUE(source->read_at(c.offset, out));
    EXPECT_EQ(std::memcmp(out.data(), content.data() + c.offset, c.count), 0)
        << c.offset << " " << c.count << " " << c.misalignment;
  }
}

TEST_F(FileSource, DirectReadsAreAlignedAndPassTheCache) {
  write_file(path_, noise(mib + 5));
  const int probe = system_calls().open_direct(path_.c_str());
  if (probe == -1) GTEST_SKIP() << "no direct reads on this file system";
  ::close(probe);
  static int direct_reads;
  system_calls().pread = [](int file, void* out, std::size_t count, off_t offset) {
    if (is_direct(file)) {
      ++direct_reads;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(out) % 4096, 0u);
      EXPECT_EQ(count % 4096, 0u);
      EXPECT_EQ(offset % 4096, 0);
    }
    return ::pread(file, out, count, offset);
  };
  const ByteSourcePtr source = open_or_fail(path_, IoMode::direct);
  std::unique_ptr<std::byte, void (*)(void*)> memory(
      static_cast<std::byte*>(std::aligned_alloc(4096, mib + 4096)), std::free);
  for (const std::size_t misalignment : {0u, 3u, 64u}) {
    direct_reads = 0;
    ASSERT_TRUE(source->read_at(3, {memory.get() + misalignment, mib}));
    EXPECT_GT(direct_reads, 0);
  }
}

TEST_F(FileSource, ReadsThroughTheCacheWhereDirectReadsAreRefused) {
  const std::string content = noise(10000);
  write_file(path_, content);
  system_calls().pread = [](int file, void* out, std::size_t count, off_t offset) {
    if (!is_direct(file)) return ::pread(file, out, count, offset);
    errno = EINVAL;
    return ssize_t{-1};
  };
  EXPECT_EQ(read_text(*open_or_fail(path_, IoMode::direct), 3, 9000).value(),
            content.substr(3, 9000));
  system_calls().open_direct = [](const char*) {
    errno = EINVAL;
    return -1;
  };
  EXPECT_EQ(read_text(*open_or_fail(path_, IoMode::direct), 3, 9000).value(),
            content.substr(3, 9000));
}

TEST_F(FileSource, GoesOnAfterSignalsAndShortReads) {
  const std::string content = noise(9001);
  write_file(path_, content);
  static int calls;
  calls = 0;
  system_calls().pread = [](int file, void* out, std::size_t count, off_t offset) {
    if (++calls % 2 == 1) {
      errno = EINTR;
      return ssize_t{-1};
    }
    // Direct reads come short in blocks.
    return ::pread(file, out, is_direct(file) ? 4096 : std::min<std::size_t>(count, 7), offset);
  };
  for (const IoMode mode : {IoMode::automatic, IoMode::pread, IoMode::direct}) {
    EXPECT_EQ(read_text(*open_or_fail(path_, mode), 1, 9000).value(), content.substr(1));
  }
  EXPECT_GT(calls, 2);
}

TEST_F(FileSource, SaysSoWhenTheDiskFailsInTheMiddle) {
  write_file(path_, noise(3 * 4096));
  system_calls().pread = [](int file, void* out, std::size_t count, off_t offset) {
    if (offset < 4096) return ::pread(file, out, std::min<std::size_t>(count, 4096), offset);
    errno = EIO;
    return ssize_t{-1};
  };
  for (const IoMode mode : {IoMode::automatic, IoMode::pread, IoMode::direct}) {
    const auto text = read_text(*open_or_fail(path_, mode), 0, 3 * 4096);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ErrorCode::io);
    EXPECT_EQ(text.error().file, path_);
    EXPECT_EQ(text.error().message, "cannot read the file: Input/output error");
  }
}

TEST_F(FileSource, SaysTruncatedWhenTheFileIsCutUnderARead) {
  for (const IoMode mode : all_modes) {
    write_file(path_, noise(20000));
    const ByteSourcePtr source = open_or_fail(path_, mode);
    ASSERT_TRUE(read_text(*source, 0, 20000));
    ASSERT_EQ(::truncate(path_.c_str(), 5000), 0);
    for (const std::uint64_t offset : {4000u, 10000u}) {
      const auto text = read_text(*source, offset, 10000);
      ASSERT_FALSE(text);
      EXPECT_EQ(text.error().code, ErrorCode::truncated);
      EXPECT_NE(text.error().message.find("cut to 5000 bytes"), std::string::npos)
          << text.error().message;
      EXPECT_NE(text.error().expected.find("20000 bytes"), std::string::npos);
    }
  }
}

TEST_F(FileSource, SaysFileChangedWhenTheFileIsCutUnderAView) {
  for (const IoMode mode : {IoMode::automatic, IoMode::mmap}) {
    write_file(path_, noise(20000));
    const ByteSourcePtr source = open_or_fail(path_, mode);
    ASSERT_TRUE(source->view(0, 20000));
    ASSERT_EQ(::truncate(path_.c_str(), 5000), 0);
    const auto view = source->view(0, 100);
    ASSERT_FALSE(view);
    EXPECT_EQ(view.error().code, ErrorCode::file_changed);
    EXPECT_NE(view.error().message.find("cut to 5000 bytes"), std::string::npos);
  }
}

TEST_F(FileSource, KeepsItsSizeWhenTheFileGrows) {
  write_file(path_, "short");
  const ByteSourcePtr source = open_or_fail(path_);
  ASSERT_EQ(::truncate(path_.c_str(), 100), 0);
  EXPECT_EQ(source->size(), 5u);
  EXPECT_EQ(text_of(source->view(1, 4).value()), "hort");
  EXPECT_EQ(source->view(1, 5).error().code, ErrorCode::truncated);
}

TEST_F(FileSource, LendsSlicesOfOneMapping) {
  const std::string content = noise(10000);
  write_file(path_, content);
  static std::atomic<int> mappings;
  mappings = 0;
  static const auto map = system_calls().map;
  system_calls().map = [](int file, std::size_t size) {
    ++mappings;
    // Slow, so that all threads come while the mapping is being made.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return map(file, size);
  };
  const ByteSourcePtr source = open_or_fail(path_);
  ASSERT_TRUE(read_text(*source, 0, 100));
  EXPECT_EQ(mappings, 0) << "copies need no mapping";

  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (std::size_t offset = i; offset + 10 < content.size(); offset += 97) {
        EXPECT_EQ(text_of(source->view(offset, 10).value()), content.substr(offset, 10));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(mappings, 1);
  EXPECT_EQ(source->view(0, 5)->data() + 7, source->view(7, 5)->data());
}

TEST_F(FileSource, IsOutlivedByItsViews) {
  const std::string content = noise(10000);
  write_file(path_, content);
  Bytes view;
  int descriptor = -1;
  {
    const ByteSourcePtr source = open_or_fail(path_);
    descriptor = source->file_descriptor();
    view = source->view(123, 5000).value();
  }
  std::filesystem::remove(path_);
  EXPECT_EQ(text_of(view), content.substr(123, 5000));
  EXPECT_NE(::fcntl(descriptor, F_GETFD), -1);
  view = Bytes();
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), -1);
}

TEST_F(FileSource, RefusesViewsWhereOnlyPositionalReadsWereAskedFor) {
  write_file(path_, "content");
  for (const IoMode mode : {IoMode::pread, IoMode::direct}) {
    const ByteSourcePtr source = open_or_fail(path_, mode);
    EXPECT_FALSE(source->can_view());
    EXPECT_EQ(source->view(0, 1).error().code, ErrorCode::unsupported);
  }
  EXPECT_TRUE(open_or_fail(path_, IoMode::automatic)->can_view());
  EXPECT_TRUE(open_or_fail(path_, IoMode::mmap)->can_view());
}

TEST_F(FileSource, CopiesByPositionalReadsInMmapModeToo) {
  write_file(path_, "content");
  const ByteSourcePtr source = open_or_fail(path_, IoMode::mmap);
  system_calls().map = [](int, std::size_t) -> void* {
    ADD_FAILURE() << "a mapping for a copy";
    return nullptr;
  };
  EXPECT_EQ(read_text(*source, 3, 4).value(), "tent");
}

TEST_F(FileSource, SaysWhyAMappingFailed) {
  write_file(path_, "content");
  static int error_number;
  const auto map = system_calls().map;
  system_calls().map = [](int, std::size_t) -> void* {
    errno = error_number;
    return nullptr;
  };
  const ByteSourcePtr source = open_or_fail(path_);
  error_number = ENOMEM;
  EXPECT_EQ(source->view(0, 1).error().code, ErrorCode::out_of_memory);
  error_number = ENODEV;
  EXPECT_EQ(source->view(0, 1).error().code, ErrorCode::unsupported);
  system_calls().map = map;
  EXPECT_EQ(text_of(source->view(0, 1).value()), "c") << "a later try may succeed";
}

TEST_F(FileSource, CanBeEmpty) {
  write_file(path_, "");
  for (const IoMode mode : all_modes) {
    const ByteSourcePtr source = open_or_fail(path_, mode);
    EXPECT_EQ(source->size(), 0u);
    EXPECT_EQ(read_text(*source, 0, 0).value(), "");
    EXPECT_EQ(read_text(*source, 0, 1).error().code, ErrorCode::truncated);
    if (source->can_view()) {
      EXPECT_TRUE(source->view(0, 0).value().empty());
    }
  }
}

TEST_F(FileSource, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo(dir_.file("pipe").c_str(), 0600), 0);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  dir_.file("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (const std::string& path :
       {dir_.path(), dir_.file("pipe"), dir_.file("socket"), std::string("/dev/null")}) {
    for (const IoMode mode : all_modes) {
      const auto source = open_file(path, mode);
      ASSERT_FALSE(source) << path;
      EXPECT_EQ(source.error().code, ErrorCode::unsupported) << path;
      EXPECT_EQ(source.error().file, path);
    }
  }
  ::close(socket);
}

TEST_F(FileSource, SaysNotFoundForMissingFiles) {
  write_file(path_, "");
  EXPECT_EQ(open_file(dir_.file("missing")).error().code, ErrorCode::not_found);
  EXPECT_EQ(open_file(path_ + "/inside").error().code, ErrorCode::not_found);
  EXPECT_EQ(open_file("").error().code, ErrorCode::not_found);
  EXPECT_EQ(open_file(path_ + std::string("\0x", 2)).error().code, ErrorCode::invalid_argument);
}

TEST_F(FileSource, HintsAtTheLimitOfOpenFiles) {
  write_file(path_, "content");
  system_calls().openat = [](int, const char*, int, mode_t) {
    errno = EMFILE;
    return -1;
  };
  const auto source = open_file(path_);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, ErrorCode::io);
  EXPECT_NE(source.error().hint.find("ulimit -n"), std::string::npos);
}

TEST_F(FileSource, IsNotInheritedByOtherPrograms) {
  write_file(path_, "content");
  const ByteSourcePtr source = open_or_fail(path_);
  EXPECT_NE(::fcntl(source->file_descriptor(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(FileSource, IsTheOnlyKindWithADescriptor) {
  write_file(path_, "content");
  EXPECT_NE(open_or_fail(path_)->file_descriptor(), -1);
  EXPECT_EQ(memory_source(Bytes())->file_descriptor(), -1);
}

}  // namespace
}  // namespace andiron
