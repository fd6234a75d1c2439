// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tests of atomic files share: a folder, system calls that fail, both kinds of draft.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <span>
#include <string>
#include <vector>

#include "andiron/file.h"
#include "src/io/system_calls.h"
#include "tests/support/noise.h"
#include "tests/support/temp_dir.h"

namespace andiron {

using test::noise;
using test::read_file;
using test::TempDir;
using test::write_file;

using Names = std::vector<std::string>;

inline constexpr std::size_t mib = std::size_t{1} << 20;

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Makes one system call, of whatever signature, fail.
inline int injected_errno = 0;
template <class Result, class... Arguments>
void make_fail(Result (*&call)(Arguments...), int error_number) {
  injected_errno = error_number;
  call = [](Arguments...) -> Result {
    errno = injected_errno;
    return -1;
  };
}

// Every test runs twice: with nameless files and, as on file systems that lack them, with named
// ones.
enum class Draft { nameless, named };

inline void PrintTo(Draft draft, std::ostream* out) {
  *out << (draft == Draft::nameless ? "Nameless" : "Named");
}

class AtomicFileTest : public ::testing::TestWithParam<Draft> {
 protected:
  void SetUp() override {
    if (GetParam() == Draft::named) {
      make_nameless_fail();
    } else {
      const Descriptor folder(::open(dir_.path().c_str(), O_RDONLY | O_CLOEXEC));
      const Descriptor probe(system_calls().open_nameless(folder.get(), 0600));
      if (!probe) GTEST_SKIP() << "no nameless files on this file system";
    }
  }
  void TearDown() override { system_calls() = saved_; }

  static void make_nameless_fail() {
    system_calls().open_nameless = [](int, mode_t) {
      errno = EOPNOTSUPP;
      return -1;
    };
  }

  TempDir dir_;
  std::string path_ = dir_.file("model.bin");

 private:
  System saved_ = system_calls();
};

}  // namespace andiron
