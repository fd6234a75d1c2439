// SPDX-License-Identifier: MIT OR Apache-2.0
// Which tensors take part.
#include "andiron/names.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/names/named_archive.h"

namespace andiron {
namespace {

TEST(PathFilter, WithoutCriteriaTakesEverything) {
  const PathFilter filter;
  EXPECT_TRUE(filter.is_empty());
  EXPECT_TRUE(filter.matches("encoder.weight"));
  EXPECT_TRUE(filter.matches(""));
}

TEST(PathFilter, AllTakesEverythingAndNoneNothing) {
  EXPECT_TRUE(PathFilter::all().matches("encoder.weight"));
  EXPECT_FALSE(PathFilter::none().matches("encoder.weight"));
  EXPECT_FALSE(PathFilter::none().matches(""));
  EXPECT_FALSE(PathFilter::all().is_empty());
  EXPECT_FALSE(PathFilter::none().is_empty());
}

TEST(PathFilter, OfNoneTakesWhatItsCriteriaSay) {
  const PathFilter filter = PathFilter::none().with_full_path("a");
  EXPECT_TRUE(filter.matches("a"));
  EXPECT_FALSE(filter.matches("b"));
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

TEST(PathFilter, TakesWhatTheUsualPatternsSay) {
  struct {
    const char* pattern;
    Names taken, left;
  } const cases[] = {
      {R"(^encoder\..*)", {"encoder.weight", "encoder.0.bias"}, {"decoder.weight", "my_encoder.x"}},
      {R"(.*\.weight$)", {"a.weight", "a.b.weight"}, {"a.bias", "weight", "a.weights"}},
      {R"(.*\.bias$)", {"a.bias"}, {"a.weight"}},
      {R"(^layers\.[0-9]+\.)", {"layers.0.w", "layers.12.w"}, {"layers.x.w", "a.layers.0.w"}},
      {R"(.*(attn|attention).*)", {"h.attn.w", "self_attention.q"}, {"h.mlp.w"}},
      {R"(^(encoder|decoder)\..*norm.*)", {"encoder.norm1.g"}, {"encoder.fc.w", "head.norm"}},
  };
  for (const auto& c : cases) {
    const PathFilter filter = PathFilter().with_regex(c.pattern);
    ASSERT_TRUE(filter.status().ok()) << c.pattern;
    for (const std::string& path : c.taken) EXPECT_TRUE(filter.matches(path)) << path;
    for (const std::string& path : c.left) EXPECT_FALSE(filter.matches(path)) << path;
  }
}

TEST(PathFilter, AsksItsPredicatesForThePath) {
  const PathFilter filter = PathFilter().with_predicates(
      {[](std::string_view path, const Container&) { return path.starts_with("encoder."); },
       [](std::string_view path, const Container&) { return path.ends_with(".bias"); }});
  EXPECT_TRUE(filter.matches("encoder.weight"));
  EXPECT_TRUE(filter.matches("head.bias"));
  EXPECT_FALSE(filter.matches("head.weight"));
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

TEST(PathFilter, JoinsContainersAndPatternsByOr) {
  const PathFilter filter =
      PathFilter().with_regex("^encoder").with_predicate([](std::string_view, const Container& c) {
        return c.is("Linear");
      });
  EXPECT_TRUE(filter.matches("head.weight", Container({"Struct:Net", "Struct:Linear"})));
  EXPECT_TRUE(filter.matches("encoder.weight", Container({"Struct:Net", "Struct:Conv2d"})));
  EXPECT_FALSE(filter.matches("head.weight", Container({"Struct:Net", "Struct:Conv2d"})));
}

TEST(PathFilter, ShowsPredicatesEveryKindAround) {
  const PathFilter in_a_list_of_blocks =
      PathFilter().with_predicate([](std::string_view, const Container& container) {
        const auto& kinds = container.kinds();
        return kinds.size() == 4 && kinds[1] == "Vec" && kinds[2] == "Struct:Block";
      });
  const Container inside({"Struct:Net", "Vec", "Struct:Block", "Struct:Linear"});
  EXPECT_TRUE(in_a_list_of_blocks.matches("blocks.0.fc.weight", inside));
  EXPECT_FALSE(in_a_list_of_blocks.matches("fc.weight", Container({"Struct:Net"})));
}

TEST(PathFilter, ShowsPredicatesTheContainerAsADottedPath) {
  const PathFilter filter =
      PathFilter().with_predicate([](std::string_view, const Container& container) {
        return container.path() == "Struct:Net.Vec.Struct:Linear";
      });
  EXPECT_TRUE(filter.matches("x.0.weight", Container({"Struct:Net", "Vec", "Struct:Linear"})));
  EXPECT_FALSE(filter.matches("x.weight", Container({"Struct:Net", "Struct:Linear"})));
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

TEST(PathFilter, ExcludesPathsAndWhatPredicatesSay) {
  const PathFilter filter = PathFilter().exclude_full_path("a.bias").exclude_predicate(
      [](std::string_view, const Container& container) { return container.is("BatchNorm"); });
  EXPECT_TRUE(filter.matches("a.weight", Container({"Linear"})));
  EXPECT_FALSE(filter.matches("a.bias", Container({"Linear"})));
  EXPECT_FALSE(filter.matches("bn.gamma", Container({"Struct:BatchNorm"})));
}

TEST(PathFilter, OfExclusionsAloneTakesTheRest) {
  const PathFilter filter = PathFilter().exclude_glob("optimizer.**");
  EXPECT_TRUE(filter.matches("model.weight"));
  EXPECT_FALSE(filter.matches("optimizer.state.0"));
  EXPECT_FALSE(filter.is_empty());
}

TEST(PathFilter, OrWithAddsCriteriaAndExclusions) {
  PathFilter filter = PathFilter().with_regex("^encoder");
  filter.or_with(PathFilter().with_full_path("head").with_glob("tail.*").exclude_regex("bias"));
  for (const char* taken : {"encoder.w", "head", "tail.w"}) {
    EXPECT_TRUE(filter.matches(taken)) << taken;
  }
  for (const char* left : {"other", "encoder.bias", "tail.bias"}) {
    EXPECT_FALSE(filter.matches(left)) << left;
  }
  EXPECT_EQ(filter.criteria_count(), 3u);
}

TEST(PathFilter, OrWithAllTakesEverything) {
  EXPECT_TRUE(PathFilter().with_regex("^a").or_with(PathFilter::all()).matches("b"));
  EXPECT_TRUE(PathFilter::all().or_with(PathFilter().with_regex("^a")).matches("b"));
}

TEST(PathFilter, OrWithAFilterWithoutCriteriaChangesNothing) {
  EXPECT_FALSE(PathFilter().with_regex("^a").or_with(PathFilter()).matches("b"));
  EXPECT_FALSE(PathFilter().or_with(PathFilter().with_regex("^a")).matches("b"));
  EXPECT_FALSE(PathFilter::none().or_with(PathFilter()).matches("b"));
  EXPECT_FALSE(PathFilter().or_with(PathFilter::none()).matches("b"));
  PathFilter twice = PathFilter().with_regex("^a").with_full_path("b");
  EXPECT_EQ(twice.or_with(twice).to_string(), "PathFilter[regex: '^a', '^a'; paths: 'b']");
}

TEST(PathFilter, OrWithPassesErrorsOn) {
  EXPECT_FALSE(PathFilter().or_with(PathFilter().with_regex("(")).status().ok());
}

TEST(PathFilter, CountsItsCriteria) {
  EXPECT_EQ(PathFilter().criteria_count(), 0u);
  EXPECT_EQ(PathFilter::none().criteria_count(), 0u);
  EXPECT_EQ(PathFilter::all().criteria_count(), 1u);
  PathFilter filter;
  filter.with_regexes({"a", "b"}).with_glob("c").with_full_paths({"d", "e"});
  filter.with_predicate([](std::string_view, const Container&) { return true; });
  EXPECT_EQ(filter.criteria_count(), 6u);
  EXPECT_EQ(filter.exclude_regex("f").criteria_count(), 6u);
  EXPECT_EQ(filter.match_all().criteria_count(), 1u);
}

TEST(PathFilter, DropsCriteriaOfOneKind) {
  const auto always = [](std::string_view, const Container&) { return true; };
  PathFilter filter;
  filter.with_regex("a").with_glob("b").with_full_path("c").with_predicate(always);
  filter.exclude_glob("d");
  EXPECT_EQ(filter.clear_regex().criteria_count(), 3u);
  EXPECT_EQ(filter.clear_globs().criteria_count(), 2u);
  EXPECT_EQ(filter.clear_predicates().criteria_count(), 1u);
  EXPECT_FALSE(filter.matches("a"));
  EXPECT_TRUE(filter.matches("c"));
  EXPECT_EQ(filter.clear_paths().criteria_count(), 0u);
  EXPECT_TRUE(filter.matches("a"));
  EXPECT_FALSE(filter.matches("d"));
  EXPECT_TRUE(filter.clear_exclusions().matches("d"));
}

TEST(PathFilter, ClearedIsAsNew) {
  PathFilter filter = PathFilter::none().match_all().with_full_path("a").exclude_regex("(");
  filter.clear();
  EXPECT_TRUE(filter.is_empty());
  EXPECT_TRUE(filter.status().ok());
  EXPECT_TRUE(filter.matches("b"));
}

TEST(PathFilter, SaysWhatItTakes) {
  EXPECT_EQ(PathFilter().to_string(), "PathFilter::all()");
  EXPECT_EQ(PathFilter::all().to_string(), "PathFilter::all()");
  EXPECT_EQ(PathFilter::none().to_string(), "PathFilter::none()");
  EXPECT_EQ(PathFilter().exclude_glob("**.bias").to_string(),
            "PathFilter::all() except [glob: '**.bias']");
  std::ostringstream out;
  out << PathFilter()
             .with_regexes({"^a", R"(\.b$)"})
             .with_glob("*")
             .with_full_paths({"x", "line\n"})
             .with_predicate([](std::string_view, const Container&) { return true; });
  EXPECT_EQ(out.str(),
            R"(PathFilter[regex: '^a', '\.b$'; glob: '*'; paths: 'line\n', 'x'; predicates: 1])");
}

TEST(PathFilter, KeepsTheFirstBadPattern) {
  PathFilter filter;
  EXPECT_TRUE(filter.status().ok());
  filter.with_regex("fine").exclude_regex("(open").with_regex("a(?=b)");
  ASSERT_FALSE(filter.status().ok());
  EXPECT_EQ(filter.status().error().code, ErrorCode::invalid_pattern);
  EXPECT_EQ(filter.status().error().found, "pattern '(open' at byte 0");
  EXPECT_FALSE(PathFilter().with_regex("(").is_empty());
  EXPECT_EQ(PathFilter().with_regexes({"fine", "[", "("}).status().error().found,
            "pattern '[' at byte 0");
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
  Archive archive = archive_of({"a.weight", "a.bias", "b.weight"});
  archive.set_skipped({{"c.weight", "why"}, {"c.bias", "why"}});
  const Archive weights = filter(archive, PathFilter().with_glob("**.weight")).value();
  ASSERT_EQ(weights.skipped().size(), 1u);
  EXPECT_EQ(weights.skipped()[0].name, "c.weight");
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
