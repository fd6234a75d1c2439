// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/name_tree.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/proposals/sides.h"

namespace andiron::test {
namespace {

using detail::NameTree;
using Path = std::vector<std::string>;

NameTree tree_of(const Side& side, NameTree::Bags& bags) {
  return {side, std::vector<std::uint32_t>(side.size(), 1), bags};
}

TEST(NameTree, HasANodeForEachSegment) {
  const Side side = {{"a.x.weight", {2}}, {"b", {2}}, {"a.x.bias", {2}}};
  NameTree::Bags bags;
  const NameTree tree = tree_of(side, bags);
  ASSERT_EQ(tree.size(), 6u);
  EXPECT_EQ(tree[NameTree::root].count, 3u);
  const NameTree::NodeId leaf = tree.leaf_of(2).value();
  EXPECT_EQ(tree.plain_path(leaf), (Path{"a", "x", "bias"}));
  EXPECT_EQ(tree[leaf].depth, 3u);
  const NameTree::NodeId module = tree[leaf].parent;
  EXPECT_TRUE(tree.is_module(module));
  EXPECT_FALSE(tree.is_module(leaf));
  EXPECT_FALSE(tree.is_module(tree[module].parent));
  EXPECT_TRUE(tree.contains(module, leaf));
  EXPECT_FALSE(tree.contains(module, tree.leaf_of(1).value()));
  EXPECT_EQ(tree.bottom_of_chain(tree[module].parent), module);
}

TEST(NameTree, LeavesOutTensorsWithoutAForm) {
  const Side side = {{"a", {2}}, {"b", {2}}};
  NameTree::Bags bags;
  const NameTree tree(side, std::vector<std::uint32_t>{0, 1}, bags);
  EXPECT_FALSE(tree.leaf_of(0));
  EXPECT_TRUE(tree.leaf_of(1));
  EXPECT_EQ(tree[NameTree::root].count, 1u);
}

TEST(NameTree, ATensorWithTheNameOfAModuleIsLeftOut) {
  const Side side = {{"a", {2}}, {"a.weight", {2}}};
  NameTree::Bags bags;
  const NameTree tree = tree_of(side, bags);
  EXPECT_FALSE(tree.leaf_of(0));
  EXPECT_TRUE(tree.leaf_of(1));
}

TEST(NameTree, PutsTensorsOfOneLayerTogether) {
  const Side side = {{"rnn.weight_ih_l0", {2}},
                     {"rnn.bias_ih_l0", {2}},
                     {"rnn.weight_ih_l1", {2}},
                     {"attn.in_proj_weight", {2}},
                     {"attn.in_proj_bias", {2}}};
  NameTree::Bags bags;
  const NameTree tree = tree_of(side, bags);
  const auto layer_of = [&](std::uint32_t tensor) {
    return tree[tree.leaf_of(tensor).value()].parent;
  };
  EXPECT_EQ(layer_of(0), layer_of(1));
  EXPECT_NE(layer_of(0), layer_of(2));
  EXPECT_EQ(tree.plain_path(layer_of(0)), (Path{"rnn", "l0"}));
  EXPECT_EQ(tree.plain_path(layer_of(3)), (Path{"attn", "in_proj"}));
  EXPECT_EQ(layer_of(3), layer_of(4));
}

TEST(NameTree, GivesEqualModulesOneBag) {
  const Side side = layers_named({"a", "b"});
  Side more = side;
  more.push_back({"a.scale", {4}});
  NameTree::Bags bags;
  const NameTree tree = tree_of(side, bags);
  const NameTree other = tree_of(more, bags);
  const auto module = [](const NameTree& of, std::uint32_t tensor) {
    return of[of.leaf_of(tensor).value()].parent;
  };
  const std::uint32_t bag = tree[module(tree, 0)].bag;
  EXPECT_EQ(bag, tree[module(tree, 2)].bag);
  EXPECT_EQ(tree.with_bag(bag).size(), 2u);
  const std::uint32_t larger = other[module(other, 0)].bag;
  EXPECT_NE(larger, bag);
  EXPECT_TRUE(tree.with_bag(larger).empty());
  EXPECT_EQ(bags.likeness(bag, bag), 1);
  EXPECT_GT(bags.likeness(bag, larger), 0.65);
  EXPECT_LT(bags.likeness(bag, larger), 1);
}

TEST(NameTree, OfNothingIsTheRoot) {
  NameTree::Bags bags;
  const NameTree tree = tree_of({}, bags);
  EXPECT_EQ(tree.size(), 1u);
  EXPECT_EQ(tree[NameTree::root].count, 0u);
}

}  // namespace
}  // namespace andiron::test
