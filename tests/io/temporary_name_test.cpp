// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/io/temporary_name.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace andiron {
namespace {

TEST(TemporaryName, HasTheNameAndTheNumber) {
  EXPECT_EQ(temporary_name("model.bin", 7), ".model.bin.7.tmp");
  EXPECT_EQ(temporary_number(".model.bin.7.tmp", "model.bin"), 7u);
  EXPECT_EQ(temporary_number(temporary_name(std::string(300, 'n'), 12), std::string(300, 'n')),
            12u);
  EXPECT_LE(temporary_name(std::string(300, 'n'), 4'000'000'000u).size(), 255u);
}

TEST(TemporaryName, OtherNamesHaveNoNumber) {
  for (const char* name : {"", "model.bin", ".model.bin..tmp", ".model.bin.07.tmp",
                           ".model.bin.-1.tmp", ".model.bin.7.tmp2", ".other.bin.7.tmp",
                           ".model.bin.99999999999.tmp", ".model.bin.7x.tmp"}) {
    EXPECT_FALSE(temporary_number(name, "model.bin")) << name;
  }
}

TEST(TemporaryName, AFileIsAbandonedWhenNobodyHoldsItsLock) {
  const test::TempDir dir;
  const Descriptor folder(::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  test::write_file(dir.file(".m.0.tmp"), "left");
  test::write_file(dir.file(".m.1.tmp"), "held");
  const Descriptor held(::open(dir.file(".m.1.tmp").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(system_calls().lock(held.get()), 0);
  test::write_file(dir.file(".m.3.tmp"), "left, behind a gap");
  EXPECT_FALSE(lock_abandoned(folder.get(), ".m.1.tmp"));
  EXPECT_FALSE(lock_abandoned(folder.get(), ".m.9.tmp"));
  remove_abandoned(folder.get(), "m");
  EXPECT_EQ(dir.names(), std::vector<std::string>{".m.1.tmp"});
}

}  // namespace
}  // namespace andiron
