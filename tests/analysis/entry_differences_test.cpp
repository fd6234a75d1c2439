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

TEST(EntryDifferences, TensorsAndNullAreNothing) {
  const Value a = ValueDict{{"w", TensorIndex{3}}, {"n", Value()}, {"t", ValueList{Value()}}};
  EXPECT_EQ(differences(a, Value()), Lines{});
  EXPECT_EQ(differences(a, ValueDict{{"w", TensorIndex{5}}}), Lines{});
}

TEST(EntryDifferences, AnEmptyListIsNotAMissingKey) {
  const Value none = ValueDict{};
  const Value list = ValueDict{{"k", ValueList{}}};
  const Value dict = ValueDict{{"k", ValueDict{}}};
  EXPECT_EQ(differences(list, list), Lines{});
  EXPECT_EQ(differences(list, none), Lines{"k: [] | -"});
  EXPECT_EQ(differences(none, dict), Lines{"k: - | {}"});
  EXPECT_EQ(differences(list, dict), Lines{"k: [] | {}"});
  EXPECT_EQ(differences(list, ValueDict{{"k", Value()}}), Lines{"k: [] | -"});
  EXPECT_EQ(differences(list, ValueDict{{"k", ValueList{true}}}), Lines{"k.0: - | true"});
  EXPECT_EQ(differences(list, ValueDict{{"k", ValueDict{{"0", true}}}}),
            (Lines{"k: [] | -", "k.0: - | true"}));
  // Nothing at all.
  EXPECT_EQ(differences(none, Value()), Lines{});
  EXPECT_EQ(differences(none, ValueList{}), Lines{});
}

TEST(EntryDifferences, AListIsNoDictWithItsNumbersAsKeys) {
  const Value a = parse_json(R"({"j": 1, "k": [1, [2, 3]], "l": 1})").value();
  const Value b = parse_json(R"({"j": 2, "k": {"0": 1, "1": {"0": 2, "1": 4}}, "l": 2})").value();
  EXPECT_EQ(differences(a, b),
            (Lines{"j: 1 | 2", "k: list | dict", "k.1: list | dict", "k.1.1: 3 | 4", "l: 1 | 2"}));
  EXPECT_EQ(differences(parse_json(R"({"0": []})").value(), parse_json("[[]]").value()),
            Lines{": dict | list"});
}

TEST(EntryDifferences, ListsOfTensorsAreNothing) {
  const Value list = ValueList{TensorIndex{0}, Value()};
  const Value dict = ValueDict{{"0", TensorIndex{0}}, {"x", true}};
  EXPECT_EQ(differences(ValueDict{{"k", list}}, ValueDict{{"k", dict}}), Lines{"k.x: - | true"});
}

TEST(EntryDifferences, ValuesWithTheSameTextMayDiffer) {
  EXPECT_EQ(differences(ValueDict{{"k", NAN}}, ValueDict{{"k", "NaN"}}),
            Lines{R"(k: "NaN" | "NaN")"});
  EXPECT_EQ(differences(ValueDict{{"k", Bytes()}}, ValueDict{{"k", ValueList{}}}),
            Lines{"k: [] | []"});
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
