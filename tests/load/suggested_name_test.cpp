// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/load/suggested_name.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "andiron/apply.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using detail::SizedName;
using detail::suggested_names;
using NameViews = std::vector<std::string_view>;

// All of one size.
std::vector<SizedName> of_size_one(const NameViews& names) {
  std::vector<SizedName> sized;
  for (const std::string_view name : names) sized.push_back({name, 1});
  return sized;
}

NameViews all_suggested(const NameViews& missing, const NameViews& unused) {
  return suggested_names(of_size_one(missing), of_size_one(unused));
}

std::string_view suggested(std::string_view missing, const NameViews& unused) {
  return all_suggested({missing}, unused)[0];
}

TEST(SuggestedName, IsTheOneThatWasProbablyMeant) {
  EXPECT_EQ(suggested("encoder.layer1.weight", {"decoder.bias", "encoder.layers1.weight"}),
            "encoder.layers1.weight");
  EXPECT_EQ(suggested("conv1.weight", {"model.conv1.weight", "other"}), "model.conv1.weight");
  EXPECT_EQ(suggested("fc1.weight", {"linear1.weight", "zzz"}), "linear1.weight");
  EXPECT_EQ(suggested("weight", {"zzz.qqq"}), "");
  EXPECT_EQ(suggested("weight", {}), "");
  EXPECT_EQ(all_suggested({}, {"a"}), NameViews{});
}

TEST(SuggestedName, IsThePathWithoutItsVariantBeforeAllOthers) {
  EXPECT_EQ(suggested("block.BaseConv.weight", {"block.BaseConv.width", "block.weight"}),
            "block.weight");
  EXPECT_EQ(suggested("Block.A.weight", {"Block.weight"}), "Block.weight");
}

TEST(SuggestedName, SharesMostSegmentsAtTheEnd) {
  EXPECT_EQ(suggested("backbone.b.weight", {"backbone.x.weight", "encoder.b.weight"}),
            "encoder.b.weight");
  EXPECT_EQ(suggested("layers.1.weight", {"blocks.1.weight", "layers.0.weight"}),
            "blocks.1.weight");
}

TEST(SuggestedName, HasTheSameNumbersBeforeTheSameLetters) {
  EXPECT_EQ(suggested("block1.conv.weight", {"block2.convs.weight", "blk.1.convs.weight"}),
            "blk.1.convs.weight");
}

TEST(SuggestedName, IsNotTheSameForTwo) {
  EXPECT_EQ(all_suggested({"backbone.a.weight", "backbone.b.weight", "backbone.c.weight"},
                          {"encoder.a.weight", "encoder.b.weight", "encoder.c.weight"}),
            (NameViews{"encoder.a.weight", "encoder.b.weight", "encoder.c.weight"}));
  // The second fits it better.
  EXPECT_EQ(all_suggested({"norm.a", "norm.b"}, {"x.norm.b"}), (NameViews{"", "x.norm.b"}));
}

TEST(SuggestedName, OfALooseLikenessHasTheSameSize) {
  const std::vector<SizedName> unused = {
      {"linear1.weight", 7}, {"norm.bias", 2}, {"norm.num_batches_tracked", 1}};
  EXPECT_EQ(suggested_names(std::vector<SizedName>{{"norm.beta", 2}, {"fc1.weight", 3}}, unused),
            (NameViews{"norm.bias", ""}));
  EXPECT_EQ(suggested_names(std::vector<SizedName>{{"fc1.weight", std::nullopt}}, unused),
            NameViews{"linear1.weight"});
}

TEST(SuggestedName, MayHaveAnotherSizeWhereItIsTheSameButForAPrefix) {
  EXPECT_EQ(suggested_names(
                std::vector<SizedName>{{"head.weight", 4}},
                std::vector<SizedName>{{"model.head.weight", 1000}, {"model.lead.weight", 4}}),
            NameViews{"model.head.weight"});
}

TEST(SuggestedName, IsNoneOfThoseThatAreMuchLonger) {
  // Compared letter by letter, these would take minutes.
  std::vector<std::string> long_names;
  for (int i = 0; i < 1000; ++i) {
    long_names.push_back(std::string(60'000, 'w') + std::to_string(i) + ".weight");
  }
  const NameViews missing(10, "weight");
  EXPECT_EQ(all_suggested(missing, NameViews(long_names.begin(), long_names.end())), NameViews(10));
}

TEST(SuggestedName, DoesWithoutLikenessWhenTheWorkIsSpent) {
  const std::vector<SizedName> missing = of_size_one({"fc1.weight", "backbone.b.weight"});
  const std::vector<SizedName> unused = of_size_one({"encoder.b.weight", "linear1.weight"});
  EXPECT_EQ(suggested_names(missing, unused), (NameViews{"linear1.weight", "encoder.b.weight"}));
  EXPECT_EQ(suggested_names(missing, unused, 0), (NameViews{"", "encoder.b.weight"}));
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

TEST(SuggestedName, KeepsThePlanOfAFileWithHugeNamesShort) {
  struct Net {
    std::vector<Param> layers;
    ANDIRON_MODULE(Net, layers)
  };
  const Net net{std::vector<Param>(10, Param(test::f32({2}, 1)))};
  Snapshots tensors;
  for (int i = 0; i < 400; ++i) {
    std::string name = "layers." + std::to_string(i + 10);
    while (name.size() < 50'000) name += i % 2 == 0 ? ".1a_b" : "abcde";
    tensors.push_back(TensorSnapshot(std::move(name), test::f32({2}, 1)));
  }
  const Plan planned = plan(net, tensors).value();
  ASSERT_EQ(planned.result.missing.size(), 10U);
  EXPECT_EQ(planned.result.missing[0].did_you_mean, "");
}

}  // namespace
}  // namespace andiron
