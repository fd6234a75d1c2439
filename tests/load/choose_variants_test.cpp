// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/apply.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "andiron/apply.h"
#include "andiron/nn/conv.h"
#include "andiron/nn/norm.h"
#include "tests/support/sample_net.h"

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

// Paths and names, in order.
std::vector<std::string> texts(const std::vector<ChosenVariant>& chosen) {
  std::vector<std::string> texts;
  for (const ChosenVariant& choice : chosen) texts.push_back(choice.path + "=" + choice.name);
  return texts;
}

using Texts = std::vector<std::string>;

struct Decoy {
  std::variant<Plain, Depthwise> inner;
  Param more;
  ANDIRON_MODULE(Decoy, inner, more)
};
struct Outer {
  std::variant<Depthwise, Nested, Decoy> outer;
  ANDIRON_MODULE(Outer, outer)
};

TEST(ChooseVariants, TellsEachChoiceOnceTheOuterFirst) {
  Outer module;
  const Archive file =
      archive_with({"outer.Nested.inner.LayerNorm.gamma", "outer.Nested.inner.LayerNorm.beta"});
  EXPECT_EQ(texts(choose_variants(module, file).value()),
            (Texts{"outer=Nested", "outer.Nested.inner=LayerNorm"}));
  ASSERT_EQ(module.outer.index(), 1U);
  EXPECT_EQ(std::get<Nested>(module.outer).inner.index(), 1U);
}

TEST(ChooseVariants, TellsNoChoicesInsideRejectedAlternatives) {
  Outer module;
  // Decoy fits below, but lacks a parameter.
  const Archive file =
      archive_with({"outer.Decoy.inner.Depthwise.depth", "outer.Decoy.inner.Depthwise.point"});
  EXPECT_TRUE(choose_variants(module, file).value().empty());
  EXPECT_EQ(module.outer.index(), 0U);
}

TEST(ChooseVariants, TellsNoChoicesInsideAnAlternativeThatWasReplaced) {
  Outer module;
  module.outer = Decoy();
  const Archive file = archive_with({"outer.inner.depth", "outer.inner.point", "outer.depth",
                                     "outer.point", "outer.inner.weight"});
  EXPECT_EQ(texts(choose_variants(module, file, {.skip_enum_variants = true}).value()),
            Texts{"outer=Depthwise"});
}

TEST(ChooseVariants, JudgesThePresentAlternativeByWhatItCanBecome) {
  Outer module;
  module.outer = Nested();
  const Archive file = archive_with({"outer.inner.gamma", "outer.inner.beta", "outer.depth"});
  EXPECT_EQ(texts(choose_variants(module, file, {.skip_enum_variants = true}).value()),
            Texts{"outer.inner=LayerNorm"});
}

int made = 0;

struct Deepest {
  Param weight;
  Deepest() { ++made; }
  ANDIRON_MODULE(Deepest, weight)
};
template <class Inner>
struct Level {
  std::variant<Plain, Inner> inner;
  ANDIRON_MODULE(Level, inner)
};
using Twelve =
    Level<Level<Level<Level<Level<Level<Level<Level<Level<Level<Level<Level<Deepest>>>>>>>>>>>>;

TEST(ChooseVariants, MakesEachCandidateOnceHoweverDeepTheyNest) {
  Twelve module;
  std::string path;
  for (int i = 0; i < 11; ++i) path += "inner.Level.";
  made = 0;
  const Archive file = archive_with({path + "inner.Deepest.weight"});
  EXPECT_EQ(choose_variants(module, file).value().size(), 12U);
  EXPECT_EQ(made, 1);
}

// ---- What alternatives may be ----

struct OtherMemory {
  explicit OtherMemory(int& deleted) : deleted_(&deleted) {}
  void operator()(Param* param) const {
    ++*deleted_;
    delete param;
  }

 private:
  int* deleted_;
};
int deleted = 0;

struct Holding {
  std::unique_ptr<Param> unique;
  std::shared_ptr<Param> shared;
  std::unique_ptr<Param, OtherMemory> other{nullptr, OtherMemory(deleted)};
  ANDIRON_MODULE(Holding, unique, shared, other)
};
struct Pinned {
  Pinned() = default;
  Pinned(const Pinned&) = delete;
  Param weight;
  ANDIRON_MODULE(Pinned, weight)
};
struct Owner {
  std::variant<Plain, Holding, Pinned> part;
  ANDIRON_MODULE(Owner, part)
};

TEST(ChooseVariants, FillsPointersOfAlternativesThatCanOnlyBeMoved) {
  Owner module;
  choose_variants(module, archive_with({"part.Holding.unique", "part.Holding.shared"})).value();
  ASSERT_EQ(module.part.index(), 1U);
  EXPECT_TRUE(std::get<Holding>(module.part).unique);
  EXPECT_TRUE(std::get<Holding>(module.part).shared);
}

TEST(ChooseVariants, LeavesPointersWithDeletersOfTheirOwnEmpty) {
  Owner module;
  choose_variants(module, archive_with({"part.Holding.unique", "part.Holding.other"})).value();
  ASSERT_EQ(module.part.index(), 1U);
  EXPECT_FALSE(std::get<Holding>(module.part).shared);
  EXPECT_FALSE(std::get<Holding>(module.part).other);
}

TEST(ChooseVariants, DoesNotConsiderWhatCannotBeMoved) {
  Owner module;
  EXPECT_TRUE(choose_variants(module, archive_with({"part.Pinned.weight"})).value().empty());
  EXPECT_EQ(module.part.index(), 0U);
}

TEST(ChooseVariants, KeepsThePresentOneOfAlternativesWithTheSameNames) {
  struct Wide {
    Param weight;
    ANDIRON_MODULE(Wide, weight)
  };
  std::variant<Plain, Wide> module;
  const ChooseOptions options{.skip_enum_variants = true};
  for (const std::size_t index : {std::size_t{0}, std::size_t{1}}) {
    if (index == 1) module = Wide();
    EXPECT_TRUE(choose_variants(module, archive_with({"weight"}), options).value().empty());
    EXPECT_EQ(module.index(), index);
  }
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
