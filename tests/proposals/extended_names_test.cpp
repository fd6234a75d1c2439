// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/extended_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/proposals/listing_report.h"

namespace andiron {
namespace {

using detail::Evidence;
using detail::Renaming;
using test::add_layer;
using test::Side;

// What is settled, as "from -> to".
std::vector<std::string> settled_of(const Side& source, const Side& wanted) {
  std::vector<bool> is_settled(source.size());
  std::vector<Renaming> settled;
  Side rest = wanted;
  detail::settle_extended(source, wanted, is_settled, rest, settled);
  EXPECT_EQ(rest.size() + settled.size(), wanted.size());
  std::vector<std::string> pairs;
  for (const Renaming& one : settled) {
    EXPECT_FALSE(one.is_guess);
    pairs.push_back(one.from + " -> " + one.to);
  }
  return pairs;
}

using Pairs = std::vector<std::string>;

TEST(ExtendedNames, OfAParameterThatBecameAModuleAreSettled) {
  const Side parameters = {{"pos_embed", {1, 9, 4}}, {"norm", {4}}, {"other", {4}}};
  const Side modules = {{"pos_embed.weight", {1, 9, 4}}, {"norm.scale", {4}}};
  EXPECT_EQ(settled_of(parameters, modules),
            (Pairs{"pos_embed -> pos_embed.weight", "norm -> norm.scale"}));
  EXPECT_EQ(settled_of(modules, {{"pos_embed", {1, 9, 4}}, {"norm", {4}}}),
            (Pairs{"pos_embed.weight -> pos_embed", "norm.scale -> norm"}));
  EXPECT_EQ(settled_of(parameters, {{"pos_embed.weight", {1, 9, 5}}}), Pairs{}) << "another shape";
}

Side numbered(const std::vector<std::string>& names) {
  Side side;
  for (const std::string& name : names) side.push_back({"features." + name + ".weight", {4, 4}});
  return side;
}

TEST(ExtendedNames, OfNestedListsAreSettled) {
  EXPECT_EQ(settled_of(numbered({"0.0", "2.0"}), numbered({"0", "2"})),
            (Pairs{"features.0.0.weight -> features.0.weight",
                   "features.2.0.weight -> features.2.weight"}));
  EXPECT_EQ(settled_of(numbered({"0", "2"}), numbered({"0.0", "2.0"})),
            (Pairs{"features.0.weight -> features.0.0.weight",
                   "features.2.weight -> features.2.0.weight"}));
}

TEST(ExtendedNames, OfListsThatCountInAnotherWayAreNot) {
  // features.1.0 is the third.
  EXPECT_EQ(settled_of(numbered({"0.0", "0.1", "1.0", "1.1"}), numbered({"0", "1", "2", "3"})),
            Pairs{});
  EXPECT_EQ(settled_of(numbered({"0.0", "1.0", "2.0"}), numbered({"0", "2", "4"})), Pairs{});
}

TEST(ExtendedNames, OfWhatIsKeptBesideWeightsAreLeftOut) {
  const auto wanted = [](const std::string& path) {
    return detail::WantedTensor{{path, Container({"Struct:Module"})}, {}};
  };
  const std::vector<detail::WantedTensor> model = {wanted("layers.0.fc.weight"),
                                                   wanted("layers.0.fc.bias")};
  std::vector<std::string_view> names = {"a.fc.weight", "a.fc.weight.absmax",
                                         "a.fc.weight.quant_state.nf4", "a.fc.bias"};
  detail::leave_out_extensions(names, model);
  EXPECT_EQ(names, (std::vector<std::string_view>{"a.fc.weight", "a.fc.bias"}));
  names = {"a", "a.fc.weight", "a.fc.bias"};
  detail::leave_out_extensions(names, model);
  EXPECT_EQ(names.size(), 3u) << "a module, and a tensor of its name";
}

TEST(ExtendedNames, DoNotHideTheWeights) {
  Side model;
  add_layer(model, "head", 2, 4);
  Side file = model;
  for (const char* number : {"0", "1", "2"}) {
    add_layer(model, "blocks." + std::string(number) + ".fc", 4, 4);
    add_layer(file, "layers." + std::string(number) + ".fc", 4, 4);
  }
  for (std::size_t i = 0, count = file.size(); i < count; ++i) {
    file.push_back({file[i].name + ".exp_avg", file[i].shape});
  }
  EXPECT_EQ(test::code_for_model(file, model),
            R"--(.with_key_remapping(R"(^layers\.)", "blocks."))--");
}

}  // namespace
}  // namespace andiron
