// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/model_root.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/proposals/sides.h"

namespace andiron::test {
namespace {

using detail::find_root;
using detail::is_averaged;
using detail::TreeTensor;

TEST(FindRoot, IsNothingForTheModelItself) {
  EXPECT_EQ(find_root(small_model, small_model).prefix, "");
  EXPECT_EQ(find_root({}, small_model).prefix, "");
  EXPECT_EQ(find_root(small_model, {}).prefix, "");
}

TEST(FindRoot, GoesThroughWrappers) {
  EXPECT_EQ(find_root(below_prefix("module.", small_model), small_model).prefix, "module.");
  Side file = below_prefix("state_dict.model.", small_model);
  file.push_back({"state_dict.loss.weight", {9}});
  file.push_back({"optimizer.step", {1}});
  EXPECT_EQ(find_root(file, small_model).prefix, "state_dict.model.");
}

TEST(FindRoot, KeepsTheSeparatorsOfTheFile) {
  Side file = below_prefix("model/net/", small_model);
  EXPECT_EQ(find_root(file, small_model).prefix, "model/net/");
}

TEST(FindRoot, LeavesWhatBothSidesBeginWith) {
  const Side wanted = below_prefix("net.", small_model);
  EXPECT_EQ(find_root(wanted, wanted).prefix, "");
  EXPECT_EQ(find_root(below_prefix("module.net.", small_model), wanted).prefix, "module.");
}

TEST(FindRoot, IsNoListOfBlocksOneOfWhichHoldsCopies) {
  Side wanted;
  add_layer(wanted, "tokens", 9, 4);
  add_layer(wanted, "blocks.0", 4, 4);
  add_layer(wanted, "blocks.1", 4, 4);
  Side file;
  add_layer(file, "model.embed", 9, 4);
  for (const char* block : {"0", "1", "2"}) {
    add_layer(file, std::string("model.layers.") + block, 4, 4);
  }
  add_layer(file, "model.layers.2.embed", 9, 4);
  EXPECT_EQ(find_root(file, wanted).prefix, "model.");
}

TEST(FindRoot, StopsWhereTheModelIsSpreadOverTrees) {
  Side spread = below_prefix("backbone.", small_model);
  spread.resize(4);
  add_layer(spread, "classifier.head", 2, 5);
  EXPECT_EQ(find_root(spread, small_model).prefix, "");
}

TEST(FindRoot, TellsOfAnotherModelThatHoldsAsMuch) {
  Side file = below_prefix("encoder_k.", small_model);
  EXPECT_EQ(find_root(file, small_model).rival, "");
  for (const TreeTensor& tensor : below_prefix("encoder_q.", small_model)) file.push_back(tensor);
  const detail::ModelRoot root = find_root(file, small_model);
  EXPECT_EQ(root.rival, "encoder_k.");
  EXPECT_EQ(root.prefix, "encoder_q.");  // the one that is trained

  // What both sides begin with stays, and with it the other one.
  Side both = below_prefix("module.net.", small_model);
  for (const TreeTensor& tensor : below_prefix("module.momentum_net.", small_model)) {
    both.push_back(tensor);
  }
  const detail::ModelRoot above = find_root(both, below_prefix("net.", small_model));
  EXPECT_EQ(above.prefix, "module.");
  EXPECT_EQ(above.rival, "");
}

TEST(FindRoot, TakesTheModelOnceItsAverageIsLeftOut) {
  Side file = below_prefix("ema_model.", small_model);
  for (const TreeTensor& tensor : below_prefix("model.", small_model)) file.push_back(tensor);
  EXPECT_EQ(find_root(file, small_model).prefix, "ema_model.");
  std::erase_if(file, [](const TreeTensor& tensor) { return is_averaged(tensor.name); });
  EXPECT_EQ(file.size(), small_model.size());
  EXPECT_EQ(find_root(file, small_model).prefix, "model.");
}

TEST(IsAveraged, GoesByWordsOfSegments) {
  for (const char* name : {"ema.a.weight", "model_ema.a", "emaModel.a", "swa_model.x", "a.shadow",
                           "averaged_model.w"}) {
    EXPECT_TRUE(is_averaged(name)) << name;
  }
  for (const char* name :
       {"", "model.a.weight", "schema.weight", "emanate.weight", "swap.weight"}) {
    EXPECT_FALSE(is_averaged(name)) << name;
  }
}

}  // namespace
}  // namespace andiron::test
