// SPDX-License-Identifier: MIT OR Apache-2.0
// Tables of rules, in both directions.
#include <gtest/gtest.h>

#include <memory>

#include "andiron/adapter.h"
#include "tests/adapters/list_lookup.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

using test::counting;
using test::expect_list;
using test::expect_loads;
using test::expect_same;
using test::Floats;
using test::floats_of;
using test::in;
using test::ListLookup;
using test::load_error;
using test::loaded;
using test::rename_rule;
using test::saved;
using test::tensor_of;
using Names = std::vector<std::string>;
using Kinds = std::vector<std::string>;

TEST(RuleAdapter, TriesRulesInOrderUntilOneHasItsTensors) {
  const RuleAdapter adapter(
      {rename_rule("Norm", "a", "w"),
       {.module_type = "Norm", .from = {"b1", "b2"}, .to = {"w"}, .steps = {ConcatStep{0}}},
       rename_rule("Norm", "c", "w")},
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
  const RuleAdapter adapter({rename_rule("Norm", "a", "w"), rename_rule("Norm", "c", "w")}, true);
  ListLookup file(Snapshots{});
  EXPECT_FALSE(adapter.load({"n.w", in("Struct:Norm")}, file).value());
  EXPECT_EQ(file.asked(), (Names{"n.w", "n.a", "n.c"}));
}

TEST(RuleAdapter, LoadsWhatItSavedWhenRulesExchangeNames) {
  const std::vector<AdapterRule> rules{rename_rule("Norm", "a", "b"),
                                       rename_rule("Norm", "b", "a")};
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
      rename_rule("Norm", "a", "b"),
      rename_rule("Norm", "b", "c"),
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
  const auto adapter = PyTorchToBurnAdapter().with_rule(rename_rule("Linear", "kernel", "weight"));
  EXPECT_EQ(loaded(adapter, place, counting("fc.weight", {2, 3}))->shape(), (Shape{3, 2}));
  EXPECT_EQ(loaded(adapter, place, counting("fc.kernel", {2, 3}))->shape(), (Shape{2, 3}));
  const auto twice = PyTorchToBurnAdapter().with_rule(rename_rule("Linear", "weight", "weight"));
  EXPECT_EQ(loaded(twice, place, counting("fc.weight", {2, 3}))->shape(), (Shape{2, 3}));
}

TEST(RuleAdapter, Chains) {
  const ChainAdapter chain =
      RuleAdapter({rename_rule("Norm", "a", "b")}, true).chain(FloatCastAdapter::to(DType::f16));
  const TensorSnapshot stored = saved(chain, counting("n.a", {2}).with_container(in("Norm")));
  EXPECT_EQ(stored.full_path(), "n.a");
  const TensorSnapshot renamed =
      saved(chain, counting("n.a", {2}).with_container(in("Struct:Norm")));
  EXPECT_EQ(renamed.full_path(), "n.b");
  EXPECT_EQ(renamed.dtype(), DType::f16);
  const ChainAdapter with_own_rule = PyTorchToBurnAdapter()
                                         .with_rule(rename_rule("Norm", "a", "b"))
                                         .chain(RuleAdapter({rename_rule("Norm", "b", "c")}, true));
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

const Kinds attention_kinds{"Struct:Net", "Vec", "Struct:Projections"};
const Kinds projection_kinds{"Struct:Net", "Vec", "Struct:Projections", "Struct:Linear"};

// PyTorch's attention, of which each module has two.
const AdapterRule in_proj{.module_type = "Projections",
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

// ---- Numbers ----

const AdapterRule stacked_cells{.module_type = "Stack",
                                .from = {"weight_l*"},
                                .to = {"cells.*.in", "cells.*.out"},
                                .steps = {SplitStep{0}}};

Snapshots cells(const Names& numbers) {
  Snapshots module;
  for (const std::string& number : numbers) {
    for (const char* name : {".in", ".out"}) {
      module.push_back(
          counting("s.cells." + number + name, {1}, float(module.size()))
              .with_container(Container({"Struct:Net", "Struct:Stack", "Vec", "Struct:Cell"})));
    }
  }
  return module;
}

TEST(RuleAdapter, MakesATensorForEachNumber) {
  const Snapshots module = cells({"0", "1", "10", "9"});
  const auto to = BurnToPyTorchAdapter().with_rule(stacked_cells);
  const auto from = PyTorchToBurnAdapter().with_rule(stacked_cells);
  ASSERT_TRUE(to.status());
  const Snapshots file = to.save(module).value();
  ASSERT_EQ(file.keys(), (Names{"s.weight_l0", "s.weight_l1", "s.weight_l10", "s.weight_l9"}));
  EXPECT_EQ(floats_of(file[2]), (Floats{4, 5}));
  EXPECT_EQ(file[2].container(), in("Struct:Stack"));
  expect_loads(from, module, file);
}

TEST(RuleAdapter, PutsNumbersIntoMessages) {
  Snapshots module = cells({"0", "12"});
  module.remove_if(
      [](const TensorSnapshot& tensor) { return tensor.full_path() == "s.cells.12.in"; });
  const Error error = RuleAdapter({stacked_cells}, false).save(module).error();
  EXPECT_EQ(error.code, ErrorCode::adapter_failed);
  EXPECT_EQ(error.tensor, "s.weight_l12");
  EXPECT_EQ(error.message,
            "it is built from 's.cells.12.in' and 's.cells.12.out', but 's.cells.12.in' is "
            "missing");
}

TEST(RuleAdapter, RenamesOneTensorForEachNumber) {
  const AdapterRule rule = rename_rule("Stack", "h.*.w", "cells.*.in");
  const Snapshots module = cells({"3"});
  const Snapshots file = RuleAdapter({rule}, false).save(module).value();
  EXPECT_EQ(file.keys(), (Names{"s.h.3.w", "s.cells.3.out"}));
  expect_loads(RuleAdapter({rule}, true), module, file);
}

TEST(RuleAdapter, SaysWhatIsWrongWithANumber) {
  const Error one_side = RuleAdapter({rename_rule("M", "a_l*", "b")}, true).status().error();
  EXPECT_EQ(one_side.message,
            "rule for 'M': a '*' stands for one number, the same in all names of a rule");
  EXPECT_EQ(one_side.found, "'b'");
  EXPECT_EQ(one_side.expected, "one '*' in each name, or none in any");
  EXPECT_EQ(RuleAdapter({rename_rule("M", "a*", "b1*")}, true).status().error().message,
            "rule for 'M': a '*' stands for a whole number, but has a digit beside it");
}

// ---- Saves into the names of a file ----

TEST(RuleAdapter, SavesBackWhereALoadWouldFindThem) {
  const auto adapter = BurnToPyTorchAdapter().with_rule(in_proj);
  const Snapshots module = attention_module();
  // The first layer's projections are joined in the file, the second's are not.
  Snapshots file = adapter.save(module).value();
  file.remove_if(
      [](const TensorSnapshot& tensor) { return tensor.full_path() == "layers.1.in_proj_weight"; });
  for (const TensorSnapshot& tensor : BurnToPyTorchAdapter().save(module).value()) {
    if (tensor.full_path().starts_with("layers.1.") && tensor.shape().rank() == 2) {
      file.push_back(tensor);
    }
  }
  for (const AnyAdapter& back :
       {AnyAdapter(adapter), AnyAdapter(adapter.chain(FloatCastAdapter::to(DType::f32)))}) {
    ListLookup lookup(file);
    const Snapshots saved = back->save_back(module, lookup).value();
    ASSERT_EQ(saved.size(), file.size());
    for (const TensorSnapshot& tensor : file) {
      ASSERT_NE(saved.find(tensor.full_path()), nullptr) << tensor.full_path();
      expect_same(*saved.find(tensor.full_path()), tensor);
    }
  }
}

TEST(RuleAdapter, SavesBackUnderTheModulesOwnNameIfTheFileHasThat) {
  const TensorSnapshot gamma = counting("n.gamma", {2}).with_container(in("Struct:LayerNorm"));
  for (const std::string name : {"n.gamma", "n.weight"}) {
    ListLookup lookup({counting(name, {2})});
    EXPECT_EQ(BurnToPyTorchAdapter().save_back(Snapshots({gamma}), lookup).value().keys(),
              Names{name});
  }
  ListLookup nothing(Snapshots{});
  EXPECT_EQ(BurnToPyTorchAdapter().save_back(Snapshots({gamma}), nothing).value().keys(),
            Names{"n.weight"});
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
            "it is built from 'a.q.weight', 'a.k.weight' and 'a.v.weight', but 'a.k.weight' is "
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
  EXPECT_EQ(error.expected, "dimension 0 to divide into 3 equal parts");
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
      Tensor::qfloat({}, {6, 2}, Bytes::copy(std::vector<std::byte>(9)).value()).value();
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
      {"a number on one side", {"M", {"a_l*"}, {"b"}, {}}},
      {"a number in some names", {"M", {"a_l*"}, {"b.*", "c"}, {SplitStep{0}}}},
      {"two numbers", {"M", {"a.*.b*"}, {"c.*.d*"}, {}}},
      {"two numbers on one side", {"M", {"a.*"}, {"c.*.d*"}, {}}},
      {"a number after a digit", {"M", {"a1*"}, {"b.*"}, {}}},
      {"a number before a digit", {"M", {"a.*"}, {"b.*2"}, {}}},
      {"a share of nothing", {"M", {"a"}, {"b", "c"}, {SplitStep{0, {1, 0}}}}},
      {"shares beyond all", {"M", {"a"}, {"b", "c"}, {SplitStep{0, {1, ~std::uint64_t{0}}}}}},
  };
  for (const auto& [what, rule] : bad) {
    for (const bool forward : {true, false}) {
      const RuleAdapter adapter({rename_rule("Norm", "a", "b"), rule}, forward);
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

}  // namespace
}  // namespace andiron
