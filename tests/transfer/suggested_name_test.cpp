// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/transfer/suggested_name.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "andiron/transfer.h"
#include "tests/transfer/sample_net.h"

namespace andiron {
namespace {

using Names = std::vector<std::string_view>;

std::string_view suggested(std::string_view missing, const Names& unused) {
  return detail::suggested_name(missing, unused, unused);
}

TEST(SuggestedName, IsTheOneThatWasProbablyMeant) {
  EXPECT_EQ(suggested("encoder.layer1.weight", {"decoder.bias", "encoder.layers1.weight"}),
            "encoder.layers1.weight");
  EXPECT_EQ(suggested("conv1.weight", {"model.conv1.weight", "other"}), "model.conv1.weight");
  EXPECT_EQ(suggested("fc1.weight", {"linear1.weight", "zzz"}), "linear1.weight");
  EXPECT_EQ(suggested("weight", {"zzz.qqq"}), "");
  EXPECT_EQ(suggested("weight", {}), "");
}

TEST(SuggestedName, IsThePathWithoutItsVariantBeforeAllOthers) {
  EXPECT_EQ(suggested("block.BaseConv.weight", {"block.BaseConv.width", "block.weight"}),
            "block.weight");
  EXPECT_EQ(suggested("Block.A.weight", {"Block.weight"}), "Block.weight");
}

TEST(SuggestedName, OfALooseLikenessHasTheSameSize) {
  const Names unused = {"norm.bias", "norm.num_batches_tracked"};
  EXPECT_EQ(detail::suggested_name("norm.beta", unused, {"norm.bias"}), "norm.bias");
  EXPECT_EQ(detail::suggested_name("fc1.weight", {"linear1.weight"}, {}), "");
}

TEST(SuggestedName, IsInTheReportOfALoad) {
  struct Net {
    Param weight;
    ANDIRON_MODULE(Net, weight)
  };
  const Net net{Param(test::f32({2, 3}, 1))};
  Snapshots tensors;
  tensors.push_back(TensorSnapshot("weigth", test::f32({2, 3}, 1)));
  tensors.push_back(TensorSnapshot("weighs", test::f32({1}, 1)));
  const Plan planned = plan(net, tensors).value();
  ASSERT_EQ(planned.result.missing.size(), 1U);
  EXPECT_EQ(planned.result.missing[0].did_you_mean, "weigth");
}

}  // namespace
}  // namespace andiron
