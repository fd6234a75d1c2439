// SPDX-License-Identifier: MIT OR Apache-2.0
// What differs in metadata and values.
#include "src/analysis/entry_differences.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace andiron::test {
namespace {

std::vector<std::string> texts(const std::vector<EntryDifference>& differences) {
  std::vector<std::string> lines;
  for (const EntryDifference& one : differences) {
    lines.push_back(one.key + ": " + one.a.value_or("-") + " | " + one.b.value_or("-"));
  }
  return lines;
}

std::vector<std::string> differences(const Value& a, const Value& b) {
  return texts(detail::value_differences(a, b).listed);
}

using Lines = std::vector<std::string>;

TEST(EntryDifferences, OfMetadataAreInOrderOfKeys) {
  EXPECT_EQ(texts(detail::metadata_differences({{"a", "1"}, {"c", "2"}, {"same", "x"}},
                                               {{"b", "3"}, {"c", "4"}, {"same", "x"}})),
            (Lines{"a: 1 | -", "b: - | 3", "c: 2 | 4"}));
  EXPECT_EQ(texts(detail::metadata_differences({}, {})), Lines{});
}

TEST(EntryDifferences, OfValuesHaveThePathAndTheJsonOfBoth) {
  const Value a = parse_json(R"({"lr": 0.1, "net": {"sizes": [1, 2], "name": "x"}})").value();
  const Value b = parse_json(R"({"net": {"name": "y", "sizes": [1, 3, 4]}, "lr": 0.1})").value();
  EXPECT_EQ(differences(a, b),
            (Lines{R"(net.name: "x" | "y")", "net.sizes.1: 2 | 3", "net.sizes.2: - | 4"}));
}

TEST(EntryDifferences, TensorsNullAndEmptyListsAreNothing) {
  const Value a = ValueDict{{"w", TensorIndex{3}}, {"n", Value()}, {"l", ValueList{}}};
  EXPECT_EQ(differences(a, Value()), Lines{});
  EXPECT_EQ(differences(a, ValueDict{{"w", TensorIndex{5}}, {"e", ValueDict{}}}), Lines{});
}

TEST(EntryDifferences, AValueMayBeAListOnTheOtherSide) {
  EXPECT_EQ(
      differences(ValueDict{{"k", std::int64_t{1}}}, ValueDict{{"k", ValueList{std::int64_t{1}}}}),
      (Lines{"k: 1 | -", "k.0: - | 1"}));
}

TEST(EntryDifferences, OfValuesAreInOrderOfKeys) {
  const Value a = parse_json(R"({"m": 1, "z": 1})").value();
  const Value b = parse_json(R"({"a": 1, "n": {"q": 2}, "z": 2})").value();
  EXPECT_EQ(differences(a, b), (Lines{"a: - | 1", "m: 1 | -", "n.q: - | 2", "z: 1 | 2"}));
}

TEST(EntryDifferences, NanAndInfinitiesAreToldApart) {
  EXPECT_EQ(differences(ValueDict{{"k", NAN}}, ValueDict{{"k", NAN}}), Lines{});
  EXPECT_EQ(differences(ValueDict{{"k", NAN}}, ValueDict{{"k", -NAN}}), Lines{});
  EXPECT_EQ(differences(ValueDict{{"k", NAN}}, ValueDict{{"k", INFINITY}}),
            Lines{R"(k: "NaN" | "Infinity")"});
}

TEST(EntryDifferences, PathsThatTakeTooMuchRoomAreCounted) {
  // A few keys, the same at each depth, make paths that are much longer than the tree.
  const std::string key(100'000, 'k');
  Value tree = ValueDict{{key, std::int64_t{1}}};
  for (int depth = 0; depth < 300; ++depth) tree = ValueDict{{key, tree}, {"x", std::int64_t{2}}};
  const detail::ValueDifferences found = detail::value_differences(tree, Value());
  EXPECT_EQ(found.listed.size() + found.unlisted, 301U);
  EXPECT_GT(found.unlisted, 250U);
  std::size_t text = 0;
  for (const EntryDifference& one : found.listed) text += one.key.size();
  EXPECT_LE(text, std::size_t{16} << 20);
}

}  // namespace
}  // namespace andiron::test
