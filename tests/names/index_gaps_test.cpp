// SPDX-License-Identifier: MIT OR Apache-2.0
// Closing gaps in numbered names.
#include "andiron/names.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "src/core/parse_index.h"
#include "src/names/index_gaps.h"
#include "tests/names/named_archive.h"

namespace andiron {
namespace {

Names closed(const Names& names, const Names& except = {}) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::vector<Pattern> patterns;
  for (const std::string& text : except) patterns.push_back(Pattern::regex(text).value());
  return detail::names_without_index_gaps(views, patterns);
}

TEST(IndexGaps, AreClosedUnderEachParent) {
  EXPECT_EQ(closed({"fc.0.w", "fc.2.w", "fc.4.w"}), (Names{"fc.0.w", "fc.1.w", "fc.2.w"}));
  EXPECT_EQ(closed({"encoder.0.w", "encoder.2.w", "decoder.1.w", "decoder.5.w"}),
            (Names{"encoder.0.w", "encoder.1.w", "decoder.0.w", "decoder.1.w"}));
}

TEST(IndexGaps, AreClosedAtEveryDepthByTheOriginalParents) {
  EXPECT_EQ(closed({"f.layers.0.cb.0", "f.layers.0.cb.2", "f.layers.2.cb.0", "f.layers.2.cb.2"}),
            (Names{"f.layers.0.cb.0", "f.layers.0.cb.1", "f.layers.1.cb.0", "f.layers.1.cb.1"}));
  EXPECT_EQ(closed({"a.0.b.0.c.0", "a.0.b.0.c.2", "a.0.b.2.c.0", "a.2.b.0.c.0"}),
            (Names{"a.0.b.0.c.0", "a.0.b.0.c.1", "a.0.b.1.c.0", "a.1.b.0.c.0"}));
}

TEST(IndexGaps, AtTheRootAreClosedToo) {
  EXPECT_EQ(closed({"0.weight", "3.weight"}), (Names{"0.weight", "1.weight"}));
  EXPECT_EQ(closed({"5"}), (Names{"0"}));
}

TEST(IndexGaps, LeaveNamesWithoutGapsAlone) {
  EXPECT_EQ(closed({}), Names{});
  EXPECT_EQ(closed({"output.weight"}), (Names{"output.weight"}));
  EXPECT_EQ(closed({"l.1", "l.0", "l.2"}), (Names{"l.1", "l.0", "l.2"}));
}

TEST(IndexGaps, AreClosedBesideNamesWithoutNumbers) {
  EXPECT_EQ(closed({"fc.0.w", "fc.2.w", "output.w", "norm.gamma"}),
            (Names{"fc.0.w", "fc.1.w", "output.w", "norm.gamma"}));
}

TEST(IndexGaps, StayUnderExceptedParents) {
  EXPECT_EQ(closed({"fc.0.w", "fc.2.w", "flows.0.w", "flows.2.w"}, {"^flows$"}),
            (Names{"fc.0.w", "fc.1.w", "flows.0.w", "flows.2.w"}));
  EXPECT_EQ(closed({"a.007.w", "a.7.w"}, {"a"}), (Names{"a.007.w", "a.7.w"}));
}

TEST(IndexGaps, StayInKeptListsByTheirNewPaths) {
  const Archive file = archive_of({"b.1.fc.2", "b.4.fc.3", "b.4.fc.5", "7.x"});
  EXPECT_EQ(names_of(close_index_gaps(file, {.kept_lists = {"b.1.fc"}}).value()),
            (Names{"b.0.fc.0", "b.1.fc.3", "b.1.fc.5", "0.x"}));
  EXPECT_EQ(names_of(apply_names(file, {.close_gaps = true, .kept_lists = {"b", ""}}).value()),
            (Names{"b.1.fc.0", "b.4.fc.0", "b.4.fc.1", "7.x"}));
}

TEST(IndexGaps, AreExceptedLevelByLevelByTheOriginalPath) {
  const Names names = {"flows.0.enc.in_layers.0", "flows.0.enc.in_layers.2",
                       "flows.2.enc.in_layers.1", "flows.2.enc.in_layers.4"};
  EXPECT_EQ(closed(names, {"^flows$"}),
            (Names{"flows.0.enc.in_layers.0", "flows.0.enc.in_layers.1", "flows.2.enc.in_layers.0",
                   "flows.2.enc.in_layers.1"}));
  EXPECT_EQ(closed(names, {R"(^flows\.2\.enc\.in_layers$)"}),
            (Names{"flows.0.enc.in_layers.0", "flows.0.enc.in_layers.1", "flows.1.enc.in_layers.1",
                   "flows.1.enc.in_layers.4"}));
}

TEST(IndexGaps, AtTheRootAreExceptedByTheEmptyPath) {
  EXPECT_EQ(closed({"0.w", "3.w", "a.5"}, {"^$"}), (Names{"0.w", "3.w", "a.0"}));
}

TEST(IndexGaps, ShiftAListThatStartsLateToZero) {
  EXPECT_EQ(closed({"layer.3"}), (Names{"layer.0"}));
  EXPECT_EQ(closed({"layers.9.w", "layers.5.w", "layers.10.w"}),
            (Names{"layers.1.w", "layers.0.w", "layers.2.w"}));
}

TEST(IndexGaps, ReadNumbersAsRustReadsAUsize) {
  EXPECT_EQ(closed({"a.007", "a.7", "a.+8"}), (Names{"a.0", "a.0", "a.1"}));
  EXPECT_EQ(closed({"a.-1", "a.1a", "a.", "a.+", "a..b", "a.++1", "a. 1"}),
            (Names{"a.-1", "a.1a", "a.", "a.+", "a..b", "a.++1", "a. 1"}));
  EXPECT_EQ(closed({"a.18446744073709551615", "a.18446744073709551616"}),
            (Names{"a.0", "a.18446744073709551616"}));
  EXPECT_EQ(closed({"a.00000000000000000000000000000000005.b"}), (Names{"a.0.b"}));
}

TEST(IndexGaps, KeepParentsApartThatDifferOnlyInSpelling) {
  EXPECT_EQ(closed({"a.07.4", "a.7.5"}), (Names{"a.0.0", "a.0.0"}));
  EXPECT_EQ(closed({"a.b.4", "a.b-.5", "a.b5.6"}), (Names{"a.b.0", "a.b-.0", "a.b5.0"}));
}

TEST(IndexGaps, CountANameGivenTwiceOnce) {
  EXPECT_EQ(closed({"a.4", "a.4", "a.6"}), (Names{"a.0", "a.0", "a.1"}));
}

// The algorithm as burn-store words it, with a set for each prefix.
Names closed_by_the_book(const Names& names) {
  const auto split = [](const std::string& name) {
    Names parts(1);
    for (const char c : name) {
      if (c == '.') {
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    return parts;
  };
  std::map<std::string, std::set<std::uint64_t>> numbers;
  for (int pass = 0; pass < 2; ++pass) {
    Names out;
    for (const std::string& name : names) {
      std::string prefix;
      std::string renamed;
      for (const std::string& part : split(name)) {
        const auto value = parse_index(part);
        const std::set<std::uint64_t>& under = numbers[prefix];
        if (pass == 0 && value) numbers[prefix].insert(*value);
        renamed += value ? std::to_string(std::distance(under.begin(), under.find(*value))) : part;
        renamed += '.';
        prefix += part + ".";
      }
      renamed.pop_back();
      out.push_back(renamed);
    }
    if (pass == 1) return out;
  }
  return {};
}

TEST(IndexGaps, AgreeWithTheAlgorithmByTheBook) {
  std::mt19937 random(11);
  const Names parts = {"0", "1", "2", "5", "10", "05", "a", "b", "", "a-", "+1"};
  for (int round = 0; round < 500; ++round) {
    Names names(1 + random() % 40);
    for (std::string& name : names) {
      for (auto depth = random() % 5; depth > 0; --depth) {
        name += parts[random() % parts.size()] + ".";
      }
      name += parts[random() % parts.size()];
    }
    ASSERT_EQ(closed(names), closed_by_the_book(names));
  }
}

TEST(IndexGaps, AreClosedInManyNamesAndInDeepOnes) {
  Names names;
  for (int i = 0; i < 100000; ++i) names.push_back("layers." + std::to_string(i * 2) + ".weight");
  EXPECT_EQ(closed(names)[99999], "layers.99999.weight");
  std::string deep;
  for (int i = 0; i < 30000; ++i) deep += "1.";
  const Names closed_deep = closed({deep + "x", deep + "y"});
  EXPECT_EQ(closed_deep[0].substr(0, 6), "0.0.0.");
  EXPECT_TRUE(closed_deep[1].ends_with("0.y"));
}

TEST(IndexGaps, AreClosedInDeepNamesBesideKeptLists) {
  Names kept;
  for (int i = 0; i < 100; ++i) kept.push_back("kept." + std::to_string(i));
  std::string deep;
  for (int i = 0; i < 400'000; ++i) deep += "1.";
  const Names names =
      detail::names_without_index_gaps(std::vector<std::string_view>{deep}, {}, kept);
  EXPECT_EQ(names[0].find('1'), std::string::npos);
}

TEST(IndexGaps, AreClosedInAnArchive) {
  const Archive closed_archive = close_index_gaps(archive_of({"fc.2.w", "fc.0.w"})).value();
  EXPECT_EQ(names_of(closed_archive), (Names{"fc.1.w", "fc.0.w"}));
  EXPECT_EQ(size_of(closed_archive, "fc.1.w"), 1u);
}

TEST(IndexGaps, StayWhereTheOptionsExceptThem) {
  const Archive archive = archive_of({"fc.2.w", "blocks.3.w"});
  EXPECT_EQ(names_of(close_index_gaps(archive, {.except = {"blocks", "x"}}).value()),
            (Names{"fc.0.w", "blocks.3.w"}));
  const Result<Archive> bad = close_index_gaps(archive, {.except = {"("}});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, ErrorCode::invalid_pattern);
}

TEST(IndexGaps, CountTiedNames) {
  Archive archive = archive_of({"fc.0.w", "fc.4.w"});
  archive.set_aliases({{"fc.2.w", "fc.0.w"}});
  const Archive closed_archive = close_index_gaps(archive).value();
  EXPECT_EQ(names_of(closed_archive), (Names{"fc.0.w", "fc.2.w"}));
  EXPECT_EQ(closed_archive.aliases(), (Aliases{{"fc.1.w", "fc.0.w"}}));
}

TEST(IndexGaps, RefuseToMakeTwoNamesOne) {
  const Result<Archive> result = close_index_gaps(archive_of({"a.7", "a.007"}));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::name_collision);
  EXPECT_EQ(result.error().found, "'a.7' and 'a.007'");
}

}  // namespace
}  // namespace andiron
