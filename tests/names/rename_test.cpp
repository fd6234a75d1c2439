// SPDX-License-Identifier: MIT OR Apache-2.0
// Giving the tensors of an archive other names, aliases included.
#include "src/names/rename.h"

#include <gtest/gtest.h>

#include "tests/names/named_archive.h"

namespace andiron {
namespace {

using detail::names_and_aliases;
using detail::rename_tensors;

Archive tied_archive() {
  Archive archive = archive_of({"embed", "norm"});
  archive.set_aliases({{"head", "embed"}, {"tail", "embed"}});
  return archive;
}

TEST(NewNames, ListTensorsThenAliases) {
  const Archive archive = tied_archive();
  const auto names = names_and_aliases(archive);
  EXPECT_EQ(Names(names.begin(), names.end()), (Names{"embed", "norm", "head", "tail"}));
}

TEST(NewNames, RenameAndLeaveOut) {
  const Archive changed =
      rename_tensors(archive_of({"a", "b", "c"}), {"x", std::nullopt, "z"}).value();
  EXPECT_EQ(names_of(changed), (Names{"x", "z"}));
  EXPECT_EQ(size_of(changed, "z"), 3u);
}

TEST(NewNames, ReachAliasesToo) {
  const Archive changed = rename_tensors(tied_archive(), {"e", "n", "h", std::nullopt}).value();
  EXPECT_EQ(names_of(changed), (Names{"e", "n"}));
  EXPECT_EQ(changed.aliases(), (Aliases{{"h", "e"}}));
}

TEST(NewNames, StoreATensorUnderAnAliasWhenItLosesItsOwnName) {
  const Archive changed =
      rename_tensors(tied_archive(), {std::nullopt, std::nullopt, "h", "t"}).value();
  EXPECT_EQ(names_of(changed), (Names{"h"}));
  EXPECT_EQ(changed.aliases(), (Aliases{{"t", "h"}}));
  EXPECT_EQ(size_of(changed, "t"), 1u);
}

TEST(NewNames, DropAnAliasThatBecomesTheNameItself) {
  const Archive changed = rename_tensors(tied_archive(), {"e", "n", "e", "t"}).value();
  EXPECT_EQ(changed.aliases(), (Aliases{{"t", "e"}}));
}

TEST(NewNames, RefuseToGiveOneNameToTwoTensors) {
  const auto of_tensors = rename_tensors(archive_of({"a", "b"}), {"x", "x"});
  ASSERT_FALSE(of_tensors.ok());
  EXPECT_EQ(of_tensors.error().code, ErrorCode::name_collision);
  const auto of_alias = rename_tensors(tied_archive(), {"e", "n", "n", "t"});
  ASSERT_FALSE(of_alias.ok());
  EXPECT_EQ(of_alias.error().code, ErrorCode::name_collision);
  EXPECT_EQ(of_alias.error().tensor, "n");

  Archive two_ties = archive_of({"a", "b"});
  two_ties.set_aliases({{"c", "a"}, {"d", "b"}});
  const auto of_aliases = rename_tensors(two_ties, {"a", "b", "x", "x"});
  ASSERT_FALSE(of_aliases.ok());
  EXPECT_EQ(of_aliases.error().code, ErrorCode::name_collision);
}

TEST(NewNames, LeaveTheArchiveItselfAlone) {
  const Archive archive = tied_archive();
  rename_tensors(archive, {"e", std::nullopt, "h", "t"}).value();
  EXPECT_EQ(names_of(archive), (Names{"embed", "norm"}));
  EXPECT_EQ(archive.aliases(), (Aliases{{"head", "embed"}, {"tail", "embed"}}));
}

}  // namespace
}  // namespace andiron
