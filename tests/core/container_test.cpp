// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/place.h"

#include <gtest/gtest.h>

namespace andiron {
namespace {

TEST(Container, AcceptsBothSpellingsOfAKind) {
  const Container container({"Struct:Net", "Vec", "Struct:Linear"});
  EXPECT_EQ(container.last(), "Linear");
  EXPECT_TRUE(container.is("Linear"));
  EXPECT_TRUE(container.is("Struct:Linear"));
  EXPECT_FALSE(container.is("Net"));
  EXPECT_EQ(container.path(), "Struct:Net.Vec.Struct:Linear");
}

TEST(Container, LooksForTheModuleTypePastLists) {
  EXPECT_EQ(Container({"Struct:Net", "Enum:Act", "Vec", "Tuple"}).module_type(), "Enum:Act");
  EXPECT_EQ(Container({"Vec", "Array"}).module_type(), "");
}

TEST(Container, OfATensorFromAFileIsEmpty) {
  const Container container;
  EXPECT_TRUE(container.empty());
  EXPECT_TRUE(container.kinds().empty());
  EXPECT_EQ(container.last(), "");
  EXPECT_FALSE(container.is(""));
  EXPECT_EQ(container.path(), "");
}

TEST(Container, SharesItsListWithCopies) {
  const Container container({"Struct:Net"});
  const Container copy = container;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(&copy.kinds(), &container.kinds());
  EXPECT_EQ(copy, Container({"Struct:Net"}));
}

}  // namespace
}  // namespace andiron
