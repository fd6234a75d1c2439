// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/value.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

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

TEST(Value, SharesTextListsAndDictsWithItsCopies) {
  const Value list(ValueList{Value("text"), Value(Bytes())});
  const Value copy = list;
  EXPECT_EQ(copy.get<ValueList>(), list.get<ValueList>());
  const Value both(ValueDict{{"a", list}, {"b", list}});
  EXPECT_EQ(both.find("a")->get<ValueList>(), both.find("b")->get<ValueList>());
  EXPECT_EQ(both.leaf_count(), 4u);
}

TEST(Value, IsNullAfterItWasMovedFrom) {
  Value text("text");
  const Value moved = std::move(text);
  EXPECT_TRUE(text.is_null());
  EXPECT_EQ(*moved.get<std::string>(), "text");
}

TEST(Value, IsVisitedAsWhatItHolds) {
  const auto kind = [](const Value& value) {
    return value.visit([]<class Held>(const Held&) {
      return std::is_same_v<Held, std::monostate> ? "null"
             : std::is_same_v<Held, std::string>  ? "text"
             : std::is_same_v<Held, ValueDict>    ? "dict"
             : std::is_same_v<Held, double>       ? "double"
                                                  : "other";
    });
  };
  EXPECT_STREQ(kind(Value()), "null");
  EXPECT_STREQ(kind(Value("a")), "text");
  EXPECT_STREQ(kind(Value(ValueDict{})), "dict");
  EXPECT_STREQ(kind(Value(0.5)), "double");
  EXPECT_STREQ(kind(Value(TensorIndex{1})), "other");
}

}  // namespace
}  // namespace andiron
