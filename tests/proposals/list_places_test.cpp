// SPDX-License-Identifier: MIT OR Apache-2.0
// Which of several modules that hold the same belong together by their places.
#include "src/proposals/list_places.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/proposals/tree_alignment.h"
#include "tests/proposals/sides.h"

namespace andiron::test {
namespace {

using Pairs = std::map<std::string, std::string>;

Side norms_named(const std::vector<std::string>& names, Side side = {}) {
  for (const std::string& name : names) {
    side.push_back({name + ".weight", {4}});
    side.push_back({name + ".bias", {4}});
  }
  return side;
}

TEST(ListPlaces, LettersCountToo) {
  const Pairs pairs = sure_pairs(layers_named({"block_b", "block_c", "block_a"}),
                                 layers_named({"blocks.0", "blocks.1", "blocks.2"}));
  EXPECT_EQ(pairs.at("blocks.0.weight"), "block_a.weight");
  EXPECT_EQ(pairs.at("blocks.1.weight"), "block_b.weight");
  EXPECT_EQ(pairs.at("blocks.2.weight"), "block_c.weight");
}

TEST(ListPlaces, NormsAreCountedInTheOrderInWhichTheyAreUsed) {
  const Side named = layers_named({"h.0.x"}, 7);
  const Pairs pairs =
      sure_pairs(norms_named({"h.0.post_attention_layernorm", "h.0.input_layernorm"}, named),
                 norms_named({"h.0.norm_a", "h.0.norm_b"}, named));
  EXPECT_EQ(pairs.at("h.0.norm_a.weight"), "h.0.input_layernorm.weight");
  EXPECT_EQ(pairs.at("h.0.norm_b.weight"), "h.0.post_attention_layernorm.weight");
}

Side blocks(const std::string& list, int first, int count) {
  Side side;
  for (int i = first; i < first + count; ++i) {
    const std::string block = list + std::to_string(i);
    add_layer(side, block + ".conv.0", 4, 6);
    add_layer(side, block + ".conv.1", 6, 4);
  }
  return side;
}

TEST(ListPlaces, AListThatCountsOthersBeforeBeginsAnywhere) {
  Side source = blocks("model.", 2, 3);
  add_layer(source, "model.0", 4, 3);
  add_layer(source, "model.9", 2, 4);
  Side wanted = blocks("residual.", 0, 5);
  add_layer(wanted, "enter", 4, 3);
  add_layer(wanted, "leave", 2, 4);
  const Pairs pairs = sure_pairs(source, wanted);
  EXPECT_EQ(pairs.at("residual.0.conv.0.weight"), "model.2.conv.0.weight");
  EXPECT_EQ(pairs.at("residual.2.conv.1.weight"), "model.4.conv.1.weight");
  EXPECT_FALSE(pairs.contains("residual.3.conv.0.weight"));
}

TEST(ListPlaces, NumbersStayWhereAFileHasOnlyTheLaterBlocks) {
  Side source = blocks("layers.", 2, 2);
  const Pairs pairs = sure_pairs(source, blocks("h.", 0, 4));
  EXPECT_EQ(pairs.at("h.2.conv.0.weight"), "layers.2.conv.0.weight");
  EXPECT_FALSE(pairs.contains("h.0.conv.0.weight"));
}

TEST(ListPlaces, NumbersThatArePlacesAmongOthersAreAGuessWhereTheModuleCountsOtherwise) {
  // The first three are 0, 1 and 2 in the order of the module, which calls them 1, 3 and 2.
  Side source = vectors_named({"part0", "part1", "part2"});
  Side wanted = vectors_named({"gamma1", "gamma3", "gamma2"});
  for (const std::string block : {"blocks.0.", "blocks.1."}) {
    source.push_back({block + "part3.weight", {5}});
    wanted.push_back({block + "norm.weight", {5}});
  }
  EXPECT_FALSE(sure_pairs(source, wanted).contains("blocks.0.gamma3"));
}

TEST(ListPlaces, DigitsInWordsAreNoPlaces) {
  const std::vector<std::vector<std::uint64_t>> shapes = {
      {4, 6, 1, 1}, {4, 4, 7, 1}, {4, 4, 1, 7}, {4, 4, 7, 1}, {6, 4, 1, 7}};
  const auto branches = [&](const std::string& begin) {
    Side side;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      side.push_back({"mixed." + begin + std::to_string(i + 1) + ".weight", shapes[i]});
    }
    side.push_back({"mixed.pool.weight", {3, 6, 1, 1}});
    return side;
  };
  const Pairs pairs = sure_pairs(branches("branch7x7dbl_"), branches("b7d."));
  EXPECT_EQ(pairs.at("mixed.b7d.2.weight"), "mixed.branch7x7dbl_2.weight");
  EXPECT_EQ(pairs.at("mixed.b7d.4.weight"), "mixed.branch7x7dbl_4.weight");
}

TEST(ListPlaces, WhatIsLeftForAFormIsTakenWhateverItIsCalled) {
  Side source;
  Side wanted;
  for (const char* block : {"0", "1"}) {
    add_layer(source, std::string("blk.") + block + ".ffn_down", 8, 4);
    add_layer(source, std::string("blk.") + block + ".ffn_up", 4, 8);
    add_layer(wanted, std::string("layers.") + block + ".mlp.up_proj", 8, 4);
    add_layer(wanted, std::string("layers.") + block + ".mlp.down_proj", 4, 8);
  }
  detail::WorkBudget budget(1'000'000);
  Pairs pairs;
  for (const detail::AlignedTensor& one : detail::align(source, wanted, true, budget)) {
    pairs.emplace(wanted[one.wanted].name, source[one.source].name);
  }
  EXPECT_EQ(pairs["layers.0.mlp.up_proj.weight"], "blk.0.ffn_down.weight");
  EXPECT_EQ(pairs["layers.1.mlp.down_proj.weight"], "blk.1.ffn_up.weight");
}

TEST(ListPlaces, TheRootIsInNoList) {
  using detail::NameTree;
  const Side side = layers_named({"a", "b"});
  NameTree::Bags bags;
  const NameTree tree(side, std::vector<std::uint32_t>(side.size(), 1), bags);
  const NameTree::NodeId nodes[] = {NameTree::root};
  EXPECT_FALSE(detail::counts_others(tree, NameTree::root));
  EXPECT_FALSE(detail::counts_others_before(tree, nodes, bags));
  EXPECT_FALSE(detail::runs_backwards(tree, NameTree::root, tree, NameTree::root));
}

}  // namespace
}  // namespace andiron::test
