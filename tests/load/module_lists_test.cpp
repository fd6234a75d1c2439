// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/load/module_lists.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "andiron/nn/activation.h"
#include "andiron/nn/linear.h"
#include "andiron/stores.h"
#include "tests/support/param_numbers.h"
#include "tests/support/state_dict.h"

namespace andiron::test {
namespace {

using Strings = std::vector<std::string>;

nn::Linear small() { return nn::LinearConfig(1, 1).with_bias(false).init(); }

// As PyTorch's Sequential, with the layers that have no parameters.
struct WithRelus {
  std::tuple<nn::Linear, nn::Relu, nn::Linear, nn::Linear> fc = {small(), {}, small(), small()};
  ANDIRON_MODULE(WithRelus, fc)
};

struct Nested {
  std::vector<WithRelus> blocks = std::vector<WithRelus>(2);
  std::vector<nn::Linear> heads = {small(), small()};
  ANDIRON_MODULE(Nested, blocks, heads)
};

// The i-th tensor has the value i.
PytorchStore store_of(const Strings& names) {
  StateDict dict;
  for (std::size_t i = 0; i < names.size(); ++i) {
    dict.add(names[i] + ".weight", {1, 1}, static_cast<float>(i));
  }
  return PytorchStore::from_bytes(dict.bytes());
}

float value_of(const nn::Linear& layer) { return numbers(layer.weight)[0]; }

TEST(ModuleLists, AreFoundWithTheNumbersOfTheirElements) {
  const std::vector<detail::Slot> slots = detail::slots_of(Nested(), false);
  const auto lists = detail::numbers_in_lists(slots);
  using Numbers = std::vector<std::uint64_t>;
  EXPECT_EQ(lists.size(), 4u);
  EXPECT_EQ(lists.at("blocks"), (Numbers{0, 1}));
  EXPECT_EQ(lists.at("blocks.1.fc"), (Numbers{0, 2, 3}));
  EXPECT_EQ(lists.at("heads"), (Numbers{0, 1}));
  const std::tuple<nn::Relu, nn::Linear> root;
  const std::vector<detail::Slot> slots_of_root = detail::slots_of(root, false);
  EXPECT_EQ(detail::numbers_in_lists(slots_of_root).at(""), Numbers{1});
}

// A name may come from a listing, and be nothing but numbers.
TEST(ModuleLists, ThatAreKeptHaveShortPathsInAll) {
  std::vector<detail::Slot> slots(1);
  for (int i = 0; i < 20'000; ++i) slots[0].path += "1.";
  slots[0].path += "weight";
  std::size_t bytes = 0;
  for (const std::string& list : detail::names_for(slots, {.close_gaps = true}).kept_lists) {
    bytes += list.size();
  }
  EXPECT_LE(bytes, 32 * slots[0].path.size());
}

TEST(ModuleLists, ThatHaveGapsKeepTheNumbersOfTheFile) {
  WithRelus model;
  load_from(model, store_of({"fc.0", "fc.2", "fc.3"})).value();
  EXPECT_EQ(value_of(std::get<2>(model.fc)), 1);
  EXPECT_EQ(value_of(std::get<3>(model.fc)), 2);
}

TEST(ModuleLists, ThatHaveGapsTakeNothingFromOtherPlacesIfTheFileLacksOne) {
  WithRelus model;
  std::get<2>(model.fc).weight = Param(Tensor::from_values<float>({1, 1}, {9}).value());
  const ApplyResult result =
      load_from(model, store_of({"fc.0", "fc.3"}).allow_partial(true)).value();
  EXPECT_EQ(result.applied, (Strings{"fc.0.weight", "fc.3.weight"}));
  EXPECT_EQ(value_of(std::get<2>(model.fc)), 9);
  EXPECT_EQ(value_of(std::get<3>(model.fc)), 1);
  // Also where the file has more: fc.4 would become fc.2.
  const ApplyResult more =
      load_from(model, store_of({"fc.0", "fc.3", "fc.4"}).allow_partial(true)).value();
  EXPECT_EQ(more.applied, (Strings{"fc.0.weight", "fc.3.weight"}));
  EXPECT_EQ(more.unused, Strings{"fc.4.weight"});
}

TEST(ModuleLists, KeepNumbersBelowNumbersThatAreClosed) {
  Nested model;
  const auto store = store_of({"blocks.1.fc.0", "blocks.1.fc.2", "blocks.1.fc.3", "blocks.4.fc.0",
                               "blocks.4.fc.2", "blocks.4.fc.3", "heads.1", "heads.3"});
  load_from(model, store).value();
  EXPECT_EQ(value_of(std::get<3>(model.blocks[1].fc)), 5);
  EXPECT_EQ(value_of(model.heads[1]), 7);
  // Without a module nothing is known of its lists.
  EXPECT_EQ(store.keys().value()[5], "blocks.1.fc.2.weight");
  EXPECT_EQ(plan(model, store).value().tensors[2].sources, Strings{"blocks.1.fc.3.weight"});
  EXPECT_EQ(key_map(model, store).value().tensors[5].uses.at(0).path, "blocks.1.fc.3.weight");
}

TEST(ModuleLists, ThatHaveGapsAreSavedBackAsTheyCame) {
  WithRelus model;
  const auto loaded = store_of({"fc.0", "fc.2", "fc.3"});
  load_from(model, loaded).value();
  auto out = SafetensorsStore::from_bytes().based_on(loaded);
  save_into(model, out).value();
  EXPECT_EQ(out.keys().value(), (Strings{"fc.0.weight", "fc.2.weight", "fc.3.weight"}));
}

TEST(ModuleLists, AProposalForTheRestKeepsThem) {
  Nested model;
  auto store =
      store_of({"net.blocks.1.fc.0", "net.blocks.1.fc.2", "net.blocks.1.fc.3", "net.blocks.4.fc.0",
                "net.blocks.4.fc.2", "net.blocks.4.fc.3", "net.heads.1", "net.heads.3"});
  const std::vector<Proposal> proposals = propose(model, store).value();
  ASSERT_FALSE(proposals.empty());
  load_from(model, store.apply(proposals.front())).value();
  EXPECT_EQ(value_of(std::get<3>(model.blocks[1].fc)), 5);
  EXPECT_EQ(value_of(model.heads[1]), 7);
}

TEST(ModuleLists, OfAListingKeepThemToo) {
  std::vector<ListedParameter> model;
  for (const char* number : {"0", "2", "3"}) {
    model.push_back({"fc." + std::string(number) + ".weight", DType::f32, {1, 1}, "Linear"});
  }
  const Archive file = store_of({"fc.0", "fc.2", "fc.3"}).file().value();
  const Plan planned = plan_listing(model, file, {.close_gaps = true}).value();
  EXPECT_TRUE(planned.result.missing.empty());
}

}  // namespace
}  // namespace andiron::test
