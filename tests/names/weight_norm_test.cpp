// SPDX-License-Identifier: MIT OR Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "andiron/names.h"
#include "tests/names/named_archive.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using test::f32;

Archive normed(const std::string& magnitude, const std::string& direction) {
  Archive archive;
  archive.add(TensorSnapshot("fc.bias", f32({2}, 1))).value();
  archive.add(TensorSnapshot(magnitude, f32({2, 1}, 1))).value();
  archive.add(TensorSnapshot(direction, f32({2, 3}, 1))).value();
  return archive;
}

TEST(FoldWeightNorm, TwoPartsBecomeTheWeight) {
  for (const Archive& archive :
       {normed("fc.weight_g", "fc.weight_v"),
        normed("fc.parametrizations.weight.original0", "fc.parametrizations.weight.original1")}) {
    const Archive folded = fold_weight_norm(archive).value();
    EXPECT_EQ(names_of(folded), (Names{"fc.bias", "fc.weight"}));
    EXPECT_EQ(folded.get("fc.weight").value().shape(), Shape({2, 3}));
    EXPECT_EQ(folded.notes(), std::vector<Message>{"weight norm was folded into 1 weight"});
    EXPECT_FALSE(folded.index_in_file(1));  // it is not in the file
  }
}

TEST(FoldWeightNorm, OtherWeightsAndTheTopLevelAreFoldedToo) {
  EXPECT_EQ(names_of(fold_weight_norm(normed("weight_hh_l0_g", "weight_hh_l0_v")).value()),
            (Names{"fc.bias", "weight_hh_l0"}));
  EXPECT_EQ(names_of(fold_weight_norm(normed("parametrizations.weight.original0",
                                             "parametrizations.weight.original1"))
                         .value()),
            (Names{"fc.bias", "weight"}));
}

TEST(FoldWeightNorm, WhatOnlyLooksLikePartsStays) {
  const Archive alone = normed("fc.weight_g", "fc.other");
  EXPECT_EQ(names_of(fold_weight_norm(alone).value()), names_of(alone));
  const Archive gates = normed("fc.gate_g", "fc.gate_v");
  EXPECT_EQ(names_of(fold_weight_norm(gates).value()), names_of(gates));
  const Archive deep = normed("parametrizations.a.b.original0", "parametrizations.a.b.original1");
  EXPECT_EQ(names_of(fold_weight_norm(deep).value()), names_of(deep));
  EXPECT_TRUE(fold_weight_norm(deep).value().notes().empty());
}

TEST(FoldWeightNorm, PartsThatDoNotFitStayWithANote) {
  Archive shapes;
  shapes.add(TensorSnapshot("fc.weight_g", f32({3, 1}, 1))).value();
  shapes.add(TensorSnapshot("fc.weight_v", f32({2, 3}, 1))).value();
  const std::vector<Message> note = {
      "not folded, because the weight is there too or shapes do not fit: 'fc.weight_g'"};
  EXPECT_EQ(fold_weight_norm(shapes).value().notes(), note);
  Archive taken = normed("fc.weight_g", "fc.weight_v");
  taken.add(TensorSnapshot("fc.weight", f32({2, 3}, 1))).value();
  EXPECT_EQ(fold_weight_norm(taken).value().notes(), note);
  EXPECT_EQ(fold_weight_norm(taken).value().size(), 4u);
}

TEST(FoldWeightNorm, ComesAfterTheTopLevelKeyAndBeforeTheRules) {
  Archive archive = normed("net.fc.weight_g", "net.fc.weight_v");
  NameOptions options{.top_level_key = "net", .fold_weight_norm = true};
  options.remapper.add_pattern("weight$", "kernel");
  EXPECT_EQ(names_of(apply_names(archive, options).value()), Names{"fc.kernel"});
}

TEST(FoldWeightNorm, TiedPartsFoldUnderEachName) {
  Archive archive = normed("a.weight_g", "a.weight_v");
  archive.set_aliases({{"b.weight_g", "a.weight_g"}, {"b.weight_v", "a.weight_v"}});
  EXPECT_EQ(names_of(fold_weight_norm(archive).value()),
            (Names{"fc.bias", "a.weight", "b.weight"}));
}

TEST(FoldWeightNorm, AWeightInBothSpellingsIsFoldedOnce) {
  Archive archive = normed("fc.weight_g", "fc.weight_v");
  archive.add(TensorSnapshot("fc.parametrizations.weight.original0", f32({2, 1}, 1))).value();
  archive.add(TensorSnapshot("fc.parametrizations.weight.original1", f32({2, 3}, 1))).value();
  const Archive folded = fold_weight_norm(archive).value();
  EXPECT_TRUE(folded.find("fc.weight"));
  EXPECT_EQ(folded.notes().size(), 2u);
}

}  // namespace
}  // namespace andiron
