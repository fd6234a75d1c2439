// SPDX-License-Identifier: MIT OR Apache-2.0
// Which tensors take part.
#include "andiron/path_filter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/transfer/named_archive.h"

namespace andiron {
namespace {

TEST(PathFilter, WithoutCriteriaTakesEverything) {
  const PathFilter filter;
  EXPECT_TRUE(filter.is_empty());
  EXPECT_TRUE(filter.matches("encoder.weight"));
  EXPECT_TRUE(filter.matches(""));
}

TEST(PathFilter, FindsARegexAnywhereInThePath) {
  const PathFilter filter = PathFilter().with_regex("layer");
  EXPECT_TRUE(filter.matches("encoder.layer.0"));
  EXPECT_FALSE(filter.matches("encoder.conv"));
  EXPECT_TRUE(PathFilter().with_regex(R"(^encoder\..*)").matches("encoder.x"));
  EXPECT_FALSE(PathFilter().with_regex(R"(^encoder\..*)").matches("my.encoder.x"));
}

TEST(PathFilter, JoinsItsCriteriaByOr) {
  const PathFilter filter =
      PathFilter()
          .with_regexes({R"(\.bias$)", "^head"})
          .with_glob("encoder.*.weight")
          .with_full_path("tail")
          .with_full_paths({"a.b", "a.c"})
          .with_predicate([](std::string_view path, const Container&) { return path.size() == 1; });
  for (const char* taken : {"x.bias", "head.q", "encoder.0.weight", "tail", "a.b", "a.c", "z"}) {
    EXPECT_TRUE(filter.matches(taken)) << taken;
  }
  for (const char* left : {"x.weight", "encoder.0.1.weight", "tail.x", "a.bc", "zz"}) {
    EXPECT_FALSE(filter.matches(left)) << left;
  }
  EXPECT_FALSE(filter.is_empty());
}

TEST(PathFilter, ComparesFullPathsExactly) {
  const PathFilter filter = PathFilter().with_full_path("a.weight");
  EXPECT_TRUE(filter.matches("a.weight"));
  EXPECT_FALSE(filter.matches("aaweight"));
  EXPECT_FALSE(filter.matches("a.weight.x"));
}

TEST(PathFilter, ShowsPredicatesTheContainer) {
  const PathFilter filter = PathFilter().with_predicate(
      [](std::string_view, const Container& container) { return container.is("Linear"); });
  EXPECT_TRUE(filter.matches("x", Container({"Struct:Net", "Vec", "Struct:Linear"})));
  EXPECT_TRUE(filter.matches("x", Container({"Net", "Linear"})));
  EXPECT_FALSE(filter.matches("x", Container({"Linear", "Conv2d"})));
  EXPECT_FALSE(filter.matches("x"));
}

TEST(PathFilter, MatchAllOverridesOtherCriteria) {
  const PathFilter filter = PathFilter().with_full_path("a").match_all();
  EXPECT_TRUE(filter.matches("b"));
  EXPECT_FALSE(filter.is_empty());
}

TEST(PathFilter, ExclusionWinsOverEverything) {
  const PathFilter filter = PathFilter()
                                .match_all()
                                .with_full_path("a.bias")
                                .exclude_regex(R"(\.bias$)")
                                .exclude_glob("**.running_*");
  EXPECT_TRUE(filter.matches("a.weight"));
  EXPECT_FALSE(filter.matches("a.bias"));
  EXPECT_FALSE(filter.matches("bn.running_mean"));
  EXPECT_FALSE(PathFilter().with_regex(".*").exclude_glob("x").matches("x"));
}

TEST(PathFilter, OfExclusionsAloneTakesTheRest) {
  const PathFilter filter = PathFilter().exclude_glob("optimizer.**");
  EXPECT_TRUE(filter.matches("model.weight"));
  EXPECT_FALSE(filter.matches("optimizer.state.0"));
  EXPECT_FALSE(filter.is_empty());
}

TEST(PathFilter, KeepsTheFirstBadPattern) {
  PathFilter filter;
  EXPECT_TRUE(filter.status().ok());
  filter.with_regex("fine").exclude_regex("(open").with_regex("a(?=b)");
  ASSERT_FALSE(filter.status().ok());
  EXPECT_EQ(filter.status().error().code, ErrorCode::invalid_pattern);
  EXPECT_EQ(filter.status().error().found, "pattern '(open' at byte 0");
  EXPECT_FALSE(PathFilter().with_regex("(").is_empty());
}

TEST(PathFilter, RefusesAnEmptyPredicate) {
  const PathFilter filter = PathFilter().with_predicate(nullptr);
  ASSERT_FALSE(filter.status().ok());
  EXPECT_EQ(filter.status().error().code, ErrorCode::invalid_argument);
}

TEST(PathFilter, BuildsOnLvalues) {
  PathFilter filter;
  filter.with_regex("a").with_glob("b").with_full_path("c");
  filter.exclude_regex("aa").exclude_glob("ab");
  EXPECT_TRUE(filter.matches("a"));
  EXPECT_TRUE(filter.matches("c"));
  EXPECT_FALSE(filter.matches("aa"));
  EXPECT_FALSE(filter.matches("ab"));
}

TEST(PathFilter, LooksUpManyFullPaths) {
  std::vector<std::string> paths;
  for (int i = 0; i < 100000; ++i) paths.push_back("layers." + std::to_string(i));
  const PathFilter filter = PathFilter().with_full_paths(paths);
  for (const std::string& path : paths) ASSERT_TRUE(filter.matches(path));
  EXPECT_FALSE(filter.matches("layers.100000"));
}

TEST(PathFilter, FiltersAnArchive) {
  const Archive archive = archive_of({"a.weight", "a.bias", "b.weight"});
  const Archive weights = filter(archive, PathFilter().with_glob("**.weight")).value();
  EXPECT_EQ(names_of(weights), (Names{"a.weight", "b.weight"}));
  EXPECT_EQ(size_of(weights, "b.weight"), 3u);
  EXPECT_EQ(names_of(filter(archive, PathFilter()).value()), names_of(archive));
  EXPECT_TRUE(filter(archive, PathFilter().with_full_path("c")).value().empty());
}

TEST(PathFilter, ShowsPredicatesTheContainersOfAnArchive) {
  Archive archive = archive_of({"a"});
  archive.add(archive.snapshot(0).with_path("b").with_container(Container({"Linear"}))).value();
  const auto in_linear = [](std::string_view, const Container& c) { return c.is("Linear"); };
  EXPECT_EQ(names_of(filter(archive, PathFilter().with_predicate(in_linear)).value()), Names{"b"});
}

TEST(PathFilter, GoesByTiedNamesToo) {
  Archive archive = archive_of({"lm_head.weight", "model.norm.weight"});
  archive.set_aliases({{"model.embed.weight", "lm_head.weight"}});
  const Archive model = filter(archive, PathFilter().with_glob("model.**")).value();
  EXPECT_EQ(names_of(model), (Names{"model.embed.weight", "model.norm.weight"}));
  const Archive head = filter(archive, PathFilter().exclude_glob("model.**")).value();
  EXPECT_EQ(names_of(head), Names{"lm_head.weight"});
  EXPECT_TRUE(head.aliases().empty());
}

TEST(PathFilter, WithABadPatternFiltersNothing) {
  const Result<Archive> result = filter(archive_of({"a"}), PathFilter().with_regex("("));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::invalid_pattern);
}

}  // namespace
}  // namespace andiron
