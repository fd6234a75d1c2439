// SPDX-License-Identifier: MIT OR Apache-2.0
// Tables of rules, in both directions.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "andiron/adapter.h"
#include "tests/support/test_source.h"
#include "tests/transfer/list_lookup.h"

namespace andiron {
namespace {

using test::counting;
using test::expect_list;
using test::expect_loads;
using test::expect_same;
using test::Floats;
using test::floats_of;
using test::ListLookup;
using test::load_error;
using test::loaded;
using test::saved;
using test::tensor_of;
using Names = std::vector<std::string>;
using Kinds = std::vector<std::string>;

Container in(const std::string& kind) { return Container({"Struct:Net", kind}); }

// ---- Which tensors a rule names ----

AdapterRule rename(std::string module_type, std::string from, std::string to) {
  return {.module_type = std::move(module_type), .from = {std::move(from)}, .to = {std::move(to)}};
}

// Whether the rule for `module_type` names the tensor.
bool names(const std::string& module_type, const std::string& name, const std::string& path,
           Kinds kinds) {
  const RuleAdapter adapter({rename(module_type, name, "changed")}, true);
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

TEST(RuleAdapter, PutsNoTensorWhereNoRuleSays) {
  const RuleAdapter empty({}, true);
  EXPECT_TRUE(empty.status());
  EXPECT_FALSE(loaded(empty, {"a", in("Struct:Norm")}, counting("b", {1})));
  EXPECT_TRUE(loaded(empty, {"b", in("Struct:Norm")}, counting("b", {1})));
}

TEST(RuleAdapter, TriesRulesInOrderUntilOneHasItsTensors) {
  const RuleAdapter adapter(
      {rename("Norm", "a", "w"),
       {.module_type = "Norm", .from = {"b1", "b2"}, .to = {"w"}, .steps = {ConcatStep{0}}},
       rename("Norm", "c", "w")},
      true);
  const Place place{"n.w", in("Struct:Norm")};
  const Snapshots both({counting("n.b1", {1}, 1), counting("n.b2", {1}, 2)});
  Snapshots all = both;
  all.push_back(counting("n.a", {1}, 3));
  all.push_back(counting("n.c", {1}, 4));
  EXPECT_EQ(floats_of(*loaded(adapter, place, all)), Floats{3});
  all.remove_if([](const TensorSnapshot& tensor) { return tensor.full_path() == "n.a"; });
  EXPECT_EQ(floats_of(*loaded(adapter, place, all)), (Floats{1, 2}));
  EXPECT_EQ(floats_of(*loaded(adapter, place, counting("n.c", {1}, 4))), Floats{4});
  EXPECT_EQ(floats_of(*loaded(adapter, place, counting("n.w", {1}, 5))), Floats{5});
  EXPECT_FALSE(loaded(adapter, place, Snapshots()));
}

TEST(RuleAdapter, AsksForEachNameOnce) {
  const RuleAdapter adapter({rename("Norm", "a", "w"), rename("Norm", "c", "w")}, true);
  ListLookup file(Snapshots{});
  EXPECT_FALSE(adapter.load({"n.w", in("Struct:Norm")}, file).value());
  EXPECT_EQ(file.asked(), (Names{"n.w", "n.a", "n.c"}));
}

TEST(RuleAdapter, LoadsWhatItSavedWhenRulesExchangeNames) {
  const std::vector<AdapterRule> rules{rename("Norm", "a", "b"), rename("Norm", "b", "a")};
  const Container norm = in("Struct:Norm");
  const Snapshots module(
      {counting("n.a", {1}, 1).with_container(norm), counting("n.b", {1}, 2).with_container(norm)});
  for (const bool forward : {true, false}) {
    const Snapshots file = RuleAdapter(rules, forward).save(module).value();
    EXPECT_EQ(file.keys(), (Names{"n.b", "n.a"}));
    expect_loads(RuleAdapter(rules, !forward), module, file);
  }
  // What is there is the other's.
  EXPECT_FALSE(loaded(RuleAdapter(rules, true), {"n.b", norm}, counting("n.b", {1})));
}

TEST(RuleAdapter, LoadsWhatItSavedWhenRulesPassNamesOn) {
  const std::vector<AdapterRule> rules{
      rename("Norm", "a", "b"),
      rename("Norm", "b", "c"),
      {.module_type = "Norm", .from = {"c"}, .to = {"d", "e"}, .steps = {SplitStep{0}}}};
  const Container norm = in("Struct:Norm");
  const Snapshots module(
      {counting("n.b", {1}, 1).with_container(norm), counting("n.c", {1}, 2).with_container(norm),
       counting("n.d", {1}, 3).with_container(norm), counting("n.e", {1}, 4).with_container(norm)});
  const Snapshots file = RuleAdapter(rules, false).save(module).value();
  EXPECT_EQ(file.keys(), (Names{"n.a", "n.b", "n.c"}));
  expect_loads(RuleAdapter(rules, true), module, file);
  const Snapshots back = RuleAdapter(rules, true).save(file).value();
  expect_list(back, module);
  expect_loads(RuleAdapter(rules, false), file, back);
}

TEST(RuleAdapter, LeavesATensorToTheRuleThatNamesIt) {
  const Container linear = in("Struct:Linear");
  const Place place{"fc.weight", linear};
  const auto adapter = PyTorchToBurnAdapter().with_rule(rename("Linear", "kernel", "weight"));
  EXPECT_EQ(loaded(adapter, place, counting("fc.weight", {2, 3}))->shape(), (Shape{3, 2}));
  EXPECT_EQ(loaded(adapter, place, counting("fc.kernel", {2, 3}))->shape(), (Shape{2, 3}));
  const auto twice = PyTorchToBurnAdapter().with_rule(rename("Linear", "weight", "weight"));
  EXPECT_EQ(loaded(twice, place, counting("fc.weight", {2, 3}))->shape(), (Shape{2, 3}));
}

TEST(RuleAdapter, Chains) {
  const ChainAdapter chain =
      RuleAdapter({rename("Norm", "a", "b")}, true).chain(FloatCastAdapter::to(DType::f16));
  const TensorSnapshot stored = saved(chain, counting("n.a", {2}).with_container(in("Norm")));
  EXPECT_EQ(stored.full_path(), "n.a");
  const TensorSnapshot renamed =
      saved(chain, counting("n.a", {2}).with_container(in("Struct:Norm")));
  EXPECT_EQ(renamed.full_path(), "n.b");
  EXPECT_EQ(renamed.dtype(), DType::f16);
  const ChainAdapter with_own_rule = PyTorchToBurnAdapter()
                                         .with_rule(rename("Norm", "a", "b"))
                                         .chain(RuleAdapter({rename("Norm", "b", "c")}, true));
  EXPECT_TRUE(loaded(with_own_rule, {"n.c", in("Struct:Norm")}, counting("n.a", {1})));
}

TEST(RuleAdapter, RunsItsStepsOnWhicheverTensorItFinds) {
  const RuleAdapter adapter({{.module_type = "Norm",
                              .from = {"a"},
                              .to = {"w"},
                              .steps = {ReshapeStep{{4}, {2, 2}}, PermuteStep{{1, 0}}}}},
                            true);
  const Place place{"n.w", in("Struct:Norm")};
  for (const char* name : {"n.w", "n.a"}) {
    expect_same(*loaded(adapter, place, counting(name, {4})),
                tensor_of("n.w", {2, 2}, {0, 2, 1, 3}));
  }
}

// ---- Several tensors ----

const Kinds attention_kinds{"Struct:Net", "Vec", "Struct:MultiHeadAttention"};
const Kinds projection_kinds{"Struct:Net", "Vec", "Struct:MultiHeadAttention", "Struct:Linear"};

// PyTorch's attention, of which each module has two.
const AdapterRule in_proj{.module_type = "MultiHeadAttention",
                          .from = {"in_proj_weight"},
                          .to = {"query.weight", "key.weight", "value.weight"},
                          .steps = {SplitStep{0}, PermuteStep{{1, 0}}}};

Snapshots attention_module() {
  Snapshots module;
  for (const int layer : {0, 1}) {
    const std::string prefix = "layers." + std::to_string(layer) + ".";
    for (const int part : {0, 1, 2}) {
      const char* const name[] = {"query", "key", "value"};
      const auto at = static_cast<float>(100 * layer + 6 * part);
      // [in 3, out 2]: the transpose of rows 2 * part and 2 * part + 1 of the fused one.
      module.push_back(tensor_of(prefix + name[part] + ".weight", {3, 2},
                                 {at, at + 3, at + 1, at + 4, at + 2, at + 5})
                           .with_container(Container(projection_kinds)));
      module.push_back(counting(prefix + name[part] + ".bias", {2}, at)
                           .with_container(Container(projection_kinds)));
    }
  }
  return module;
}

TEST(RuleAdapter, SplitsOneTensorOfTheFileIntoThreeOfTheModule) {
  const auto adapter = PyTorchToBurnAdapter().with_rule(in_proj);
  ASSERT_TRUE(adapter.status());
  Snapshots file({counting("layers.0.in_proj_weight", {6, 3}),
                  counting("layers.1.in_proj_weight", {6, 3}, 100)});
  Snapshots biases = attention_module();
  biases.remove_if([](const TensorSnapshot& tensor) { return tensor.shape().rank() != 1; });
  file.extend(biases);
  expect_loads(adapter, attention_module(), file);
}

TEST(RuleAdapter, JoinsThreeTensorsOfTheModuleIntoOneOfTheFile) {
  const Snapshots file = BurnToPyTorchAdapter().with_rule(in_proj).save(attention_module()).value();
  ASSERT_EQ(file.keys(),
            (Names{"layers.0.in_proj_weight", "layers.0.query.bias", "layers.0.key.bias",
                   "layers.0.value.bias", "layers.1.in_proj_weight", "layers.1.query.bias",
                   "layers.1.key.bias", "layers.1.value.bias"}));
  expect_same(file[0], counting("layers.0.in_proj_weight", {6, 3}));
  expect_same(file[4], counting("layers.1.in_proj_weight", {6, 3}, 100));
  EXPECT_EQ(file[0].container(), Container(attention_kinds));
}

TEST(RuleAdapter, GoesOnToLaterRulesWhenTheFileHasNoneOfItsTensors) {
  // Projections that PyTorch keeps apart are Linear layers like any other.
  const auto query = loaded(PyTorchToBurnAdapter().with_rule(in_proj),
                            {"layers.0.query.weight", Container(projection_kinds)},
                            counting("layers.0.query.weight", {2, 3}));
  EXPECT_EQ(query->shape(), (Shape{3, 2}));
}

const AdapterRule fused_qkv{.module_type = "Attention",
                            .from = {"q.weight", "k.weight", "v.weight"},
                            .to = {"qkv.weight"},
                            .steps = {ConcatStep{1}, PermuteStep{{1, 0}}}};
const Container fused_linear({"Struct:Net", "Struct:Attention", "Struct:Linear"});

Snapshots separate_file() {
  return Snapshots({tensor_of("a.q.weight", {2, 1}, {1, 2}).with_container(fused_linear),
                    tensor_of("a.k.weight", {2, 1}, {3, 4}).with_container(fused_linear),
                    tensor_of("a.v.weight", {2, 1}, {5, 6}).with_container(fused_linear)});
}

Snapshots fused_module() {
  return Snapshots({tensor_of("a.qkv.weight", {3, 2}, {1, 2, 3, 4, 5, 6})
                        .with_container(fused_linear)
                        .with_param_id(ParamId{9})});
}

TEST(RuleAdapter, JoinsThreeTensorsOfTheFileIntoOneOfTheModule) {
  Snapshots file = separate_file();
  for (TensorSnapshot& tensor : file) tensor = tensor.with_param_id(ParamId{1});
  expect_loads(RuleAdapter({fused_qkv}, true), fused_module(), file);
  EXPECT_EQ(
      loaded(RuleAdapter({fused_qkv}, true), {"a.qkv.weight", fused_linear}, file)->param_id(),
      std::nullopt);
}

TEST(RuleAdapter, SplitsOneTensorOfTheModuleIntoThreeOfTheFile) {
  const Snapshots file = RuleAdapter({fused_qkv}, false).save(fused_module()).value();
  expect_list(file, separate_file());
  for (const TensorSnapshot& tensor : file) {
    EXPECT_EQ(tensor.param_id(), std::nullopt);
    EXPECT_EQ(tensor.container(), fused_linear);
  }
}

TEST(RuleAdapter, StacksExpertsAndTakesThemApart) {
  constexpr std::size_t experts = 12;
  AdapterRule rule{
      .module_type = "Moe", .from = {"experts.weight"}, .to = {}, .steps = {UnstackStep{1}}};
  Snapshots apart;
  const Container expert({"Struct:Net", "Struct:Moe", "Vec", "Struct:Expert"});
  for (std::size_t i = 0; i < experts; ++i) {
    rule.to.push_back("experts." + std::to_string(i) + ".weight");
    apart.push_back(tensor_of("moe." + rule.to.back(), {2}, {float(i), float(i + experts)})
                        .with_container(expert));
  }
  const Snapshots stacked({counting("moe.experts.weight", {2, experts})
                               .with_container(Container({"Struct:Net", "Struct:Moe", "X"}))});

  expect_loads(RuleAdapter({rule}, true), apart, stacked);
  expect_list(RuleAdapter({rule}, false).save(apart).value(), stacked);
  expect_loads(RuleAdapter({rule}, false), stacked, apart);
  expect_list(RuleAdapter({rule}, true).save(stacked).value(), apart);
}

TEST(RuleAdapter, CutsInProportionToShares) {
  // Four heads that ask share one key and one value.
  const AdapterRule rule{.module_type = "Attention",
                         .from = {"qkv"},
                         .to = {"q", "k", "v"},
                         .steps = {SplitStep{0, {8, 2, 2}}}};
  const Container attention = in("Struct:Attention");
  const Snapshots parts({counting("a.q", {4}).with_container(attention),
                         counting("a.k", {1}, 4).with_container(attention),
                         counting("a.v", {1}, 5).with_container(attention)});
  const Snapshots whole({counting("a.qkv", {6}).with_container(attention)});
  expect_loads(RuleAdapter({rule}, true), parts, whole);
  expect_list(RuleAdapter({rule}, false).save(parts).value(), whole);
  expect_list(RuleAdapter({rule}, true).save(whole).value(), parts);
}

TEST(RuleAdapter, MakesThreeTensorsOfTwo) {
  // A join and a cut in one rule.
  const AdapterRule rule{
      .module_type = "Cell",
      .from = {"a", "b"},
      .to = {"x", "y", "z"},
      .steps = {StackStep{1}, PermuteStep{{1, 0}}, ReshapeStep{{2, 3}, {6}}, SplitStep{0}}};
  const Container cell = in("Struct:Cell");
  const Snapshots from(
      {counting("c.a", {3}).with_container(cell), counting("c.b", {3}, 3).with_container(cell)});
  const Snapshots to({counting("c.x", {2}).with_container(cell),
                      counting("c.y", {2}, 2).with_container(cell),
                      counting("c.z", {2}, 4).with_container(cell)});
  expect_list(RuleAdapter({rule}, true).save(from).value(), to);
  expect_loads(RuleAdapter({rule}, true), to, from);
  expect_list(RuleAdapter({rule}, false).save(to).value(), from);
  expect_loads(RuleAdapter({rule}, false), from, to);
}

TEST(RuleAdapter, PutsAJoinedTensorWhereItsFirstPartWas) {
  const AdapterRule rule{
      .module_type = "M", .from = {"a", "b"}, .to = {"ab"}, .steps = {ConcatStep{0}}};
  const Container m = in("Struct:M");
  const Snapshots file =
      RuleAdapter({rule}, true)
          .save(Snapshots({counting("x", {1}), counting("n.b", {1}, 2).with_container(m),
                           counting("y", {1}), counting("n.a", {1}, 1).with_container(m),
                           counting("o.a", {1}, 3).with_container(m),
                           counting("o.b", {1}, 4).with_container(m)}))
          .value();
  ASSERT_EQ(file.keys(), (Names{"x", "n.ab", "y", "o.ab"}));
  EXPECT_EQ(floats_of(file[1]), (Floats{1, 2}));
  EXPECT_EQ(floats_of(file[3]), (Floats{3, 4}));
}

TEST(RuleAdapter, ReadsNothingUntilTheDataIsAskedFor) {
  const auto source = std::make_shared<test::TestSource>(std::vector<std::byte>(24));
  Snapshots file;
  for (const TensorSnapshot& tensor : separate_file()) {
    file.push_back(TensorSnapshot::from_source(tensor.full_path(), source, 8 * file.size(), 8,
                                               DType::f32, tensor.shape())
                       .value());
  }
  const auto fused = loaded(RuleAdapter({fused_qkv}, true), {"a.qkv.weight", fused_linear}, file);
  const Snapshots again = RuleAdapter({fused_qkv}, false).save(Snapshots({*fused})).value();
  EXPECT_EQ(again.keys(), separate_file().keys());
  EXPECT_EQ(source->reads(), 0U);
  EXPECT_EQ(floats_of(*fused), Floats(6));
  EXPECT_GT(source->reads(), 0U);
}

// ---- What goes wrong ----

TEST(RuleAdapter, NamesThePartThatTheFileIsMissing) {
  Snapshots file = separate_file();
  file.remove_if([](const TensorSnapshot& tensor) { return tensor.full_path() == "a.k.weight"; });
  const Error error =
      load_error(RuleAdapter({fused_qkv}, true), {"a.qkv.weight", fused_linear}, file);
  EXPECT_EQ(error.code, ErrorCode::adapter_failed);
  EXPECT_EQ(error.tensor, "a.qkv.weight");
  EXPECT_EQ(error.message,
            "it is to be made of 'a.q.weight', 'a.k.weight' and 'a.v.weight', but 'a.k.weight' is "
            "missing");
}

TEST(RuleAdapter, NamesThePartThatAFilterLeftOut) {
  Snapshots module = attention_module();
  module.remove_if(
      [](const TensorSnapshot& tensor) { return tensor.full_path() == "layers.1.value.weight"; });
  const Error error = BurnToPyTorchAdapter().with_rule(in_proj).save(module).error();
  EXPECT_EQ(error.code, ErrorCode::adapter_failed);
  EXPECT_EQ(error.tensor, "layers.1.in_proj_weight");
  EXPECT_NE(error.message.find("'layers.1.value.weight' is missing"), std::string::npos);
  EXPECT_NE(error.hint.find("filter"), std::string::npos);
}

TEST(RuleAdapter, CutsLongListsOfNamesShort) {
  AdapterRule rule{.module_type = "M", .from = {}, .to = {"w"}, .steps = {StackStep{0}}};
  for (int i = 0; i < 100; ++i) rule.from.push_back("e" + std::to_string(i));
  const Error error = load_error(RuleAdapter({rule}, true), {"m.w", in("Struct:M")},
                                 Snapshots({counting("m.e0", {1})}));
  EXPECT_NE(error.message.find("'m.e6' and 93 more, but 'm.e1' is missing"), std::string::npos)
      << error.message;
}

TEST(RuleAdapter, RefusesTensorsThatCannotBeCutEvenly) {
  const Error error =
      load_error(RuleAdapter({in_proj}, true), {"layers.0.key.weight", Container(projection_kinds)},
                 Snapshots({counting("layers.0.in_proj_weight", {7, 2})}));
  EXPECT_EQ(error.code, ErrorCode::shape_mismatch);
  EXPECT_EQ(error.tensor, "layers.0.key.weight");
  EXPECT_EQ(error.found, "[7, 2]");
  EXPECT_EQ(error.expected, "dimension 0 to make 3 equal parts");
  EXPECT_NE(error.message.find("'layers.0.in_proj_weight'"), std::string::npos);
}

TEST(RuleAdapter, RefusesToJoinWhatItCouldNotTakeApart) {
  const Container m = in("Struct:M");
  const Snapshots uneven(
      {counting("m.a", {2}).with_container(m), counting("m.b", {1}).with_container(m)});
  const auto join = [&](std::vector<std::uint64_t> shares) {
    const AdapterRule rule{.module_type = "M",
                           .from = {"a", "b"},
                           .to = {"ab"},
                           .steps = {ConcatStep{0, std::move(shares)}}};
    return RuleAdapter({rule}, true).save(uneven);
  };
  for (const std::vector<std::uint64_t>& shares : {std::vector<std::uint64_t>(), {1, 2}, {3, 1}}) {
    EXPECT_EQ(join(shares).error().code, ErrorCode::shape_mismatch);
    EXPECT_EQ(join(shares).error().tensor, "m.ab");
  }
  EXPECT_EQ(floats_of(join({4, 2}).value()[0]), (Floats{0, 1, 0}));
}

TEST(RuleAdapter, RefusesTensorsThatDoNotFitItsSteps) {
  const auto error_of = [](AdapterStep step, const Shape& shape) {
    const bool reshapes = std::holds_alternative<ReshapeStep>(step);
    const AdapterRule rule{.module_type = "M",
                           .from = {"w"},
                           .to = reshapes ? Names{"a"} : Names{"a", "b"},
                           .steps = {std::move(step)}};
    return load_error(RuleAdapter({rule}, true), {"m.a", in("Struct:M")},
                      Snapshots({counting("m.w", shape)}));
  };
  for (const Error& error : {error_of(ReshapeStep{{4}, {2, 2}}, {5}), error_of(SplitStep{1}, {4}),
                             error_of(UnstackStep{0}, {3, 2}), error_of(UnstackStep{2}, {2, 2}),
                             error_of(SplitStep{0, {1, ~std::uint64_t{0} - 1}}, {2})}) {
    EXPECT_EQ(error.code, ErrorCode::shape_mismatch) << error.to_string();
    EXPECT_EQ(error.tensor, "m.a");
    EXPECT_FALSE(error.found.empty());
    EXPECT_FALSE(error.expected.empty());
  }
}

TEST(RuleAdapter, RefusesToJoinDifferentDtypesAndNamesBoth) {
  Snapshots file = separate_file();
  file[1] = file[1].cast(DType::f16).value();
  const Error error =
      load_error(RuleAdapter({fused_qkv}, true), {"a.qkv.weight", fused_linear}, file);
  EXPECT_EQ(error.code, ErrorCode::dtype_mismatch);
  EXPECT_EQ(error.tensor, "a.qkv.weight");
  EXPECT_NE(error.message.find("'a.k.weight'"), std::string::npos);
}

TEST(RuleAdapter, RefusesToTakeQuantizedTensorsApart) {
  const Tensor data =
      Tensor::qfloat({6, 2}, Bytes::copy(std::vector<std::byte>(9)).value()).value();
  const Error error =
      load_error(RuleAdapter({in_proj}, true), {"layers.0.key.weight", Container(projection_kinds)},
                 Snapshots({TensorSnapshot("layers.0.in_proj_weight", data)}));
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_EQ(error.tensor, "layers.0.key.weight");
}

TEST(RuleAdapter, CutsTensorsWithoutElementsHoweverLongTheyClaimToBe) {
  const std::uint64_t huge = ~std::uint64_t{0} - 3;  // divides by two
  const auto tensor =
      TensorSnapshot::from_source("m.w", memory_source(Bytes()), 0, 0, DType::f32, {huge, 0});
  ASSERT_TRUE(tensor);
  const AdapterRule rule{
      .module_type = "M", .from = {"w"}, .to = {"a", "b"}, .steps = {SplitStep{0}}};
  ListLookup file({*tensor});
  const RuleAdapter adapter({rule}, true);
  EXPECT_EQ(adapter.load({"m.a", in("Struct:M")}, file).value()->shape(), (Shape{huge / 2, 0}));
  EXPECT_EQ(adapter.load({"m.b", in("Struct:M")}, file).error().code, ErrorCode::shape_mismatch);
}

struct BadRule {
  const char* what;
  AdapterRule rule;
};

TEST(RuleAdapter, RefusesRulesThatCannotWork) {
  const std::vector<BadRule> bad = {
      {"no module", {"", {"a"}, {"b"}, {}}},
      {"no module behind the prefix", {"Struct:", {"a"}, {"b"}, {}}},
      {"an empty name", {"M", {""}, {"b"}, {}}},
      {"an empty name on the other side", {"M", {"a"}, {""}, {}}},
      {"one name twice", {"M", {"a", "a"}, {"b"}, {ConcatStep{0}}}},
      {"nothing from", {"M", {}, {"b"}, {}}},
      {"nothing to", {"M", {"a"}, {}, {}}},
      {"too few steps", {"M", {"a", "b"}, {"c"}, {}}},
      {"a split into one more", {"M", {"a"}, {"b", "c"}, {SplitStep{0, {1, 1, 1}}}}},
      {"a split of two", {"M", {"a", "b"}, {"c", "d"}, {SplitStep{0}}}},
      {"two splits", {"M", {"a"}, {"b", "c"}, {SplitStep{0, {1, 1}}, SplitStep{0}}}},
      {"a join to two", {"M", {"a", "b"}, {"c", "d"}, {ConcatStep{0}}}},
      {"a join of one more", {"M", {"a", "b"}, {"c"}, {ConcatStep{0, {1, 1, 1}}}}},
      {"a stack to two", {"M", {"a", "b"}, {"c", "d"}, {StackStep{0}}}},
      {"an unstack of two", {"M", {"a", "b"}, {"c", "d"}, {UnstackStep{0}}}},
      {"an unknown number between", {"M", {"a"}, {"b"}, {UnstackStep{0}, ConcatStep{0}}}},
      {"a dimension twice", {"M", {"a"}, {"b"}, {PermuteStep{{0, 0}}}}},
      {"a dimension too high", {"M", {"a"}, {"b"}, {PermuteStep{{0, 2}}}}},
      {"other numbers of elements", {"M", {"a"}, {"b"}, {ReshapeStep{{4}, {5}}}}},
      {"a share of nothing", {"M", {"a"}, {"b", "c"}, {SplitStep{0, {1, 0}}}}},
      {"shares beyond all", {"M", {"a"}, {"b", "c"}, {SplitStep{0, {1, ~std::uint64_t{0}}}}}},
  };
  for (const auto& [what, rule] : bad) {
    for (const bool forward : {true, false}) {
      const RuleAdapter adapter({rename("Norm", "a", "b"), rule}, forward);
      ASSERT_FALSE(adapter.status()) << what;
      EXPECT_EQ(adapter.status().error().code, ErrorCode::invalid_argument) << what;
      EXPECT_EQ(adapter.status().error().message.find("rule for '" + rule.module_type + "': "), 0U);
      ListLookup file(Snapshots{});
      EXPECT_FALSE(adapter.load({"a", {}}, file)) << what;
      EXPECT_FALSE(adapter.save({})) << what;
    }
    EXPECT_FALSE(PyTorchToBurnAdapter().with_rule(rule).chain(IdentityAdapter()).status());
    EXPECT_FALSE(BurnToPyTorchAdapter().with_rule(rule).with_rule(in_proj).status());
  }
}

TEST(RuleAdapter, AcceptsCutsWhoseNumberOfPartsTheNextStepTells) {
  const AdapterRule rule{.module_type = "M",
                         .from = {"a"},
                         .to = {"b"},
                         .steps = {UnstackStep{0}, PermuteStep{{0}}, ConcatStep{0, {1, 1}}}};
  for (const bool forward : {true, false}) EXPECT_TRUE(RuleAdapter({rule}, forward).status());
  const Container m = in("Struct:M");
  const Snapshots before({counting("m.a", {2, 3}).with_container(m)});
  const Snapshots after({counting("m.b", {6}).with_container(m)});
  expect_list(RuleAdapter({rule}, true).save(before).value(), after);
  expect_list(RuleAdapter({rule}, false).save(after).value(), before);
}

// ---- Round trips of random tables ----

class RandomTable {
 public:
  explicit RandomTable(unsigned seed) : random_(seed) {
    const std::size_t rules = 1 + below(4);
    for (std::size_t i = 0; i < rules; ++i) add_rule(i);
    module_.push_back(counting("root.unruled", {2}).with_container(in("Struct:Other")));
    for (std::size_t i = module_.size(); i > 1; --i) std::swap(module_[i - 1], module_[below(i)]);
  }

  const std::vector<AdapterRule>& rules() const { return rules_; }
  // Tensors of the `from` side, in some order.
  const Snapshots& module() const { return module_; }

 private:
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

  Names some_names(const std::string& stem, std::size_t count) {
    Names names;
    for (std::size_t i = 0; i < count; ++i) {
      std::string name = stem + std::to_string(i);
      for (std::size_t depth = below(3); depth > 0; --depth) name = "down." + name;
      names.push_back(std::move(name));
    }
    return names;
  }

  // The shares of `count` tensors of sizes that are multiples of them.
  std::vector<std::uint64_t> some_shares(std::size_t count) {
    std::vector<std::uint64_t> shares;
    for (std::size_t i = 0; i < count; ++i) shares.push_back(1 + below(3));
    return shares;
  }

  static std::uint64_t sum(const std::vector<std::uint64_t>& shares) {
    return std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
  }

  Shape some_shape(std::size_t rank) {
    std::vector<std::uint64_t> dims;
    for (std::size_t d = 0; d < rank; ++d) dims.push_back(1 + below(4));
    return Shape(dims);
  }

  // Appends a step that keeps the number of tensors; `shape` is theirs.
  void add_step_for_each(AdapterRule& rule, Shape& shape) {
    if (below(2) == 0) {
      PermuteStep step{std::vector<std::size_t>(shape.rank())};
      std::iota(step.dims.begin(), step.dims.end(), std::size_t{0});
      std::shuffle(step.dims.begin(), step.dims.end(), random_);
      std::vector<std::uint64_t> dims;
      for (const std::size_t dim : step.dims) dims.push_back(shape[dim]);
      shape = Shape(dims);
      rule.steps.emplace_back(std::move(step));
    } else {
      const Shape flat{shape.element_count().value(), 1};
      rule.steps.emplace_back(ReshapeStep{shape, flat});
      shape = flat;
    }
  }

  void add_rule(std::size_t number) {
    AdapterRule rule;
    rule.module_type = "T" + std::to_string(number);
    const std::size_t inputs = 1 + below(3);
    const std::size_t outputs = 1 + below(3);
    rule.from = some_names("f", inputs);
    rule.to = some_names("t", outputs);

    // Equal tensors, joined to one, which is cut again.
    Shape shape = some_shape(2);
    const std::size_t dim = below(2);
    const std::vector<std::uint64_t> shares = some_shares(outputs);
    shape[dim] *= sum(shares) * outputs;
    const Shape input_shape = shape;
    if (below(2) == 0) add_step_for_each(rule, shape);
    const bool stacks = below(2) == 0;
    if (stacks) {
      rule.steps.emplace_back(StackStep{0});
      shape = Shape{inputs, shape[0], shape[1]};
    } else {
      rule.steps.emplace_back(ConcatStep{0});
      shape[0] *= inputs;
    }
    const Shape flat{shape.element_count().value()};
    rule.steps.emplace_back(ReshapeStep{shape, flat});
    switch (below(3)) {
      case 0:
        rule.steps.emplace_back(SplitStep{0});
        break;
      case 1:
        rule.steps.emplace_back(SplitStep{0, shares});
        break;
      default:
        rule.steps.emplace_back(ReshapeStep{flat, {flat[0] / outputs, outputs}});
        rule.steps.emplace_back(UnstackStep{1});
    }

    const std::size_t layers = 1 + below(3);
    for (std::size_t layer = 0; layer < layers; ++layer) {
      for (const std::string& name : rule.from) {
        Kinds kinds{"Struct:Net", "Vec", "Struct:" + rule.module_type};
        const auto depth = std::count(name.begin(), name.end(), '.');
        kinds.insert(kinds.end(), static_cast<std::size_t>(depth), "Struct:Down");
        module_.push_back(counting(rule.module_type + "s." + std::to_string(layer) + "." + name,
                                   input_shape, static_cast<float>(1000 * module_.size()))
                              .with_container(Container(std::move(kinds))));
      }
    }
    rules_.push_back(std::move(rule));
  }

  std::mt19937 random_;
  std::vector<AdapterRule> rules_;
  Snapshots module_;
};

TEST(RuleAdapter, LoadsWhatItSavedForRandomTables) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const RandomTable table(seed);
    const RuleAdapter there(table.rules(), true);
    const RuleAdapter back(table.rules(), false);
    ASSERT_TRUE(there.status()) << there.status().error().to_string();
    ASSERT_TRUE(back.status()) << back.status().error().to_string();
    const Snapshots file = there.save(table.module()).value();
    expect_loads(back, table.module(), file);

    // The same the other way about: the file's tensors as those of a module.
    Snapshots other_module;
    for (const TensorSnapshot& tensor : file) {
      const std::string& path = tensor.full_path();
      Kinds kinds{"Struct:Net", "Vec", "Struct:" + path.substr(0, path.find('s'))};
      kinds.resize(static_cast<std::size_t>(std::count(path.begin(), path.end(), '.')) + 1,
                   "Struct:Down");
      other_module.push_back(tensor.with_container(Container(std::move(kinds))));
    }
    const Snapshots other_file = back.save(other_module).value();
    expect_loads(there, other_module, other_file);
    for (const TensorSnapshot& tensor : table.module()) {
      ASSERT_NE(other_file.find(tensor.full_path()), nullptr);
      expect_same(*other_file.find(tensor.full_path()), tensor);
    }
  }
}

}  // namespace
}  // namespace andiron
