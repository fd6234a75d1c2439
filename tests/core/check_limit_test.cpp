// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/core/check_limit.h"

#include <gtest/gtest.h>

namespace andiron::detail {
namespace {

TEST(CheckLimit, AllowsUpToTheLimitAndNamesItBeyond) {
  const LimitCheck check = {"too many bones", &Limits::shards, "bones", "m.bin", "t"};
  EXPECT_TRUE(check_limit(206, 206, check));
  const Error error = check_limit(207, 206, check).error();
  EXPECT_EQ(error.code, ErrorCode::limit_exceeded);
  EXPECT_EQ(error.to_string(),
            "m.bin: tensor 't': too many bones: 207 bones; expected at most 206; raise "
            "Limits::shards if you trust the file");
}

TEST(CheckLimit, ALimitThatCannotBeMovedComesWithoutAHint) {
  EXPECT_EQ(check_limit(3, 2, {"too deep"}).error().hint, "");
}

TEST(CheckLimit, ALongNameIsShownByItsBeginning) {
  const Limits limits = {.name_bytes = 100};
  EXPECT_TRUE(check_name_length(std::string(100, 'a'), limits, "f"));
  const Error error = check_name_length(std::string(101, 'a'), limits, "f").error();
  EXPECT_EQ(error.code, ErrorCode::limit_exceeded);
  EXPECT_EQ(error.found, "101 bytes, '" + std::string(40, 'a') + "...'");
}

}  // namespace
}  // namespace andiron::detail
