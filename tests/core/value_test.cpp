// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/value.h"

#include <gtest/gtest.h>

namespace andiron {
namespace {

TEST(Value, CountsLeavesThatAreNeitherNullNorTensors) {
  EXPECT_EQ(Value().leaf_count(), 0u);
  EXPECT_EQ(Value(TensorIndex{3}).leaf_count(), 0u);
  EXPECT_EQ(Value("text").leaf_count(), 1u);
  const Value tree(ValueDict{{"a", Value(1.5)},
                             {"b", Value(ValueList{Value(true), Value(), Value(TensorIndex{0})})},
                             {"c", Value(ValueDict{{"d", Value(std::int64_t{1})}})}});
  EXPECT_EQ(tree.leaf_count(), 3u);
}

}  // namespace
}  // namespace andiron
