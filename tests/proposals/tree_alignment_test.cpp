// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/tree_alignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/proposals/work_budget.h"
#include "tests/proposals/sides.h"

namespace andiron::test {
namespace {

using detail::align;
using detail::AlignedTensor;
using detail::Evidence;
using detail::TreeTensor;
using detail::WorkBudget;
using Pairs = std::map<std::string, std::string>;

struct Alignment {
  Pairs pairs;                    // wanted name to source name
  std::set<std::string> guesses;  // wanted names
  std::map<std::string, Evidence> evidence;
};

Alignment alignment_of(const Side& source, const Side& wanted, bool is_sorted = false) {
  WorkBudget budget(1'000'000);
  Alignment result;
  std::set<std::uint32_t> used;
  for (const AlignedTensor& one : align(source, wanted, is_sorted, budget)) {
    const TreeTensor& from = source[one.source];
    const TreeTensor& to = wanted[one.wanted];
    EXPECT_EQ(from.shape, to.shape) << from.name << " for " << to.name;
    EXPECT_EQ(from.kind, to.kind) << from.name << " for " << to.name;
    EXPECT_TRUE(used.insert(one.source).second) << from.name;
    EXPECT_TRUE(result.pairs.emplace(to.name, from.name).second) << to.name;
    result.evidence[to.name] = one.evidence;
    if (one.is_guess) result.guesses.insert(to.name);
  }
  return result;
}

Side sorted_by_name(Side side) {
  std::sort(side.begin(), side.end(),
            [](const TreeTensor& a, const TreeTensor& b) { return a.name < b.name; });
  return side;
}

TEST(Align, FindsEqualNames) {
  const Alignment found = alignment_of(small_model, small_model);
  EXPECT_EQ(found.pairs.size(), small_model.size());
  for (const auto& [to, from] : found.pairs) EXPECT_EQ(to, from);
  EXPECT_TRUE(found.guesses.empty());
}

TEST(Align, OfNothingIsEmpty) {
  EXPECT_TRUE(alignment_of({}, small_model).pairs.empty());
  EXPECT_TRUE(alignment_of(small_model, {}).pairs.empty());
}

TEST(Align, HasNothingForAnotherModel) {
  EXPECT_TRUE(alignment_of({{"a.weight", {9, 9}}, {"b", {7}}}, small_model).pairs.empty());
}

TEST(Align, TellsKindsOfNumbersApart) {
  const Side source = {{"x", {4}, 1}, {"y", {4}, 0}};
  const Side wanted = {{"a", {4}, 0}, {"b", {4}, 1}};
  EXPECT_EQ(alignment_of(source, wanted).pairs, (Pairs{{"a", "y"}, {"b", "x"}}));
}

std::vector<std::string> block_names(const std::string& list,
                                     const std::vector<std::string>& places,
                                     const std::vector<int>& numbers) {
  std::vector<std::string> names;
  for (const int number : numbers) {
    for (const std::string& place : places) {
      names.push_back(list + std::to_string(number) + "." + place);
    }
  }
  return names;
}

TEST(Align, PairsBlocksByNumber) {
  // Sorted as text, 10 comes before 2.
  const std::vector<int> numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const Side source = sorted_by_name(
      layers_named(block_names("model.h.", {"attn.q_proj", "attn.k_proj", "mlp.fc1"}, numbers)));
  const Side wanted = layers_named(block_names("layers.", {"query", "key", "up"}, numbers));
  const Alignment found = alignment_of(source, wanted, true);
  ASSERT_EQ(found.pairs.size(), wanted.size());
  for (const int number : numbers) {
    const std::string to = "layers." + std::to_string(number) + ".";
    const std::string from = "model.h." + std::to_string(number) + ".";
    EXPECT_EQ(found.pairs.at(to + "query.weight"), from + "attn.q_proj.weight");
    EXPECT_EQ(found.pairs.at(to + "key.bias"), from + "attn.k_proj.bias");
    EXPECT_EQ(found.pairs.at(to + "up.weight"), from + "mlp.fc1.weight");
  }
  EXPECT_TRUE(found.guesses.empty());
}

TEST(Align, PairsBlocksThatAreCountedFromOne) {
  const Side source = layers_named(block_names("block", {"fc"}, {1, 2, 3}));
  const Side wanted = layers_named(block_names("layers.", {"fc"}, {0, 1, 2}));
  const Alignment found = alignment_of(source, wanted);
  EXPECT_EQ(found.pairs.size(), wanted.size());
  EXPECT_EQ(found.pairs.at("layers.0.fc.weight"), "block1.fc.weight");
  EXPECT_EQ(found.pairs.at("layers.2.fc.bias"), "block3.fc.bias");
}

TEST(Align, PairsListsThatRunTheOtherWay) {
  // The ends have shapes of their own, the middle has not.
  const auto list = [](const std::string& name, const std::vector<std::uint64_t>& sizes) {
    Side side;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::string block = name + "." + std::to_string(i);
      add_layer(side, block + ".conv1", sizes[i], sizes[i]);
      add_layer(side, block + ".conv2", sizes[i], 2 * sizes[i]);
    }
    return side;
  };
  const Side source = list("up", {8, 16, 16, 32});
  const Side wanted = list("decoder", {32, 16, 16, 8});
  const Alignment found = alignment_of(source, wanted);
  ASSERT_EQ(found.pairs.size(), wanted.size());
  EXPECT_EQ(found.pairs.at("decoder.0.conv1.weight"), "up.3.conv1.weight");
  EXPECT_EQ(found.pairs.at("decoder.1.conv1.weight"), "up.2.conv1.weight");
  EXPECT_EQ(found.pairs.at("decoder.2.conv2.bias"), "up.1.conv2.bias");
  EXPECT_EQ(found.pairs.at("decoder.3.conv1.weight"), "up.0.conv1.weight");
}

TEST(Align, KnowsListsThatCountFromTheEnd) {
  const Side source = {{"refinenet1.conv.weight", {4, 4, 3, 3}},
                       {"refinenet2.conv.weight", {4, 4, 3, 3}}};
  const Side wanted = {{"fusion.layers.0.conv.weight", {4, 4, 3, 3}},
                       {"fusion.layers.1.conv.weight", {4, 4, 3, 3}}};
  EXPECT_EQ(alignment_of(source, wanted).pairs,
            (Pairs{{"fusion.layers.0.conv.weight", "refinenet2.conv.weight"},
                   {"fusion.layers.1.conv.weight", "refinenet1.conv.weight"}}));
}

TEST(Align, KeepsTheNumbersOfAListThatWasOnlyRenamed) {
  const Side source = layers_named({"refinenet1.conv", "refinenet2.conv"});
  const Side wanted = layers_named({"fusion1.conv", "fusion2.conv"});
  EXPECT_EQ(alignment_of(source, wanted).pairs.at("fusion1.conv.weight"), "refinenet1.conv.weight");
}

// The first block holds a tensor more, which the module has outside of its blocks.
TEST(Align, ABlockWithATensorMoreIsOneOfTheList) {
  Side source;
  Side wanted;
  for (const std::string i : {"0", "1", "2"}) {
    for (const std::string part : {"q", "k", "v"}) {
      source.push_back({"block." + i + ".attention." + part + ".weight", {8, 6}});
      wanted.push_back({"layers." + i + ".attention." + part + "_proj.weight", {8, 6}});
    }
    source.push_back({"block." + i + ".norm.weight", {6}});
    wanted.push_back({"layers." + i + ".ln.weight", {6}});
  }
  source.push_back({"block.0.attention.relative_attention_bias.weight", {32, 2}});
  wanted.push_back({"position.relative_attention_bias.weight", {32, 2}});
  const Alignment found = alignment_of(source, wanted, true);
  EXPECT_EQ(found.pairs.size(), wanted.size());
  EXPECT_EQ(found.pairs.at("layers.0.attention.q_proj.weight"), "block.0.attention.q.weight");
  EXPECT_EQ(found.pairs.at("layers.2.attention.q_proj.weight"), "block.2.attention.q.weight");
  EXPECT_EQ(found.pairs.at("position.relative_attention_bias.weight"),
            "block.0.attention.relative_attention_bias.weight");
}

TEST(Align, NumbersOfOtherListsSayNothing) {
  const Side source = layers_named({"1.sub.23", "3", "6", "8"});
  const Side wanted = layers_named({"trunk", "up1", "up2", "hr"});
  const Alignment found = alignment_of(source, wanted);
  EXPECT_EQ(found.pairs.at("trunk.weight"), "1.sub.23.weight");
  EXPECT_EQ(found.pairs.at("up1.weight"), "3.weight");
  EXPECT_EQ(found.pairs.at("up2.weight"), "6.weight");
  EXPECT_EQ(found.pairs.at("hr.weight"), "8.weight");
}

TEST(Align, GoesByWordsWhereTheFileIsSorted) {
  const Side source = sorted_by_name(layers_named({"attn.wq", "attn.wk", "attn.wv", "attn.wo"}));
  const Side wanted = layers_named(
      {"attention.q_proj", "attention.k_proj", "attention.v_proj", "attention.o_proj"});
  for (const bool is_sorted : {true, false}) {
    const Alignment found = alignment_of(source, wanted, is_sorted);
    ASSERT_EQ(found.pairs.size(), wanted.size());
    for (const char* one : {"q", "k", "v", "o"}) {
      const std::string name = std::string("attention.") + one + "_proj.";
      EXPECT_EQ(found.pairs.at(name + "weight"), std::string("attn.w") + one + ".weight");
      EXPECT_EQ(found.pairs.at(name + "bias"), std::string("attn.w") + one + ".bias");
    }
    EXPECT_TRUE(found.guesses.empty());
  }
}

TEST(Align, TellsNormsOfABlockApart) {
  const auto norms = [](const std::vector<std::string>& names) {
    Side side;
    for (const std::string& name : names) {
      side.push_back({name + ".weight", {4}});
      side.push_back({name + ".bias", {4}});
    }
    add_layer(side, "h.0.attn.proj", 4, 4);
    return side;
  };
  const Alignment found =
      alignment_of(norms({"h.0.ffn_norm", "h.0.attention_norm"}), norms({"h.0.ln_1", "h.0.ln_2"}));
  EXPECT_EQ(found.pairs.at("h.0.ln_1.weight"), "h.0.attention_norm.weight");
  EXPECT_EQ(found.pairs.at("h.0.ln_2.bias"), "h.0.ffn_norm.bias");
  EXPECT_TRUE(found.guesses.empty());
}

// Expects the second of each pair for the first, surely, whatever the order of the file.
void expect_layers_paired(const std::vector<std::pair<std::string, std::string>>& layers) {
  Side source;
  Side wanted;
  for (const auto& [to, from] : layers) {
    add_layer(wanted, to, 4, 4);
    add_layer(source, from, 4, 4);
  }
  const Side backwards(source.rbegin(), source.rend());
  for (const Side& file : {sorted_by_name(source), source, backwards}) {
    const Alignment found = alignment_of(file, wanted);
    EXPECT_EQ(found.pairs.size(), wanted.size());
    EXPECT_TRUE(found.guesses.empty());
    for (const auto& [to, from] : layers) {
      for (const char* leaf : {".weight", ".bias"}) {
        const auto pair = found.pairs.find(to + leaf);
        ASSERT_NE(pair, found.pairs.end()) << to << leaf;
        EXPECT_EQ(pair->second, from + leaf);
      }
    }
  }
}

TEST(Align, KnowsTheGateAmongThreeLayers) {
  expect_layers_paired({{"mlp.gate_proj", "feed_forward.w1"},
                        {"mlp.up_proj", "feed_forward.w3"},
                        {"mlp.down_proj", "feed_forward.w2"}});
}

TEST(Align, TellsEncodersFromDecoders) {
  expect_layers_paired({{"encoder.0.attn.q", "enc.layers.0.self_attn.q_proj"},
                        {"encoder.0.attn.k", "enc.layers.0.self_attn.k_proj"},
                        {"decoder.0.attn.q", "dec.layers.0.self_attn.q_proj"},
                        {"decoder.0.attn.k", "dec.layers.0.self_attn.k_proj"}});
}

TEST(Align, TellsSelfAttentionFromCrossAttention) {
  expect_layers_paired({{"h.0.self_attn.query", "layers.0.attn1.to_q"},
                        {"h.0.self_attn.key", "layers.0.attn1.to_k"},
                        {"h.0.cross_attn.query", "layers.0.attn2.to_q"},
                        {"h.0.cross_attn.key", "layers.0.attn2.to_k"}});
}

TEST(Align, TellsProjectionsFromAttentionByTheirModules) {
  expect_layers_paired({{"h.0.attention.output.dense", "layers.0.attn.c_proj"},
                        {"h.0.mlp.down_proj", "layers.0.mlp.c_proj"},
                        {"h.0.mlp.up_proj", "layers.0.mlp.c_fc"}});
}

TEST(Align, TellsActorsFromCritics) {
  expect_layers_paired({{"policy.0", "actor.0"},
                        {"policy.2", "actor.2"},
                        {"value_net.0", "critic.0"},
                        {"value_net.2", "critic.2"}});
}

TEST(Align, KeepsTheTensorsOfAModuleTogether) {
  // All vectors have one shape.
  Side source;
  Side wanted;
  for (const char* name : {"bn2", "bn1"}) {
    for (const char* leaf : {"bias", "running_mean", "running_var", "weight"}) {
      source.push_back({std::string(name) + "." + leaf, {4}});
    }
  }
  for (const char* name : {"norm1", "norm2"}) {
    for (const char* leaf : {"gamma", "beta", "running_mean", "running_var"}) {
      wanted.push_back({std::string(name) + "." + leaf, {4}});
    }
  }
  const Alignment found = alignment_of(source, wanted, true);
  const Pairs expected = {{"norm1.gamma", "bn1.weight"},
                          {"norm1.beta", "bn1.bias"},
                          {"norm1.running_mean", "bn1.running_mean"},
                          {"norm1.running_var", "bn1.running_var"},
                          {"norm2.gamma", "bn2.weight"},
                          {"norm2.beta", "bn2.bias"},
                          {"norm2.running_mean", "bn2.running_mean"},
                          {"norm2.running_var", "bn2.running_var"}};
  EXPECT_EQ(found.pairs, expected);
}

TEST(Align, DoesNotTakeABiasWithoutItsWeight) {
  // The head is of another size, so its bias is not for what happens to have its shape.
  const Side source = {
      {"fc.weight", {4, 3}}, {"fc.bias", {4}}, {"head.weight", {7, 4}}, {"head.bias", {7}}};
  const Side wanted = {{"fc.weight", {4, 3}},
                       {"fc.bias", {4}},
                       {"head.weight", {5, 4}},
                       {"head.bias", {5}},
                       {"scale.bias", {7}}};
  const Alignment found = alignment_of(source, wanted);
  EXPECT_EQ(found.pairs, (Pairs{{"fc.weight", "fc.weight"}, {"fc.bias", "fc.bias"}}));
}

TEST(Align, MarksWhatOnlyTheOrderTells) {
  const Side source = layers_named({"foo", "bar"});
  const Side wanted = layers_named({"hidden", "result"});
  const Alignment found = alignment_of(source, wanted);
  EXPECT_EQ(found.pairs.at("hidden.weight"), "foo.weight");
  EXPECT_EQ(found.pairs.at("result.bias"), "bar.bias");
  EXPECT_EQ(found.guesses.size(), 4u);
}

TEST(Align, TakesWhatIsLeftAloneOnBothSides) {
  Side source = layers_named(block_names("h.", {"q", "k", "v", "o"}, {0, 1}));
  Side wanted = source;
  add_layer(source, "stem", 4, 4);
  add_layer(wanted, "adapter", 4, 4);
  const Alignment complete = alignment_of(source, wanted);
  EXPECT_EQ(complete.pairs.at("adapter.weight"), "stem.weight");
  EXPECT_EQ(complete.evidence.at("adapter.weight"), Evidence::rest);
  EXPECT_TRUE(complete.guesses.empty());

  // Both sides have something else, too: it may be another part.
  add_layer(source, "aux", 9, 4);
  add_layer(wanted, "aux", 9, 4);
  wanted.push_back({"scale.table", {9, 4}});
  const Alignment found = alignment_of(source, wanted);
  EXPECT_EQ(found.pairs.at("adapter.weight"), "stem.weight");
  EXPECT_TRUE(found.guesses.contains("adapter.weight"));
  EXPECT_FALSE(found.guesses.contains("h.0.q.weight"));
}

TEST(Align, DoesNotTakeTheHeadOfAnotherTask) {
  Side source = layers_named(block_names("h.", {"q", "k", "v", "o"}, {0, 1}));
  Side wanted = source;
  add_layer(source, "pooler.dense", 4, 4);
  add_layer(wanted, "predictions.dense", 4, 4);
  EXPECT_EQ(alignment_of(source, wanted).pairs.count("predictions.dense.weight"), 0u);
}

// A block of two convolutions, each with its norm.
Side double_convolution(const std::vector<std::string>& names) {
  Side side;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i % 2 == 0) side.push_back({names[i] + ".weight", {8, i == 0 ? 4u : 8u, 3, 3}});
    if (i % 2 == 1) side.push_back({names[i] + ".weight", {8}});
    if (i % 2 == 1) side.push_back({names[i] + ".bias", {8}});
  }
  return side;
}

TEST(Align, GivesNormsToTheConvolutionsTheyFollow) {
  const Side named =
      double_convolution({"enc1.enc1conv1", "enc1.enc1norm1", "enc1.enc1conv2", "enc1.enc1norm2"});
  const Side numbered = double_convolution({"inc.0", "inc.1", "inc.3", "inc.4"});
  for (const bool is_sorted : {false, true}) {
    const Alignment found =
        alignment_of(is_sorted ? sorted_by_name(named) : named, numbered, is_sorted);
    EXPECT_EQ(found.pairs.at("inc.1.weight"), "enc1.enc1norm1.weight") << is_sorted;
    EXPECT_EQ(found.pairs.at("inc.4.weight"), "enc1.enc1norm2.weight") << is_sorted;
  }
}

TEST(Align, NumbersBelowDifferentParentsFollowTheList) {
  const Side source = layers_named({"vgg.0", "vgg.2", "vgg.5", "vgg.7"});
  const Side wanted = layers_named({"features.19", "features.21", "extra.0", "extra.2"});
  const Alignment found = alignment_of(source, wanted);
  EXPECT_EQ(found.pairs.at("features.19.weight"), "vgg.0.weight");
  EXPECT_EQ(found.pairs.at("extra.2.weight"), "vgg.7.weight");
}

TEST(Align, NumberedProjectionsAreQueryKeyValueAndOutput) {
  const Side source =
      layers_named({"attn.linears.0", "attn.linears.1", "attn.linears.2", "attn.linears.3"});
  const Side wanted = layers_named({"attn.k_proj", "attn.v_proj", "attn.q_proj", "attn.out_proj"});
  const Alignment found = alignment_of(source, wanted);
  EXPECT_EQ(found.pairs.at("attn.q_proj.weight"), "attn.linears.0.weight");
  EXPECT_EQ(found.pairs.at("attn.out_proj.weight"), "attn.linears.3.weight");
  EXPECT_EQ(found.guesses.size(), wanted.size());
}

TEST(Align, OtherMembersOfABlockDoNotTurnAListAround) {
  // snake1 and conv1 stand beside the list and are not a part of it.
  const auto block = [](const std::vector<std::string>& names) {
    Side side;
    for (std::size_t i = 0; i < names.size(); ++i) {
      add_layer(side, "block.0." + names[i], i == 3 ? 8 : 4, 4);
    }
    return side;
  };
  const Side source = block({"res_unit1", "res_unit2", "res_unit3", "conv1"});
  const Side wanted = block({"0", "1", "2", "3"});
  const Alignment found = alignment_of(source, wanted);
  EXPECT_EQ(found.pairs.at("block.0.0.weight"), "block.0.res_unit1.weight");
  EXPECT_EQ(found.pairs.at("block.0.3.weight"), "block.0.conv1.weight");
}

TEST(Align, LeavesTheTensorsOfAnotherModelInTheFile) {
  Side source =
      below_prefix("visual.", layers_named(block_names("h.", {"q", "k", "v", "o"}, {0, 1, 2, 3})));
  const Side wanted = [&] {
    Side side = layers_named(block_names("h.", {"q", "k", "v", "o"}, {0, 1, 2, 3}));
    side.push_back({"position_embedding", {9, 4}});
    return side;
  }();
  source.push_back({"text.positional_embedding", {9, 4}});
  EXPECT_EQ(alignment_of(source, wanted).pairs.count("position_embedding"), 0u);
}

TEST(Align, PairsWhatIsLeftByItsNumbers) {
  Side source = layers_named(block_names("h.", {"q", "k", "v", "o"}, {0, 1, 2}));
  Side wanted = source;
  for (const char* name : {"extras.1", "extras.3"}) add_layer(source, name, 6, 4);
  for (const char* name : {"tail.0.a", "tail.1.a"}) add_layer(wanted, name, 6, 4);
  const Alignment found = alignment_of(source, wanted);
  EXPECT_EQ(found.pairs.at("tail.0.a.weight"), "extras.1.weight");
  EXPECT_EQ(found.pairs.at("tail.1.a.weight"), "extras.3.weight");
}

TEST(Align, ANormWithoutParametersComesFromOneThatHasSome) {
  const auto norm = [](const std::string& name, bool is_affine) {
    Side side;
    if (is_affine) side.push_back({name + ".weight", {4}});
    if (is_affine) side.push_back({name + ".bias", {4}});
    side.push_back({name + ".running_mean", {4}});
    side.push_back({name + ".running_var", {4}});
    return side;
  };
  for (const bool is_affine : {false, true}) {
    Side source = layers_named({"fc"});
    Side wanted = source;
    for (const TreeTensor& tensor : norm("features", is_affine)) source.push_back(tensor);
    for (const TreeTensor& tensor : norm("bn_features", !is_affine)) wanted.push_back(tensor);
    const Alignment found = alignment_of(source, wanted);
    ASSERT_TRUE(found.pairs.contains("bn_features.running_var")) << is_affine;
    EXPECT_EQ(found.pairs.at("bn_features.running_var"), "features.running_var");
  }
}

TEST(Align, LeavesTheDecoderToOthers) {
  Side source =
      below_prefix("encoder.", layers_named(block_names("h.", {"q", "k", "v", "o"}, {0, 1, 2, 3})));
  add_layer(source, "decoder.out", 9, 4);
  Side wanted = layers_named(block_names("h.", {"q", "k", "v", "o"}, {0, 1, 2, 3}));
  add_layer(wanted, "last", 9, 4);
  EXPECT_EQ(alignment_of(source, wanted).pairs.count("last.weight"), 0u);
}

TEST(Align, AWeightAloneComesFromAModuleWithABias) {
  const Side source = layers_named({"attn.q", "attn.k", "attn.v", "attn.proj"});
  Side wanted = layers_named({"attention.q_proj", "attention.v_proj", "attention.o_proj"});
  wanted.push_back({"attention.k_proj.weight", {4, 4}});
  const Alignment found = alignment_of(source, wanted);
  EXPECT_EQ(found.pairs.size(), wanted.size());
  EXPECT_EQ(found.pairs.at("attention.k_proj.weight"), "attn.k.weight");
}

TEST(Align, GivesTheBestReason) {
  const Side source = layers_named({"attn.q_proj", "attn.key"});
  const Side wanted = layers_named({"attn.q_proj", "attn.k"});
  const Alignment found = alignment_of(source, wanted);
  EXPECT_EQ(found.evidence.at("attn.q_proj.weight"), Evidence::name);
  EXPECT_TRUE(found.guesses.empty());
}

TEST(Align, NeverExchangesTheWeightsOfTheInputAndOfTheState) {
  const auto lstm = [](const std::string& name, const std::vector<std::string>& order) {
    Side side;
    for (const char* layer : {"l0", "l1"}) {
      for (const std::string& leaf : order) {
        const bool is_weight = leaf.starts_with("weight");
        side.push_back({name + "." + leaf + "_" + layer, is_weight
                                                             ? std::vector<std::uint64_t>{16, 4}
                                                             : std::vector<std::uint64_t>{16}});
      }
    }
    return side;
  };
  const Side source = lstm("lstm", {"weight_hh", "weight_ih", "bias_hh", "bias_ih"});
  const Side wanted = lstm("rnn", {"weight_ih", "weight_hh", "bias_ih", "bias_hh"});
  const Alignment found = alignment_of(source, wanted);
  ASSERT_EQ(found.pairs.size(), wanted.size());
  for (const auto& [to, from] : found.pairs) EXPECT_EQ(to.substr(4), from.substr(5));
  EXPECT_TRUE(found.guesses.empty());
}

TEST(Align, LeavesOutWhatTheFileLacks) {
  Side source = layers_named(block_names("h.", {"fc"}, {0, 1}));
  const Side wanted = layers_named(block_names("h.", {"fc"}, {0, 1, 2}));
  const Alignment found = alignment_of(source, wanted);
  EXPECT_EQ(found.pairs.size(), source.size());
  for (const auto& [to, from] : found.pairs) EXPECT_EQ(to, from);
}

TEST(Align, FindsModelsBesideOthers) {
  Side source = below_prefix("student.", small_model);
  source.push_back({"optimizer.exp_avg", {4, 3}});
  source.push_back({"step", {}});
  const Alignment found = alignment_of(source, small_model);
  ASSERT_EQ(found.pairs.size(), small_model.size());
  for (const auto& [to, from] : found.pairs) EXPECT_EQ("student." + to, from);
}

TEST(Align, EndsWhenItsWorkIsDone) {
  const std::vector<std::string> places = {"q", "k", "v", "o", "up", "down"};
  std::vector<int> numbers;
  for (int i = 0; i < 200; ++i) numbers.push_back(i);
  const Side source = layers_named(block_names("a.", places, numbers));
  const Side wanted = layers_named(block_names("b.", places, numbers));
  WorkBudget budget(100);
  EXPECT_LE(align(source, wanted, false, budget).size(), wanted.size());
  EXPECT_TRUE(budget.is_spent());
}

// Lists of norms on one side, norms of layers on the other.
TEST(TreeAlignment, FindsListsInListsTheOtherWayRound) {
  Side source;
  Side wanted;
  for (const std::string layer : {"0", "1"}) {
    add_layer(source, "ffn_layers." + layer + ".conv", 7, 4);
    add_layer(wanted, "layers." + layer + ".ff.conv", 7, 4);
    for (const std::string norm : {"1", "2"}) {
      source.push_back({"norm_layers_" + norm + "." + layer + ".gamma", {4}});
      source.push_back({"norm_layers_" + norm + "." + layer + ".beta", {4}});
      wanted.push_back({"layers." + layer + ".norm" + norm + ".gamma", {4}});
      wanted.push_back({"layers." + layer + ".norm" + norm + ".beta", {4}});
    }
  }
  add_layer(source, "embed", 9, 4);
  add_layer(wanted, "embed", 9, 4);
  const std::map<std::string, std::string> pairs = sure_pairs(source, wanted);
  EXPECT_EQ(pairs.count("layers.0.norm2.gamma"), 1u);
  EXPECT_EQ(pairs.at("layers.0.norm2.gamma"), "norm_layers_2.0.gamma");
  EXPECT_EQ(pairs.at("layers.1.norm1.beta"), "norm_layers_1.1.beta");
}

// Stages of blocks on one side, blocks of stages on the other: equal numbers say nothing.
TEST(TreeAlignment, FindsListsInListsByTheWordsThatCount) {
  Side source;
  Side wanted;
  for (const std::string stage : {"1", "2"}) {
    add_layer(source, "feat_convs." + stage, 4, 3);
    add_layer(wanted, "stages." + stage + ".conv", 4, 3);
    for (const std::string block : {"1", "2"}) {
      for (const std::string conv : {"1", "2"}) {
        add_layer(source, "resnet" + block + "." + stage + "." + conv, 4, 4);
        add_layer(wanted, "stages." + stage + ".res" + block + ".conv" + conv, 4, 4);
      }
    }
  }
  add_layer(source, "core", 9, 4);
  add_layer(wanted, "core", 9, 4);
  std::map<std::string, std::string> pairs = sure_pairs(source, wanted);
  EXPECT_EQ(pairs["stages.1.res2.conv1.weight"], "resnet2.1.1.weight");
  EXPECT_EQ(pairs["stages.2.res1.conv1.weight"], "resnet1.2.1.weight");
}

TEST(TreeAlignment, AWordInCommonTellsMoreThanTheOrderOfAListing) {
  Side source;
  Side wanted;
  for (const std::string n : {"0", "1"}) {
    const std::string f = "blocks." + n + ".";
    const std::string m = "layers." + n + ".";
    source.push_back({f + "gamma_1", {4}});
    source.push_back({f + "gamma_2", {4}});
    for (const std::string norm : {"norm1", "norm2"}) {
      source.push_back({f + norm + ".weight", {4}});
      source.push_back({f + norm + ".bias", {4}});
    }
    add_layer(source, f + "attn.qkv", 12, 4);
    add_layer(source, f + "mlp.fc1", 16, 4);
    wanted.push_back({m + "scale_attn", {4}});
    wanted.push_back({m + "scale_mlp", {4}});
    for (const std::string norm : {"norm_attn", "norm_mlp"}) {
      wanted.push_back({m + norm + ".weight", {4}});
      wanted.push_back({m + norm + ".bias", {4}});
    }
    add_layer(wanted, m + "attn.qkv", 12, 4);
    add_layer(wanted, m + "mlp.up", 16, 4);
  }
  std::map<std::string, std::string> pairs = sure_pairs(source, wanted);
  EXPECT_NE(pairs["layers.0.scale_attn"], "blocks.0.gamma_2");
  EXPECT_NE(pairs["layers.0.scale_mlp"], "blocks.0.gamma_1");
}

// The branch holds what the shortcut wants, and more.
TEST(TreeAlignment, APartOfALargerModuleIsNotToldByItsShapeAlone) {
  Side source;
  Side wanted;
  const auto add_norm = [](Side& side, const std::string& name, std::uint64_t size) {
    for (const char* leaf : {"weight", "bias", "running_mean", "running_var"}) {
      side.push_back({name + "." + leaf, {size}});
    }
  };
  add_layer(source, "res.branch1_conv", 32, 8);
  add_norm(source, "res.branch1_norm", 32);
  add_layer(source, "res.branch2.conv_a", 8, 8);
  add_norm(source, "res.branch2.norm_a", 8);
  add_layer(source, "res.branch2.conv_c", 32, 8);
  add_norm(source, "res.branch2.norm_c", 32);
  add_layer(wanted, "res.down.conv", 32, 8);
  add_norm(wanted, "res.down.bn", 32);
  add_layer(wanted, "res.conv1", 8, 8);
  add_norm(wanted, "res.bn1", 8);
  add_layer(wanted, "res.conv3", 32, 8);
  add_norm(wanted, "res.bn3", 32);
  EXPECT_FALSE(sure_pairs(source, wanted).contains("res.down.conv.weight"));
}

// A norm that is left is not the first of those that the file numbers.
TEST(TreeAlignment, OneWithoutANumberIsNotTheFirstOfAList) {
  Side source;
  Side wanted;
  const auto add_norm = [](Side& side, const std::string& name) {
    for (const char* leaf : {"weight", "bias", "running_mean", "running_var"}) {
      side.push_back({name + "." + leaf, {8}});
    }
  };
  for (const std::string n : {"1", "2"}) {
    const std::string f = "block" + n + ".";
    const std::string m = "entry." + n + ".";
    source.push_back({f + "skip.weight", {8, 6, 1, 1}});
    add_norm(source, f + "skipbn");
    wanted.push_back({m + "residual.conv.weight", {8, 6, 1, 1}});
    add_norm(wanted, m + "residual.bn");
    for (const std::uint64_t k : {1, 2}) {
      const std::string rep = f + "rep." + std::to_string(3 * k - 3);
      const std::string sep = m + "sep" + std::to_string(k);
      source.push_back({rep + ".conv1.weight", {4 + 2 * k, 1, 3, 3}});
      source.push_back({rep + ".pointwise.weight", {8, 4 + 2 * k, 1, 1}});
      add_norm(source, f + "rep." + std::to_string(3 * k - 2));
      wanted.push_back({sep + ".depthwise.weight", {4 + 2 * k, 1, 3, 3}});
      wanted.push_back({sep + ".pointwise.weight", {8, 4 + 2 * k, 1, 1}});
      add_norm(wanted, sep + ".norm");
    }
  }
  std::map<std::string, std::string> pairs = sure_pairs(source, wanted);
  EXPECT_NE(pairs["entry.1.sep2.norm.weight"], "block1.rep.1.weight");
}

}  // namespace
}  // namespace andiron::test
