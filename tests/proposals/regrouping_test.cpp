// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/regrouping.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace andiron {
namespace {

using detail::find_transposed;
using detail::regroup;
using detail::Regrouping;
using detail::TornList;
using detail::TreeTensor;
using Tensors = std::vector<TreeTensor>;

// Names of the tensors that are transposed.
std::vector<std::string> names_of_transposed(const Tensors& source, const Tensors& wanted) {
  const std::vector<bool> transposed = find_transposed(source, wanted);
  EXPECT_EQ(transposed.size(), source.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (transposed[i]) names.push_back(source[i].name);
  }
  return names;
}

// A block of GPT-2 with matrices as its Conv1D has them, or as Linear has them.
Tensors gpt2_block(bool is_conv1d) {
  Tensors tensors = {{"wte.weight", {50, 4}}, {"wpe.weight", {8, 4}}, {"h.0.ln_1.weight", {4}}};
  const auto add = [&](const std::string& name, std::uint64_t out, std::uint64_t in) {
    if (is_conv1d) std::swap(out, in);
    tensors.push_back({name + ".weight", {out, in}});
    tensors.push_back({name + ".bias", {is_conv1d ? in : out}});
  };
  add("h.0.attn.c_attn", 12, 4);
  add("h.0.attn.c_proj", 4, 4);
  add("h.0.mlp.c_fc", 16, 4);
  add("h.0.mlp.c_proj", 4, 16);
  return tensors;
}

std::vector<std::string> torn_names(const TornList& list) {
  std::vector<std::string> names;
  for (const TreeTensor& tensor : list.tensors) names.push_back(tensor.name);
  return names;
}

TEST(FindTransposed, GoesByBiases) {
  const std::vector<std::string> expected = {"h.0.attn.c_attn.weight", "h.0.attn.c_proj.weight",
                                             "h.0.mlp.c_fc.weight", "h.0.mlp.c_proj.weight"};
  // The square one follows the others.
  EXPECT_EQ(names_of_transposed(gpt2_block(true), gpt2_block(false)), expected);
  EXPECT_EQ(names_of_transposed(gpt2_block(false), gpt2_block(true)), expected);
}

TEST(FindTransposed, SquaresFollowTheBlocksAroundThem) {
  const Tensors source = {{"h.0.att.out.weight", {4, 4}},      {"h.0.att.out.bias", {4}},
                          {"h.0.ff.layers.0.weight", {16, 4}}, {"h.0.ff.layers.0.bias", {16}},
                          {"h.0.ff.layers.2.weight", {4, 16}}, {"h.0.ff.layers.2.bias", {4}}};
  EXPECT_EQ(names_of_transposed(source, gpt2_block(true)),
            (std::vector<std::string>{"h.0.att.out.weight", "h.0.ff.layers.0.weight",
                                      "h.0.ff.layers.2.weight"}));
}

TEST(FindTransposed, IsNothingWhereBothSidesAgree) {
  for (const bool is_conv1d : {true, false}) {
    EXPECT_TRUE(names_of_transposed(gpt2_block(is_conv1d), gpt2_block(is_conv1d)).empty());
  }
  EXPECT_TRUE(names_of_transposed({}, {}).empty());
}

TEST(FindTransposed, GoesByShapesWhereThereAreNoBiases) {
  const Tensors wanted = {{"a", {3, 4}}, {"b", {5, 6}}};
  EXPECT_EQ(names_of_transposed({{"x", {4, 3}}, {"y", {5, 6}}}, wanted),
            std::vector<std::string>{"x"});
  // The module has as many of them as they are.
  EXPECT_TRUE(names_of_transposed({{"x", {3, 4}}}, {{"a", {3, 4}}, {"b", {4, 3}}}).empty());
}

TEST(FindTransposed, KnowsTheKernelsOfTensorFlow) {
  const Tensors source = {{"fc/kernel", {4, 4}}, {"fc/bias", {4}}, {"out/kernel", {4, 2}}};
  const Tensors wanted = {{"fc.weight", {4, 4}}, {"fc.bias", {4}}, {"out.weight", {2, 4}}};
  EXPECT_EQ(names_of_transposed(source, wanted),
            (std::vector<std::string>{"fc/kernel", "out/kernel"}));
}

TEST(FindTransposed, BiasesTellMoreThanTheNameOfAKernel) {
  const Tensors source = {{"0.kernel", {8, 4}}, {"0.bias", {8}},      {"2.kernel", {8, 8}},
                          {"2.bias", {8}},      {"4.kernel", {2, 8}}, {"4.bias", {2}}};
  const Tensors wanted = {{"0.weight", {8, 4}}, {"0.bias", {8}},      {"2.weight", {8, 8}},
                          {"2.bias", {8}},      {"4.weight", {2, 8}}, {"4.bias", {2}}};
  EXPECT_EQ(names_of_transposed(source, wanted), std::vector<std::string>());
  EXPECT_EQ(names_of_transposed(wanted, source), std::vector<std::string>());
}

TEST(FindTransposed, LeavesOtherTensorsAlone) {
  const Tensors source = {{"conv.weight", {4, 3, 1, 1}}, {"norm.weight", {4}}, {"scale", {}}};
  EXPECT_TRUE(names_of_transposed(source, {{"conv.weight", {3, 4, 1, 1}}}).empty());
}

TEST(Regroup, LeavesEqualSidesWhole) {
  const Tensors tensors = gpt2_block(false);
  const Regrouping result = regroup(tensors, tensors);
  for (const TornList& list : {result.source, result.wanted}) {
    EXPECT_EQ(list.tensors, tensors);
    EXPECT_EQ(list.part_counts, std::vector<std::size_t>(tensors.size(), 1));
    ASSERT_EQ(list.origins.size(), tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) EXPECT_EQ(list.origins[i].whole, i);
  }
}

const Tensors q_k_and_v = {{"attn.q.weight", {4, 4}},    {"attn.q.bias", {4}},
                           {"attn.k.weight", {4, 4}},    {"attn.k.bias", {4}},
                           {"attn.v.weight", {4, 4}},    {"attn.v.bias", {4}},
                           {"attn.proj.weight", {4, 4}}, {"attn.proj.bias", {4}}};
const Tensors qkv_in_one = {{"attn.qkv.weight", {12, 4}},
                            {"attn.qkv.bias", {12}},
                            {"attn.proj.weight", {4, 4}},
                            {"attn.proj.bias", {4}}};

TEST(Regroup, TearsWhatTheModuleHasAsSeveral) {
  const Regrouping result = regroup(qkv_in_one, q_k_and_v);
  EXPECT_EQ(torn_names(result.source),
            (std::vector<std::string>{"attn.q.weight", "attn.k.weight", "attn.v.weight",
                                      "attn.q.bias", "attn.k.bias", "attn.v.bias",
                                      "attn.proj.weight", "attn.proj.bias"}));
  EXPECT_EQ(result.source.tensors[1].shape, (std::vector<std::uint64_t>{4, 4}));
  EXPECT_EQ(result.source.tensors[4].shape, std::vector<std::uint64_t>{4});
  EXPECT_EQ(result.source.part_counts, (std::vector<std::size_t>{3, 3, 1, 1}));
  const detail::TornPart& v_bias = result.source.origins[5];
  EXPECT_EQ(v_bias.whole, 1u);
  EXPECT_EQ(v_bias.number, 2u);
  EXPECT_EQ(v_bias.segment, "qkv");
  EXPECT_EQ(v_bias.part_segment, "v");
  EXPECT_EQ(result.source.origins[7].whole, 3u);
  EXPECT_EQ(result.wanted.tensors, q_k_and_v);
}

TEST(Regroup, TearsWhatTheFileHasAsSeveral) {
  const Regrouping result = regroup(q_k_and_v, qkv_in_one);
  EXPECT_EQ(result.source.tensors, q_k_and_v);
  EXPECT_EQ(result.wanted.tensors.size(), q_k_and_v.size());
  EXPECT_EQ(result.wanted.part_counts, (std::vector<std::size_t>{3, 3, 1, 1}));
}

TEST(Regroup, TearsTensorsThatHaveTheirOwnNames) {
  const Tensors source = {{"attn.in_proj_weight", {12, 4}}, {"attn.in_proj_bias", {12}}};
  const Regrouping result = regroup(source, q_k_and_v);
  EXPECT_EQ(torn_names(result.source),
            (std::vector<std::string>{"attn.q.weight", "attn.k.weight", "attn.v.weight",
                                      "attn.q.bias", "attn.k.bias", "attn.v.bias"}));
  EXPECT_EQ(result.source.origins[0].segment, "in_proj_weight");
}

TEST(Regroup, GivesLoneBiasesToThePartsTheyBelongTo) {
  const Tensors source = {{"attn.qkv.weight", {12, 4}}, {"attn.q_bias", {4}}, {"attn.v_bias", {4}}};
  const Tensors wanted = {{"attn.q_proj.weight", {4, 4}},
                          {"attn.q_proj.bias", {4}},
                          {"attn.k_proj.weight", {4, 4}},
                          {"attn.v_proj.weight", {4, 4}},
                          {"attn.v_proj.bias", {4}}};
  EXPECT_EQ(torn_names(regroup(source, wanted).source),
            (std::vector<std::string>{"attn.q.weight", "attn.k.weight", "attn.v.weight",
                                      "attn.q.bias", "attn.v.bias"}));
  // The other side has such names, too.
  const Tensors alike = {{"attn.q.weight", {4, 4}},
                         {"attn.k.weight", {4, 4}},
                         {"attn.v.weight", {4, 4}},
                         {"attn.q_bias", {4}},
                         {"attn.v_bias", {4}}};
  EXPECT_EQ(torn_names(regroup(source, alike).source)[3], "attn.q_bias");
}

TEST(Regroup, LeavesAMaskBesideWhatItTears) {
  Tensors source = qkv_in_one;
  source.push_back({"attn.qkv.bias_mask", {12}});
  EXPECT_EQ(torn_names(regroup(source, q_k_and_v).source).back(), "attn.qkv.bias_mask");
}

TEST(Regroup, TearsKeysAndValuesOfFewerHeads) {
  const Tensors source = {{"attn.qkv_proj.weight", {12, 8}}, {"attn.o_proj.weight", {8, 8}}};
  const Tensors wanted = {{"attn.q_proj.weight", {8, 8}},
                          {"attn.k_proj.weight", {2, 8}},
                          {"attn.v_proj.weight", {2, 8}},
                          {"attn.o_proj.weight", {8, 8}}};
  const Regrouping result = regroup(source, wanted);
  ASSERT_EQ(result.source.tensors.size(), 4u);
  EXPECT_EQ(result.source.tensors[0].shape, (std::vector<std::uint64_t>{8, 8}));
  EXPECT_EQ(result.source.tensors[1].shape, (std::vector<std::uint64_t>{2, 8}));
  EXPECT_EQ(result.source.tensors[2].shape, (std::vector<std::uint64_t>{2, 8}));
}

TEST(Regroup, TearsGateAndUp) {
  const Tensors source = {{"mlp.gate_up_proj.weight", {12, 4}}};
  const Tensors wanted = {{"mlp.gate_proj.weight", {6, 4}}, {"mlp.up_proj.weight", {6, 4}}};
  EXPECT_EQ(torn_names(regroup(source, wanted).source),
            (std::vector<std::string>{"mlp.gate.weight", "mlp.up.weight"}));
}

TEST(Regroup, TearsTransposedMatricesAfterTheyAreTurned) {
  const Tensors source = {{"attn.c_attn.weight", {4, 12}}, {"attn.c_attn.bias", {12}}};
  const Tensors wanted = {{"attn.q.weight", {4, 4}}, {"attn.q.bias", {4}},
                          {"attn.k.weight", {4, 4}}, {"attn.k.bias", {4}},
                          {"attn.v.weight", {4, 4}}, {"attn.v.bias", {4}}};
  const Regrouping result = regroup(source, wanted);
  EXPECT_EQ(result.transposed, (std::vector<bool>{true, false}));
  ASSERT_EQ(result.source.tensors.size(), 6u);
  EXPECT_EQ(result.source.tensors[0].shape, (std::vector<std::uint64_t>{4, 4}));
}

TEST(Regroup, LeavesWhatItDoesNotKnow) {
  // The heads of query_key_value lie one after another, each with its query, key and value.
  const Tensors source = {{"attn.query_key_value.weight", {12, 4}}, {"attn.fused.weight", {12, 4}}};
  EXPECT_EQ(regroup(source, q_k_and_v).source.tensors, source);
  // Nor does it cut where the parts do not fit.
  const Tensors odd = {{"attn.qkv.weight", {13, 4}}, {"attn.qkv.bias", {0}}, {"qkv", {}}};
  EXPECT_EQ(regroup(odd, q_k_and_v).source.tensors, odd);
}

}  // namespace
}  // namespace andiron
