// SPDX-License-Identifier: MIT OR Apache-2.0
// Which tensors a rule names.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/apply.h"
#include "tests/adapters/list_lookup.h"

namespace andiron {
namespace {

using test::counting;
using test::expect_loads;
using test::loaded;
using test::saved;
using Names = std::vector<std::string>;
using Kinds = std::vector<std::string>;
using test::in;
using test::rename_rule;

// Whether the rule for `module_type` names the tensor.
bool names(const std::string& module_type, const std::string& name, const std::string& path,
           Kinds kinds) {
  const bool has_number = name.find('*') != std::string::npos;
  const RuleAdapter adapter({rename_rule(module_type, name, has_number ? "changed*" : "changed")},
                            true);
  const auto tensor = counting(path, {1}).with_container(Container(std::move(kinds)));
  return saved(adapter, tensor).full_path() != path;
}

TEST(RuleAdapter, KnowsModulesInEitherSpelling) {
  for (const char* rule : {"Norm", "Struct:Norm"}) {
    EXPECT_TRUE(names(rule, "w", "a.w", {"Struct:Net", "Struct:Norm"})) << rule;
    EXPECT_TRUE(names(rule, "w", "a.w", {"Struct:Net", "Enum:Norm"})) << rule;
    EXPECT_FALSE(names(rule, "w", "a.w", {"Struct:Net", "Struct:Norms"})) << rule;
    EXPECT_FALSE(names(rule, "w", "a.ww", {"Struct:Net", "Struct:Norm"})) << rule;
    EXPECT_FALSE(names(rule, "w", "a.w", {"Struct:Norm", "Struct:Other"})) << rule;
  }
}

TEST(RuleAdapter, MeansEnumsAloneWhenItSaysSo) {
  EXPECT_TRUE(names("Enum:Norm", "w", "a.w", {"Struct:Net", "Enum:Norm"}));
  EXPECT_FALSE(names("Enum:Norm", "w", "a.w", {"Struct:Net", "Struct:Norm"}));
}

TEST(RuleAdapter, FollowsLongNamesDownFromTheirModule) {
  const Kinds attention{"Struct:Net", "Vec", "Struct:Attention", "Struct:Linear"};
  EXPECT_TRUE(names("Attention", "query.weight", "layers.0.query.weight", attention));
  EXPECT_FALSE(names("Linear", "query.weight", "layers.0.query.weight", attention));
  EXPECT_FALSE(names("Net", "query.weight", "layers.0.query.weight", attention));
  EXPECT_TRUE(names("Net", "layers.0.query.weight", "layers.0.query.weight", attention));
  EXPECT_FALSE(names("Net", "x.layers.0.query.weight", "layers.0.query.weight", attention));
  EXPECT_TRUE(names("Moe", "experts.0.w", "experts.0.w", {"Struct:Moe", "Vec", "Struct:Expert"}));
}

TEST(RuleAdapter, DoesNotCountEnumsWhoseVariantsAreLeftOutOfPaths) {
  const Kinds skipped{"Struct:Net", "Enum:Mixer", "Struct:Attention", "Struct:Linear"};
  EXPECT_TRUE(names("Attention", "query.weight", "mixer.query.weight", skipped));
  EXPECT_TRUE(names("Net", "mixer.query.weight", "mixer.query.weight", skipped));
  EXPECT_TRUE(names("Linear", "weight", "mixer.query.weight", skipped));
  const Kinds inner{"Struct:Net", "Struct:Attention", "Enum:Projection", "Struct:Linear"};
  EXPECT_TRUE(names("Attention", "query.weight", "attention.query.weight", inner));
  EXPECT_TRUE(names("Attention", "query.Dense.weight", "attention.query.Dense.weight", inner));
  EXPECT_FALSE(names("Attention", "Dense.weight", "attention.query.Dense.weight", inner));
  EXPECT_TRUE(names("Enum:Projection", "Dense.weight", "attention.query.Dense.weight", inner));
}

TEST(RuleAdapter, FollowsLongNamesPastKeysWithDots) {
  for (const std::string key : {"layer0", "layer.0", "a.layer.0"}) {
    SCOPED_TRACE(key);
    const std::string path = "mixers." + key + ".query.weight";
    for (const Kinds& skipped :
         {Kinds{"Struct:Net", "Map", "Enum:Mixer", "Struct:Attention", "Struct:Linear"},
          Kinds{"Struct:Net", "Map", "Struct:Attention", "Enum:Projection", "Struct:Linear"}}) {
      EXPECT_TRUE(names("Attention", "query.weight", path, skipped));
      EXPECT_TRUE(names("Linear", "weight", path, skipped));
      EXPECT_TRUE(names("Net", path, path, skipped));
      EXPECT_FALSE(names("Linear", "query.weight", path, skipped));
      EXPECT_FALSE(names("Net", "query.weight", path, skipped));
    }
    const Kinds kept{"Struct:Net", "Map", "Enum:Mixer", "Struct:Attention", "Struct:Linear"};
    const std::string whole = "mixers." + key + ".Attend.query.weight";
    EXPECT_TRUE(names("Attention", "query.weight", whole, kept));
    EXPECT_TRUE(names("Mixer", "Attend.query.weight", whole, kept));
    EXPECT_TRUE(names("Net", whole, whole, kept));
    EXPECT_FALSE(names("Net", "Attend.query.weight", whole, kept));
  }
}

TEST(RuleAdapter, FollowsLongNamesThroughKeysWithDots) {
  const Kinds one{"Struct:Net", "Struct:Moe", "Map", "Struct:Expert"};
  EXPECT_TRUE(names("Moe", "experts.e.0.w", "moe.experts.e.0.w", one));
  EXPECT_FALSE(names("Net", "experts.e.0.w", "moe.experts.e.0.w", one));
  EXPECT_FALSE(names("Moe", "e.0.w", "moe.experts.e.0.w", one));
  // Which of the two keys has the dot is not known.
  const Kinds two{"Struct:Net", "Map", "Struct:Moe", "Map", "Struct:Expert"};
  EXPECT_TRUE(names("Moe", "experts.e.0.w", "moes.m.experts.e.0.w", two));
  EXPECT_TRUE(names("Moe", "experts.e.w", "moes.m.0.experts.e.w", two));
}

TEST(RuleAdapter, LooksPastAnEnumWhoseVariantIsLeftOutForTheLastSegment) {
  const Kinds kinds{"Struct:Net", "Struct:Pair", "Enum:Weight"};
  EXPECT_TRUE(names("Pair", "w", "pair.w", kinds));
  EXPECT_TRUE(names("Enum:Weight", "w", "pair.w", kinds));
  EXPECT_FALSE(names("Net", "w", "pair.w", kinds));
  EXPECT_FALSE(names("Pair", "Dense", "pair.w.Dense", kinds));
}

TEST(RuleAdapter, KeepsTheModulesKindWhenItMovesTensorsUpPastKeysAndVariants) {
  const AdapterRule rule{.module_type = "Moe",
                         .from = {"experts.e.0.w", "experts.e.1.w"},
                         .to = {"stacked"},
                         .steps = {StackStep{0}}};
  const Container expert(
      {"Struct:Net", "Map", "Enum:Block", "Struct:Moe", "Map", "Enum:Ffn", "Struct:Expert"});
  const Snapshots module({counting("b.x.experts.e.0.w", {2}).with_container(expert),
                          counting("b.x.experts.e.1.w", {2}, 2).with_container(expert)});
  const Snapshots file = RuleAdapter({rule}, true).save(module).value();
  ASSERT_EQ(file.keys(), Names{"b.x.stacked"});
  EXPECT_EQ(file[0].container(), Container({"Struct:Net", "Map", "Enum:Block", "Struct:Moe"}));
  expect_loads(RuleAdapter({rule}, false), module, file);
}

TEST(RuleAdapter, TakesANumberForAStar) {
  const Kinds kinds{"Struct:Net", "Struct:M"};
  for (const char* name : {"m.w_l0", "m.w_l7", "m.w_l10", "m.w_l123456789012345678901234567890"}) {
    EXPECT_TRUE(names("M", "w_l*", name, kinds)) << name;
  }
  for (const char* name : {"m.w_l", "m.w_l01", "m.w_l00", "m.w_l1a", "m.w_lx", "m.w_l*", "m.w_l-1",
                           "m.w_l1_reverse", "m.ww_l1", "m.1"}) {
    EXPECT_FALSE(names("M", "w_l*", name, kinds)) << name;
  }
  EXPECT_TRUE(names("M", "w_l*_reverse", "m.w_l12_reverse", kinds));
  EXPECT_TRUE(names("M", "*", "m.12", kinds));
  EXPECT_FALSE(names("M", "w_l1", "m.w_l2", kinds));
}

TEST(RuleAdapter, TakesANumberForASegment) {
  const Kinds kinds{"Struct:Net", "Struct:M", "Vec", "Struct:Cell"};
  EXPECT_TRUE(names("M", "cells.*.w", "m.cells.0.w", kinds));
  EXPECT_TRUE(names("M", "cells.*.w2", "m.cells.31.w2", kinds));
  EXPECT_TRUE(names("M", "cells.3.w*", "m.cells.3.w3", kinds));
  EXPECT_FALSE(names("M", "cells.*.w2", "m.cells.31.w3", kinds));
  EXPECT_FALSE(names("M", "cells.*.w", "m.cells.x.w", kinds));
  EXPECT_FALSE(names("M", "cells.*.w", "m.cells.01.w", kinds));
  EXPECT_FALSE(names("M", "cells.*.w", "m.cells.w", {"Struct:Net", "Struct:M", "Struct:Cell"}));
  EXPECT_FALSE(names("Net", "cells.*.w", "m.cells.0.w", kinds));
}

TEST(RuleAdapter, PutsNoTensorWhereNoRuleSays) {
  const RuleAdapter empty({}, true);
  EXPECT_TRUE(empty.status());
  EXPECT_FALSE(loaded(empty, {"a", in("Struct:Norm")}, counting("b", {1})));
  EXPECT_TRUE(loaded(empty, {"b", in("Struct:Norm")}, counting("b", {1})));
}

}  // namespace
}  // namespace andiron
