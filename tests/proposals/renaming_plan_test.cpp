// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/renaming_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "andiron/names.h"

namespace andiron {
namespace {

using detail::align;
using detail::NameAtEdits;
using detail::NeededEdit;
using detail::plan_renaming;
using detail::ProposedEdit;
using detail::regroup;
using detail::Regrouping;
using detail::Renaming;
using detail::RenamingPlan;
using detail::TreeTensor;
using detail::WorkBudget;
using detail::write_edits;
using TensorList = std::vector<TreeTensor>;

RenamingPlan plan_for(const TensorList& source, const TensorList& wanted) {
  WorkBudget budget(1'000'000);
  const Regrouping regrouping = regroup(source, wanted);
  const auto alignment = align(regrouping.source.tensors, regrouping.wanted.tensors, false, budget);
  return plan_renaming(source, wanted, regrouping, alignment);
}

// As they are where no gaps are closed.
std::vector<ProposedEdit> written_edits(const RenamingPlan& plan) {
  std::vector<NameAtEdits> names;
  for (const Renaming& one : plan.renamings) names.push_back({one.from, one.to, true});
  for (const std::string& other : plan.others) names.push_back({other, other, false});
  return write_edits(plan.edits, names);
}

std::vector<TensorEdit> edits_of(const RenamingPlan& plan) {
  std::vector<TensorEdit> edits;
  for (const ProposedEdit& one : written_edits(plan)) edits.push_back(one.edit);
  return edits;
}

std::map<std::string, std::string> new_names(const RenamingPlan& plan) {
  std::map<std::string, std::string> names;
  for (const Renaming& one : plan.renamings) names.emplace(one.from, one.to);
  return names;
}

// Expects that a file, renamed and edited as planned, has all that is wanted.
void expect_feeds_all(const TensorList& source, const TensorList& wanted) {
  const RenamingPlan plan = plan_for(source, wanted);
  EXPECT_EQ(plan.matched, wanted.size());
  std::map<std::string, std::string> names = new_names(plan);
  for (const std::string& other : plan.others) names.emplace(other, "others." + other);
  Archive renamed;
  for (const TreeTensor& tensor : source) {
    const Tensor zeros = Tensor::zeros(DType::f32, Shape(tensor.shape)).value();
    ASSERT_TRUE(names.contains(tensor.name)) << tensor.name;
    renamed.add(TensorSnapshot(names.at(tensor.name), zeros)).value();
  }
  const Archive edited = edit_tensors(renamed, edits_of(plan)).value();
  EXPECT_TRUE(edited.notes().empty());
  for (const TreeTensor& tensor : wanted) {
    ASSERT_TRUE(edited.find(tensor.name)) << tensor.name;
    EXPECT_EQ(edited.get(tensor.name).value().shape(), Shape(tensor.shape)) << tensor.name;
  }
}

void add_linear(TensorList& tensors, const std::string& name, std::uint64_t out, std::uint64_t in) {
  tensors.push_back({name + ".weight", {out, in}});
  tensors.push_back({name + ".bias", {out}});
}

// Blocks of attention with an output projection.
TensorList attention_blocks(const std::string& before, const std::string& after,
                            const std::vector<std::pair<std::string, std::uint64_t>>& layers) {
  TensorList tensors;
  for (const char* number : {"0", "1"}) {
    for (const auto& [name, out] : layers) {
      add_linear(tensors, before + number + after + name, out, 4);
    }
  }
  return tensors;
}

const TensorList blocks_with_qkv =
    attention_blocks("blocks.", ".attn.", {{"qkv", 12}, {"proj", 4}});
const TensorList blocks_with_parts =
    attention_blocks("layers.", ".attention.", {{"wq", 4}, {"wk", 4}, {"wv", 4}, {"wo", 4}});

TEST(RenamingPlan, ASquareProjectionThatMayBeTransposedIsAGuess) {
  const auto find = [](const TensorList& source, const TensorList& wanted) {
    for (const Renaming& one : plan_for(source, wanted).renamings) {
      if (one.from == source.front().name) return one;
    }
    return Renaming();
  };
  const TensorList rest = {{"text.norm.weight", {4}, 0}, {"text.embed.weight", {9, 4}, 0}};
  const auto with = [&](const std::string& name, std::vector<std::uint64_t> shape) {
    TensorList list = {{name, std::move(shape), 0}};
    list.insert(list.end(), rest.begin(), rest.end());
    return list;
  };
  const Renaming open =
      find(with("text_projection", {4, 4}), with("text_projection.weight", {4, 4}));
  EXPECT_EQ(open.to, "text_projection.weight");
  EXPECT_TRUE(open.is_guess);
  EXPECT_EQ(open.evidence, detail::Evidence::square);
  EXPECT_FALSE(
      find(with("text_projection.weight", {4, 4}), with("projection.weight", {4, 4})).is_guess);
  EXPECT_FALSE(
      find(with("position_embedding", {4, 4}), with("position_embedding.weight", {4, 4})).is_guess);
}

TEST(RenamingPlan, RenamesWhatIsAligned) {
  const TensorList source = {{"fc.weight", {4, 3}}, {"fc.bias", {4}}, {"loss.scale", {9}}};
  const TensorList wanted = {{"linear.weight", {4, 3}}, {"linear.bias", {4}}};
  const RenamingPlan plan = plan_for(source, wanted);
  EXPECT_EQ(new_names(plan), (std::map<std::string, std::string>{{"fc.weight", "linear.weight"},
                                                                 {"fc.bias", "linear.bias"}}));
  EXPECT_EQ(plan.others, std::vector<std::string>{"loss.scale"});
  EXPECT_TRUE(plan.edits.empty());
  EXPECT_EQ(plan.matched, 2u);
}

TEST(RenamingPlan, OfNothingIsEmpty) {
  const RenamingPlan plan = plan_for({}, {});
  EXPECT_TRUE(plan.renamings.empty());
  EXPECT_TRUE(plan.others.empty());
  EXPECT_TRUE(plan.edits.empty());
  EXPECT_EQ(plan.matched, 0u);
}

TEST(RenamingPlan, SplitsAllBlocksWithOneEdit) {
  const RenamingPlan plan = plan_for(blocks_with_qkv, blocks_with_parts);
  EXPECT_EQ(edits_of(plan), std::vector<TensorEdit>{TensorEdit::split(
                                R"(\.qkv\.(weight|bias)$)", {".wq.$1", ".wk.$1", ".wv.$1"})});
  EXPECT_EQ(new_names(plan).at("blocks.1.attn.qkv.weight"), "layers.1.attention.qkv.weight");
  EXPECT_EQ(new_names(plan).at("blocks.1.attn.proj.bias"), "layers.1.attention.wo.bias");
  EXPECT_FALSE(plan.edits[0].is_guess);
  EXPECT_EQ(written_edits(plan)[0].why, "the file has them in one tensor");
  expect_feeds_all(blocks_with_qkv, blocks_with_parts);
}

TEST(RenamingPlan, JoinsAllBlocksWithOneEdit) {
  const RenamingPlan plan = plan_for(blocks_with_parts, blocks_with_qkv);
  EXPECT_EQ(edits_of(plan), std::vector<TensorEdit>{TensorEdit::join(
                                R"(\.wq\.(weight|bias)$)", {".wk.$1", ".wv.$1"}, ".qkv.$1")});
  EXPECT_EQ(new_names(plan).at("layers.0.attention.wk.bias"), "blocks.0.attn.wk.bias");
  EXPECT_EQ(written_edits(plan)[0].why, "the module has them in one tensor");
  expect_feeds_all(blocks_with_parts, blocks_with_qkv);
}

// As PyTorch's MultiheadAttention has it.
TensorList multihead_attention(const std::string& name) {
  TensorList tensors = {{name + ".in_proj_weight", {12, 4}}, {name + ".in_proj_bias", {12}}};
  add_linear(tensors, name + ".out_proj", 4, 4);
  return tensors;
}

TEST(RenamingPlan, SplitsTensorsWithoutAModuleOfTheirOwn) {
  const TensorList source = multihead_attention("h.attn");
  TensorList wanted;
  for (const char* name : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
    add_linear(wanted, std::string("h.self_attn.") + name, 4, 4);
  }
  EXPECT_EQ(edits_of(plan_for(source, wanted)),
            std::vector<TensorEdit>{TensorEdit::split(R"(\.in_proj_(weight|bias)$)",
                                                      {".q_proj.$1", ".k_proj.$1", ".v_proj.$1"})});
  expect_feeds_all(source, wanted);
}

TEST(RenamingPlan, JoinsToTensorsWithoutAModuleOfTheirOwn) {
  TensorList source;
  for (const char* name : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
    add_linear(source, std::string("h.self_attn.") + name, 4, 4);
  }
  const TensorList wanted = multihead_attention("h.attn");
  EXPECT_EQ(edits_of(plan_for(source, wanted)),
            std::vector<TensorEdit>{TensorEdit::join(R"(\.q_proj\.(weight|bias)$)",
                                                     {".k_proj.$1", ".v_proj.$1"}, ".in_proj_$1")});
  expect_feeds_all(source, wanted);
}

TEST(RenamingPlan, SplitsAtTheTopLevel) {
  TensorList source;
  add_linear(source, "qkv", 12, 4);
  add_linear(source, "proj", 5, 4);
  TensorList wanted;
  for (const char* name : {"q", "k", "v"}) add_linear(wanted, name, 4, 4);
  add_linear(wanted, "proj", 5, 4);
  EXPECT_EQ(edits_of(plan_for(source, wanted)),
            std::vector<TensorEdit>{
                TensorEdit::split(R"(^qkv\.(weight|bias)$)", {"q.$1", "k.$1", "v.$1"})});
  expect_feeds_all(source, wanted);
}

TEST(RenamingPlan, SplitsInSharesWhereThereAreFewerHeads) {
  const TensorList source = {{"attn.qkv_proj.weight", {12, 8}}, {"attn.o_proj.weight", {8, 8}}};
  const TensorList wanted = {{"attn.q_proj.weight", {8, 8}},
                             {"attn.k_proj.weight", {2, 8}},
                             {"attn.v_proj.weight", {2, 8}},
                             {"attn.o_proj.weight", {8, 8}}};
  const std::vector<TensorEdit> edits = edits_of(plan_for(source, wanted));
  ASSERT_EQ(edits.size(), 1u);
  EXPECT_EQ(edits[0].shares, (std::vector<std::uint64_t>{4, 1, 1}));
  expect_feeds_all(source, wanted);
}

TEST(RenamingPlan, SplitsTensorsOfDifferentKinds) {
  TensorList source;
  TensorList wanted;
  for (const char* number : {"0", "1"}) {
    const std::string block = std::string("h.") + number;
    add_linear(source, block + ".attn.qkv_proj", 12, 4);
    add_linear(source, block + ".mlp.gate_up_proj", 20, 4);
    for (const char* name : {"q_proj", "k_proj", "v_proj"}) {
      add_linear(wanted, block + ".attn." + name, 4, 4);
    }
    for (const char* name : {"gate_proj", "up_proj"}) {
      add_linear(wanted, block + ".mlp." + name, 10, 4);
    }
  }
  EXPECT_EQ(plan_for(source, wanted).edits.size(), 2u);
  expect_feeds_all(source, wanted);
}

TEST(RenamingPlan, TellsTwoTensorsApartUntilTheyAreCut) {
  // Both come into one module.
  TensorList source;
  add_linear(source, "self.qkv", 12, 4);
  add_linear(source, "cross.qkv", 12, 4);
  TensorList wanted;
  for (const char* name : {"self_q", "self_k", "self_v", "cross_q", "cross_k", "cross_v"}) {
    add_linear(wanted, std::string("block.") + name, 4, 4);
  }
  const std::map<std::string, std::string> names = new_names(plan_for(source, wanted));
  EXPECT_NE(names.at("self.qkv.weight"), names.at("cross.qkv.weight"));
  expect_feeds_all(source, wanted);
}

TEST(RenamingPlan, SplitsKeysAndValuesBesideQueries) {
  const TensorList source = {{"attn.to_q.weight", {4, 4}}, {"attn.to_kv.weight", {8, 4}}};
  const TensorList wanted = {
      {"attn.q.weight", {4, 4}}, {"attn.k.weight", {4, 4}}, {"attn.v.weight", {4, 4}}};
  EXPECT_EQ(
      edits_of(plan_for(source, wanted)),
      std::vector<TensorEdit>{TensorEdit::split(R"(\.to_kv\.(weight|bias)$)", {".k.$1", ".v.$1"})});
  expect_feeds_all(source, wanted);
}

TEST(RenamingPlan, TransposesBeforeItSplits) {
  TensorList source;
  TensorList wanted;
  for (const char* number : {"0", "1"}) {
    const std::string block = std::string("h.") + number;
    source.push_back({block + ".attn.c_attn.weight", {4, 12}});
    source.push_back({block + ".attn.c_attn.bias", {12}});
    source.push_back({block + ".mlp.c_fc.weight", {4, 16}});
    source.push_back({block + ".mlp.c_fc.bias", {16}});
    for (const char* name : {"q", "k", "v"}) add_linear(wanted, block + ".attn." + name, 4, 4);
    add_linear(wanted, block + ".mlp.fc1", 16, 4);
  }
  const RenamingPlan plan = plan_for(source, wanted);
  ASSERT_EQ(plan.edits.size(), 2u);
  EXPECT_EQ(plan.edits[0].kind, TensorEdit::Kind::transpose);
  EXPECT_EQ(plan.edits[1].kind, TensorEdit::Kind::split);
  expect_feeds_all(source, wanted);
}

TEST(RenamingPlan, TransposesNoMoreThanItShould) {
  // One of two matrices that end alike, told apart by its bias.
  const TensorList source = {
      {"a.fc.weight", {4, 16}}, {"a.fc.bias", {16}}, {"b.fc.weight", {5, 6}}};
  const TensorList wanted = {
      {"x.fc.weight", {16, 4}}, {"x.fc.bias", {16}}, {"y.fc.weight", {5, 6}}};
  EXPECT_EQ(edits_of(plan_for(source, wanted)),
            std::vector<TensorEdit>{TensorEdit::transpose(R"(^x\.fc\.weight$)")});
  expect_feeds_all(source, wanted);
}

TEST(RenamingPlan, SplitsAtTheTopLevelAndBelow) {
  TensorList source;
  TensorList wanted;
  for (const std::string parent : {"", "block."}) {
    add_linear(source, parent + "qkv", 12, 4);
    for (const char* name : {"q", "k", "v"}) add_linear(wanted, parent + name, 4, 4);
  }
  expect_feeds_all(source, wanted);
}

std::vector<NameAtEdits> taken(const std::vector<std::string>& names) {
  std::vector<NameAtEdits> all;
  for (const std::string& name : names) all.push_back({name, name, true});
  return all;
}

TEST(WriteEdits, UsesTheNamesThatTensorsHaveBeforeGapsAreClosed) {
  const NeededEdit turned = {.kind = TensorEdit::Kind::transpose,
                             .tensors = {"layers.0.kernel", "layers.2.kernel"}};
  std::vector<NameAtEdits> names = taken({"layers.0.kernel", "layers.2.kernel", "head.kernel"});
  for (NameAtEdits& name : names) name.now.replace(name.now.rfind('.'), 7, ".weight");
  EXPECT_EQ(write_edits(std::vector{turned}, names)[0].edit.pattern,
            R"((\.0\.weight|\.2\.weight)$)");
}

const NeededEdit sure_split = {.kind = TensorEdit::Kind::split,
                               .tensors = {"blocks.0.qkv.weight", "blocks.0.qkv.bias"},
                               .segment = "qkv",
                               .parts = {"q", "k", "v"}};

TEST(WriteEdits, OneSettingIsNotBothAGuessAndSure) {
  NeededEdit guess = sure_split;
  guess.tensors = {"blocks.1.qkv.weight"};
  guess.is_guess = true;
  const std::vector<NameAtEdits> names =
      taken({"blocks.0.qkv.weight", "blocks.0.qkv.bias", "blocks.1.qkv.weight"});
  const std::vector<ProposedEdit> edits = write_edits(std::vector{sure_split, guess}, names);
  ASSERT_EQ(edits.size(), 1u);
  EXPECT_FALSE(edits[0].is_guess);
  EXPECT_TRUE(write_edits(std::vector{guess, guess}, names)[0].is_guess);
}

TEST(WriteEdits, NamesTensorsWhereOthersOfTheirKindStayAsTheyAre) {
  const std::vector<NameAtEdits> names =
      taken({"blocks.0.qkv.weight", "blocks.0.qkv.bias", "blocks.1.qkv.weight"});
  const std::vector<ProposedEdit> edits = write_edits(std::vector{sure_split}, names);
  ASSERT_EQ(edits.size(), 2u);
  EXPECT_EQ(edits[0].edit, TensorEdit::split(R"(^(blocks\.0\.)qkv\.bias$)",
                                             {"${1}q.bias", "${1}k.bias", "${1}v.bias"}));
  EXPECT_EQ(edits[1].edit.pattern, R"(^(blocks\.0\.)qkv\.weight$)");
}

TEST(RenamingPlan, TakesNothingFromATensorThatLacksAPartner) {
  // The module has no place for values.
  const TensorList source = {{"attn.qkv.weight", {12, 4}}};
  const TensorList wanted = {{"attn.q.weight", {4, 4}}, {"attn.k.weight", {4, 4}}};
  const RenamingPlan plan = plan_for(source, wanted);
  EXPECT_TRUE(plan.renamings.empty());
  EXPECT_TRUE(plan.edits.empty());
  EXPECT_EQ(plan.matched, 0u);
  EXPECT_EQ(plan.others, std::vector<std::string>{"attn.qkv.weight"});
}

}  // namespace
}  // namespace andiron
