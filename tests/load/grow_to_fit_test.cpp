// SPDX-License-Identifier: MIT OR Apache-2.0
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "andiron/apply.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/stores.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using test::f32;
using Names = std::vector<std::string>;

Archive source_with(const Names& names) {
  Archive archive;
  float first = 0;
  for (const std::string& name : names) {
    archive.add(TensorSnapshot(name, f32({2}, first++))).value();
  }
  return archive;
}

// "PATH BEFORE->AFTER" for each part.
Names told(const std::vector<GrownPart>& parts) {
  Names all;
  for (const GrownPart& part : parts) {
    all.push_back(part.path + " " + std::to_string(part.before) + "->" +
                  std::to_string(part.after));
  }
  return all;
}

struct GrowingBlock {
  Param weight;
  std::optional<Param> bias;
  std::vector<Param> heads;
  ANDIRON_MODULE(GrowingBlock, weight, bias, heads)
};

struct GrowingNet {
  std::vector<GrowingBlock> blocks;
  std::deque<Param> tail;
  std::map<std::string, GrowingBlock> named;
  std::optional<GrowingBlock> extra;
  std::unique_ptr<GrowingNet> next;
  ANDIRON_MODULE(GrowingNet, blocks, tail, named, extra, next)
};

TEST(GrowToFit, ContainersGetWhatTheSourceHas) {
  const Archive source =
      source_with({"blocks.0.weight", "blocks.1.weight", "blocks.1.bias", "blocks.1.heads.0",
                   "tail.0", "named.left.weight", "named.right.weight", "extra.weight"});
  GrowingNet net;
  EXPECT_EQ(told(grow_to_fit(net, source).value()),
            (Names{"blocks 0->2", "tail 0->1", "named 0->2", "extra 0->1", "blocks.1.bias 0->1",
                   "blocks.1.heads 0->1"}));
  EXPECT_FALSE(net.blocks[0].bias);
  EXPECT_EQ(net.next, nullptr);
  const ApplyResult result = apply(net, source).value();
  EXPECT_EQ(result.applied.size(), source.size());
  EXPECT_TRUE(result.unused.empty());
  EXPECT_TRUE(grow_to_fit(net, source).value().empty());  // nothing is left to do
}

TEST(GrowToFit, ElementsThatAreThereStay) {
  GrowingNet net;
  net.blocks.resize(1);
  net.blocks[0].weight = Param(f32({2}, 42));
  net.named["left"].weight = Param(f32({2}, 43));
  const Archive source = source_with({"blocks.0.weight", "blocks.1.weight", "named.right.weight"});
  EXPECT_EQ(told(grow_to_fit(net, source).value()), (Names{"blocks 1->2", "named 1->2"}));
  EXPECT_EQ(net.blocks[0].weight.as<float>().value()[0], 42);
  EXPECT_EQ(net.named["left"].weight.as<float>().value()[0], 43);
}

TEST(GrowToFit, AListThatIsLongerThanTheSourceStaysSo) {
  GrowingNet net;
  net.blocks.resize(3);
  EXPECT_TRUE(grow_to_fit(net, source_with({"blocks.1.weight"})).value().empty());
  EXPECT_EQ(net.blocks.size(), 3u);
}

TEST(GrowToFit, GapsAreRefusedAndNothingHasChanged) {
  GrowingNet net;
  const Archive source = source_with({"blocks.0.weight", "blocks.1.weight", "extra.weight",
                                      "named.left.weight", "tail.0", "tail.18446744073709551615"});
  const Error error = grow_to_fit(net, source).error();
  EXPECT_EQ(error.code, ErrorCode::missing_tensor);
  EXPECT_EQ(error.tensor, "tail");
  EXPECT_EQ(error.found, "numbers up to 18446744073709551615, but not 1");
  EXPECT_TRUE(net.blocks.empty());
  EXPECT_TRUE(net.tail.empty());
  EXPECT_TRUE(net.named.empty());
  EXPECT_FALSE(net.extra);
}

TEST(GrowToFit, PointersToModulesOfTheSameKindAreFilledAsDeepAsTheNamesGo) {
  GrowingNet net;
  const Archive source = source_with({"next.next.tail.0"});
  EXPECT_EQ(told(grow_to_fit(net, source).value()),
            (Names{"next 0->1", "next.next 0->1", "next.next.tail 0->1"}));
  EXPECT_EQ(net.next->next->next, nullptr);
}

TEST(GrowToFit, AnAdapterNamesTheOptionalParts) {
  struct Net {
    std::vector<nn::LayerNorm> norms;
    ANDIRON_MODULE(Net, norms)
  } net;
  const Archive source = source_with({"norms.0.weight", "norms.0.bias", "norms.1.weight"});
  grow_to_fit(net, source, {.adapter = PyTorchToBurnAdapter()}).value();
  ASSERT_EQ(net.norms.size(), 2u);
  const ApplyResult result = apply(net, source, {.adapter = PyTorchToBurnAdapter()}).value();
  EXPECT_TRUE(result.unused.empty()) << result.unused[0];
}

TEST(GrowToFit, AModuleMayBeAList) {
  std::vector<Param> list;
  grow_to_fit(list, source_with({"0", "1", "head"})).value();
  EXPECT_EQ(list.size(), 2u);
}

TEST(GrowToFit, NamesOfAStoreAreThoseOfTheModule) {
  Archive source = source_with({"model.h.0.weight", "model.h.2.weight", "model.h.2.bias"});
  auto store = SafetensorsStore::from_bytes(write_to_memory(source).value())
                   .with_key_remapping("^model\\.h", "blocks");
  GrowingNet net;
  EXPECT_FALSE(grow_to_fit(net, store));
  store.map_indices_contiguous(true);
  EXPECT_EQ(told(grow_to_fit(net, store).value()), (Names{"blocks 0->2", "blocks.1.bias 0->1"}));
  EXPECT_EQ(load_from(net, store).value().applied.size(), 3u);
}

struct SharedList {
  std::vector<GrowingBlock> list;
  ANDIRON_MODULE(SharedList, list)
};

TEST(GrowToFit, AListThatTwoPointersLeadToGrowsOnce) {
  struct Net {
    std::shared_ptr<SharedList> first = std::make_shared<SharedList>();
    std::shared_ptr<SharedList> second = first;
    std::vector<Param> z;
    ANDIRON_MODULE(Net, first, second, z)
  } net;
  Names names = {"first.list.0.bias", "z.5"};
  for (int i = 0; i < 9; ++i) names.push_back("second.list." + std::to_string(i) + ".bias");
  EXPECT_EQ(grow_to_fit(net, source_with(names)).error().tensor, "z");
  EXPECT_TRUE(net.first->list.empty());
}

TEST(GrowToFit, NamesThatAreTooDeepAreRefused) {
  std::string deep;
  for (int i = 0; i < 30'000; ++i) deep += "next.";
  GrowingNet net;
  EXPECT_EQ(grow_to_fit(net, source_with({deep + "tail.0"})).error().code,
            ErrorCode::limit_exceeded);
  EXPECT_EQ(net.next, nullptr);
}

TEST(GrowToFit, WhatIsUndoneIsNotTold) {
  struct Net {
    std::optional<SharedList> part;
    ANDIRON_MODULE(Net, part)
  } net;
  EXPECT_TRUE(grow_to_fit(net, source_with({"part.list.0.other"})).value().empty());
  EXPECT_FALSE(net.part);
}

TEST(GrowToFit, TiesSurvive) {
  GrowingNet net;
  net.blocks.resize(1);
  net.blocks[0].bias.emplace();
  tie(net.blocks[0].weight, *net.blocks[0].bias);
  grow_to_fit(net, source_with({"blocks.0.weight", "blocks.1.weight"})).value();
  EXPECT_TRUE(net.blocks[0].weight.is_tied_with(*net.blocks[0].bias));
}

TEST(GrowToFit, AnOptionalModelIsToldFirst) {
  std::optional<SharedList> model;
  EXPECT_EQ(told(grow_to_fit(model, source_with({"list.0.weight"})).value()),
            (Names{" 0->1", "list 0->1"}));
}

}  // namespace
}  // namespace andiron
