// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/choose_variants.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "andiron/nn/conv.h"
#include "andiron/nn/norm.h"
#include "andiron/transfer.h"
#include "tests/transfer/sample_net.h"

namespace andiron {
namespace {

using test::f32;

struct Depthwise {
  Param depth;
  Param point;
  ANDIRON_MODULE(Depthwise, depth, point)
};
struct Plain {
  Param weight;
  std::optional<Param> bias;
  ANDIRON_MODULE(Plain, weight, bias)
};
struct Kernel : std::variant<Plain, Case<"Dws", Depthwise>> {
  using variant::variant;
};
struct Nested {
  std::variant<Plain, nn::LayerNorm> inner;
  ANDIRON_MODULE(Nested, inner)
};
struct Net {
  Kernel kernel;
  std::vector<std::variant<Plain, Nested>> layers;
  ANDIRON_MODULE(Net, kernel, layers)
};

Archive archive_with(const std::vector<std::string>& names) {
  Archive archive;
  for (const std::string& name : names) archive.add(TensorSnapshot(name, f32({2}, 1))).value();
  return archive;
}

TEST(ChooseVariants, PicksTheAlternativeThatTheFileNames) {
  Net net;
  const auto chosen =
      choose_variants(net, archive_with({"kernel.Dws.depth", "kernel.Dws.point"})).value();
  EXPECT_EQ(net.kernel.index(), 1U);
  ASSERT_EQ(chosen.size(), 1U);
  EXPECT_EQ(chosen[0].path, "kernel");
  EXPECT_EQ(chosen[0].name, "Dws");
}

TEST(ChooseVariants, PicksByParametersWhenNamesLackTheVariant) {
  Net net;
  choose_variants(net, archive_with({"kernel.depth", "kernel.point"}), {.skip_enum_variants = true})
      .value();
  EXPECT_EQ(net.kernel.index(), 1U);
}

TEST(ChooseVariants, KeepsWhatFitsAndWhatNothingFits) {
  Net net;
  std::get<Plain>(net.kernel).weight = Param(f32({2}, 5));
  EXPECT_TRUE(choose_variants(net, archive_with({"kernel.Plain.weight"})).value().empty());
  EXPECT_TRUE(choose_variants(net, archive_with({"unrelated"})).value().empty());
  EXPECT_TRUE(choose_variants(net, archive_with({"kernel.Dws.depth"})).value().empty());
  EXPECT_EQ(net.kernel.index(), 0U);
}

TEST(ChooseVariants, FillsOptionalPartsOfANewAlternative) {
  Net net;
  net.kernel = Case<"Dws", Depthwise>();
  const Archive file = archive_with({"kernel.Plain.weight", "kernel.Plain.bias"});
  EXPECT_EQ(choose_variants(net, file).value().size(), 1U);
  ASSERT_EQ(net.kernel.index(), 0U);
  EXPECT_TRUE(std::get<Plain>(net.kernel).bias.has_value());
}

TEST(ChooseVariants, GoesIntoListsAndNestedVariantsAndUsesTheAdapter) {
  Net net;
  net.layers.resize(2);
  const Archive file = archive_with(
      {"kernel.weight", "layers.0.weight", "layers.1.inner.weight", "layers.1.inner.bias"});
  // Without its adapter a norm's weight is found as Plain's.
  const ChooseOptions options{.adapter = PyTorchToBurnAdapter(), .skip_enum_variants = true};
  choose_variants(net, file, options).value();
  EXPECT_EQ(net.layers[0].index(), 0U);
  ASSERT_EQ(net.layers[1].index(), 1U);
}

TEST(ChooseVariants, MakesTheModuleLoadable) {
  Net net;
  const Archive file = archive_with({"kernel.Dws.depth", "kernel.Dws.point"});
  choose_variants(net, file).value();
  Snapshots tensors;
  for (std::size_t i = 0; i < file.size(); ++i) tensors.push_back(file.snapshot(i));
  EXPECT_EQ(apply(net, tensors).value().applied.size(), 2U);
}

}  // namespace
}  // namespace andiron
