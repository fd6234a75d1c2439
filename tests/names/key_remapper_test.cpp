// SPDX-License-Identifier: MIT OR Apache-2.0
// Renaming tensors by rules.
#include "andiron/names.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "andiron/names.h"
#include "tests/names/named_archive.h"

namespace andiron {
namespace {

TEST(KeyRemapper, WithoutRulesChangesNothing) {
  const KeyRemapper remapper;
  EXPECT_TRUE(remapper.is_empty());
  EXPECT_EQ(remapper.remap("a.b"), "a.b");
}

TEST(KeyRemapper, RenamesAsTheUsualExamplesSay) {
  struct {
    const char *from, *to, *name, *expected;
  } const cases[] = {
      {R"(^model\.)", "", "model.conv.weight", "conv.weight"},
      {R"(^model\.)", "", "my.model.conv", "my.model.conv"},
      {"^layer", "encoder.layer", "layer.0.w", "encoder.layer.0.w"},
      {R"(^transformer\.h\.(\d+)\.)", "transformer.layer$1.", "transformer.h.11.attn.w",
       "transformer.layer11.attn.w"},
      {R"(^(.*?)\.attn\.)", "$1.attention.", "h.0.attn.attn.w", "h.0.attention.attn.w"},
      {R"(norm(\d+))", "norm_$1", "block.norm1.norm2", "block.norm_1.norm_2"},
      {R"(conv\.(.*))", "$1", "conv.conv1.bias", "conv1.bias"},
      {R"(\.block)", "", "a.block.block.w", "a.w"},
      {".*", "", "everything", ""},
      {"b", "", "a.b.c", "a..c"},
  };
  for (const auto& c : cases) {
    const KeyRemapper remapper = KeyRemapper().add_pattern(c.from, c.to);
    ASSERT_TRUE(remapper.status().ok()) << c.from;
    EXPECT_EQ(remapper.remap(c.name), c.expected) << c.from;
  }
}

TEST(KeyRemapper, FeedsEachRuleTheResultOfTheOneBefore) {
  const KeyRemapper remapper = KeyRemapper()
                                   .add_pattern(R"((.+)\.block\.0\.(.+))", "$1.conv.$2")
                                   .add_pattern(R"((.+)\.block\.1\.(.+))", "$1.bn.$2")
                                   .add_pattern(R"(layer\.([0-9])\.(.+))", "layer.blocks.$1.$2");
  EXPECT_EQ(remapper.remap("layer.3.block.0.weight"), "layer.blocks.3.conv.weight");
  EXPECT_EQ(remapper.remap("layer.3.block.1.weight"), "layer.blocks.3.bn.weight");
  EXPECT_EQ(KeyRemapper().add_pattern("a", "b").add_pattern("b", "c").remap("ab"), "cc");
}

TEST(KeyRemapper, IsMadeOfAListOfRules) {
  const KeyRemapper remapper =
      KeyRemapper::from_patterns({{R"(^pytorch\.)", "burn."}, {R"(\.gamma$)", ".weight"}});
  ASSERT_EQ(remapper.rules().size(), 2u);
  EXPECT_EQ(remapper.rules()[1].first.text(), R"(\.gamma$)");
  EXPECT_EQ(remapper.rules()[1].second, ".weight");
  EXPECT_EQ(remapper.remap("pytorch.norm.gamma"), "burn.norm.weight");
  EXPECT_FALSE(KeyRemapper::from_patterns({{"(", ""}}).status().ok());
  EXPECT_TRUE(KeyRemapper::from_patterns({}).is_empty());
}

TEST(KeyRemapper, SaysItsRules) {
  std::ostringstream out;
  out << KeyRemapper().add_pattern(R"(^model\.)", "").add_pattern("a\n", "$1");
  EXPECT_EQ(out.str(), R"(KeyRemapper['^model\.' -> '', 'a\n' -> '$1'])");
  EXPECT_EQ(KeyRemapper().to_string(), "KeyRemapper[]");
}

TEST(KeyRemapper, KeepsTheFirstBadPattern) {
  KeyRemapper remapper;
  remapper.add_pattern("fine", "x").add_pattern(R"((\w)\1)", "y").add_pattern("[", "z");
  ASSERT_FALSE(remapper.status().ok());
  EXPECT_EQ(remapper.status().error().code, ErrorCode::invalid_pattern);
  EXPECT_EQ(remapper.status().error().message, "back-references are not supported");
  EXPECT_FALSE(KeyRemapper().add_pattern("[", "").is_empty());
}

TEST(KeyRemapper, WarnsOfGroupsThatAPatternLacks) {
  const KeyRemapper remapper =
      KeyRemapper().add_pattern(R"(h(\d))", "layer$1_x").add_pattern("a(b)", "$1");
  const auto warnings = remapper.warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            R"(replacement 'layer$1_x' names the group '1_x', which pattern 'h(\d)' does not )"
            R"(have; it becomes empty text; for group 1 write ${1}_x)");
}

TEST(KeyRemapper, RenamesTheTensorsOfAnArchive) {
  Archive archive = archive_of({"model.a", "b"});
  archive.set_aliases({{"model.c", "model.a"}});
  archive.set_skipped({{"model.d", "why"}});
  const Archive renamed = remap(archive, KeyRemapper().add_pattern(R"(^model\.)", "")).value();
  EXPECT_EQ(names_of(renamed), (Names{"a", "b"}));
  EXPECT_EQ(renamed.aliases(), (Aliases{{"c", "a"}}));
  EXPECT_TRUE(renamed.notes().empty());
  EXPECT_EQ(renamed.skipped().at(0).name, "d");
  EXPECT_EQ(names_of(remap(archive, KeyRemapper()).value()), names_of(archive));
}

TEST(KeyRemapper, TellsWhatWasRenamed) {
  const Archive before = archive_of({"model.fc.0.w", "head", "model.fc.2.w"});
  const Archive after = remap(before, KeyRemapper().add_pattern(R"(^model\.)", "")).value();
  EXPECT_EQ(renames(after),
            (std::vector<Rename>{{"model.fc.0.w", "fc.0.w"}, {"model.fc.2.w", "fc.2.w"}}));
  const Archive closed = close_index_gaps(after).value();
  EXPECT_EQ(renames(closed),
            (std::vector<Rename>{{"model.fc.0.w", "fc.0.w"}, {"model.fc.2.w", "fc.1.w"}}));
  EXPECT_TRUE(renames(before).empty());
}

TEST(KeyRemapper, NotesItsWarningsInTheArchive) {
  const Archive renamed =
      remap(archive_of({"h1"}), KeyRemapper().add_pattern(R"(h(\d))", "layer$1x")).value();
  EXPECT_EQ(names_of(renamed), Names{"layer"});
  EXPECT_EQ(renamed.notes().size(), 1u);
}

TEST(KeyRemapper, RefusesToMakeTwoNamesOne) {
  const Result<Archive> result =
      remap(archive_of({"a.w", "b.w"}), KeyRemapper().add_pattern("^[ab]", "x"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::name_collision);
  EXPECT_EQ(result.error().tensor, "x.w");
  EXPECT_EQ(result.error().found, "'a.w' and 'b.w'");
}

TEST(KeyRemapper, WithABadPatternRenamesNothing) {
  const Result<Archive> result = remap(archive_of({"a"}), KeyRemapper().add_pattern("(", ""));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::invalid_pattern);
}

}  // namespace
}  // namespace andiron
