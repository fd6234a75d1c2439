// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of src/io/system_calls.cpp.
#include "src/io/system_calls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace andiron {
namespace {

TEST(IoError, SaysWhatFailedWhyAndOnWhichFile) {
  const Error error = io_error("read the file", "a.bin", EIO);
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_EQ(error.file, "a.bin");
  EXPECT_EQ(error.message, "cannot read the file: Input/output error");
  EXPECT_FALSE(error.hint.empty());
}

TEST(IoError, HasTheCodeThatFits) {
  EXPECT_EQ(io_error("x", "f", ENOENT).code, ErrorCode::not_found);
  EXPECT_EQ(io_error("x", "f", ENOTDIR).code, ErrorCode::not_found);
  EXPECT_EQ(io_error("x", "f", EEXIST).code, ErrorCode::already_exists);
  EXPECT_EQ(io_error("x", "f", ENOMEM).code, ErrorCode::out_of_memory);
  EXPECT_EQ(io_error("x", "f", ENOSPC).code, ErrorCode::io);
}

TEST(IoError, HintsAtTheLimitOfOpenFiles) {
  EXPECT_NE(io_error("open the file", "f", EMFILE).hint.find("ulimit -n"), std::string::npos);
}

TEST(Retry, CallsAgainAfterSignalsAlone) {
  int calls = 0;
  EXPECT_EQ(retry([&] {
              errno = EINTR;
              return ++calls < 3 ? -1 : 7;
            }),
            7);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(retry([&] {
              errno = EIO;
              return ++calls, -1;
            }),
            -1);
  EXPECT_EQ(calls, 4);
}

TEST(Descriptor, ClosesOnceWhoeverHoldsItLast) {
  const int number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_NE(number, -1);
  {
    Descriptor first(number);
    Descriptor second(std::move(first));
    Descriptor third;
    third = std::move(second);
    EXPECT_EQ(third.get(), number);
    EXPECT_NE(::fcntl(number, F_GETFD), -1);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST(Descriptor, DoesNotCloseAgainWhenASignalInterrupts) {
  const System saved = system_calls();
  static int calls;
  calls = 0;
  system_calls().close = [](int) {
    ++calls;
    errno = EINTR;
    return -1;
  };
  EXPECT_EQ(Descriptor(12345).close(), 0);
  system_calls() = saved;
  EXPECT_EQ(calls, 1);
}

TEST(CheckPath, RefusesZeroBytes) {
  EXPECT_TRUE(check_path("a b/c"));
  const std::string path("model\0.bin", 10);
  EXPECT_EQ(check_path(path).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace andiron
