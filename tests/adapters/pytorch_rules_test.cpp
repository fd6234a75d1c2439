// SPDX-License-Identifier: MIT OR Apache-2.0
// The PyTorch table, in both directions.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/apply.h"
#include "andiron/nn/linear.h"
#include "tests/adapters/list_lookup.h"

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
using test::loaded;
using test::saved;
using Names = std::vector<std::string>;

TEST(PyTorchToBurnAdapter, TransposesLinearWeights) {
  const auto weight = loaded(PyTorchToBurnAdapter(), {"fc.weight", in("Struct:Linear")},
                             counting("fc.weight", {10, 5}));
  EXPECT_EQ(weight->shape(), (Shape{5, 10}));
  const Floats values = floats_of(*weight);
  for (std::size_t row = 0; row < 5; ++row) {
    for (std::size_t column = 0; column < 10; ++column) {
      EXPECT_EQ(values[row * 10 + column], static_cast<float>(column * 5 + row));
    }
  }
}

TEST(PyTorchToBurnAdapter, LeavesLinearBiasesAlone) {
  const auto bias =
      loaded(PyTorchToBurnAdapter(), {"fc.bias", in("Struct:Linear")}, counting("fc.bias", {10}));
  expect_same(*bias, counting("fc.bias", {10}));
}

TEST(PyTorchToBurnAdapter, LeavesLinearWeightsOfOtherRanksAlone) {
  for (const Shape& shape : {Shape{6}, Shape{1, 2, 3}, Shape{}}) {
    const TensorSnapshot weight = counting("fc.weight", shape);
    expect_same(*loaded(PyTorchToBurnAdapter(), {"fc.weight", in("Struct:Linear")}, weight),
                weight);
  }
}

TEST(PyTorchToBurnAdapter, FindsNormsUnderPyTorchsNames) {
  for (const char* kind : {"Struct:BatchNorm", "Struct:LayerNorm", "Struct:GroupNorm",
                           "Struct:InstanceNorm", "Struct:RmsNorm"}) {
    const Snapshots file({counting("ln.weight", {3}), counting("ln.bias", {3}, 10)});
    const auto gamma = loaded(PyTorchToBurnAdapter(), {"ln.gamma", in(kind)}, file);
    ASSERT_TRUE(gamma) << kind;
    expect_same(*gamma, counting("ln.gamma", {3}));
    const auto beta = loaded(PyTorchToBurnAdapter(), {"ln.beta", in(kind)}, file);
    ASSERT_TRUE(beta) << kind;
    expect_same(*beta, counting("ln.beta", {3}, 10));
  }
}

TEST(PyTorchToBurnAdapter, FindsPReluUnderPyTorchsName) {
  expect_same(*loaded(PyTorchToBurnAdapter(), {"act.alpha", in("Struct:PRelu")},
                      counting("act.weight", {1}, 2)),
              counting("act.alpha", {1}, 2));
}

TEST(PyTorchToBurnAdapter, LooksForAPlacesOwnNameFirst) {
  ListLookup file({counting("ln.weight", {1}, 1), counting("ln.gamma", {1}, 2)});
  const Place place{"ln.gamma", in("Struct:LayerNorm")};
  EXPECT_EQ(floats_of(*PyTorchToBurnAdapter().load(place, file).value()), Floats{2});
  EXPECT_EQ(file.asked(), Names{"ln.gamma"});
}

TEST(PyTorchToBurnAdapter, RenamesOnASaveToo) {
  const PyTorchToBurnAdapter adapter;
  EXPECT_EQ(
      saved(adapter, counting("bn.weight", {1}).with_container(in("Struct:BatchNorm"))).full_path(),
      "bn.gamma");
  EXPECT_EQ(
      saved(adapter, counting("bn.bias", {1}).with_container(in("Struct:BatchNorm"))).full_path(),
      "bn.beta");
  EXPECT_EQ(saved(adapter, counting("bn.running_mean", {1}).with_container(in("Struct:BatchNorm")))
                .full_path(),
            "bn.running_mean");
}

TEST(BurnToPyTorchAdapter, TransposesLinearWeights) {
  const TensorSnapshot weight = saved(
      BurnToPyTorchAdapter(), counting("fc.weight", {5, 10}).with_container(in("Struct:Linear")));
  expect_same(weight, counting("fc.weight", {5, 10}).transpose(0, 1).value());
  EXPECT_EQ(weight.shape(), (Shape{10, 5}));
}

TEST(BurnToPyTorchAdapter, RenamesNormsWithinTheirPath) {
  const BurnToPyTorchAdapter adapter;
  for (const char* kind : {"Struct:BatchNorm", "Struct:LayerNorm", "Struct:GroupNorm",
                           "Struct:InstanceNorm", "Struct:RmsNorm"}) {
    const auto name = [&](const char* path) {
      return saved(adapter, counting(path, {1}).with_container(in(kind))).full_path();
    };
    EXPECT_EQ(name("a.b.0.gamma"), "a.b.0.weight");
    EXPECT_EQ(name("a.b.0.beta"), "a.b.0.bias");
    EXPECT_EQ(name("gamma"), "weight");
  }
}

TEST(BurnToPyTorchAdapter, FindsBurnsNamesOnALoad) {
  EXPECT_TRUE(loaded(BurnToPyTorchAdapter(), {"ln.weight", in("Struct:LayerNorm")},
                     counting("ln.gamma", {1})));
}

TEST(BurnToPyTorchAdapter, IsTheOtherDirectionOfTheSameTable) {
  const Snapshots module({counting("fc.weight", {2, 3}).with_container(in("Struct:Linear")),
                          counting("fc.bias", {3}).with_container(in("Struct:Linear")),
                          counting("bn.gamma", {2}).with_container(in("Struct:BatchNorm")),
                          counting("bn.beta", {2}).with_container(in("Struct:BatchNorm")),
                          counting("bn.running_mean", {2}).with_container(in("Struct:BatchNorm")),
                          counting("act.alpha", {1}).with_container(in("Struct:PRelu")),
                          counting("conv.weight", {2, 2}).with_container(in("Struct:Conv2d"))});
  const Snapshots file = BurnToPyTorchAdapter().save(module).value();
  EXPECT_EQ(file.keys(), (Names{"fc.weight", "fc.bias", "bn.weight", "bn.bias", "bn.running_mean",
                                "act.weight", "conv.weight"}));
  expect_loads(PyTorchToBurnAdapter(), module, file);
}

TEST(PyTorchAdapters, TransposeEveryDtype) {
  const Container linear = in("Struct:Linear");
  const TensorSnapshot numbers = counting("fc.weight", {2, 3}).with_container(linear);
  for (const DType dtype : {DType::f32, DType::i32, DType::f64, DType::u8, DType::bf16}) {
    const TensorSnapshot stored = numbers.cast(dtype).value();
    for (const TensorSnapshot& turned :
         {*loaded(PyTorchToBurnAdapter(), {"fc.weight", linear}, stored),
          saved(BurnToPyTorchAdapter(), stored)}) {
      EXPECT_EQ(turned.dtype(), dtype);
      EXPECT_EQ(turned.shape(), (Shape{3, 2}));
      EXPECT_EQ(floats_of(turned.cast(DType::f32).value()), (Floats{0, 3, 1, 4, 2, 5}));
    }
  }
}

TEST(PyTorchAdapters, TransposeByTheDefinitionAcrossTiles) {
  constexpr std::uint64_t rows = 70;
  constexpr std::uint64_t columns = 45;
  const auto turned = loaded(PyTorchToBurnAdapter(), {"weight", in("Struct:Linear")},
                             counting("weight", {rows, columns}));
  const Floats values = floats_of(*turned);
  for (std::uint64_t i = 0; i < rows * columns; ++i) {
    ASSERT_EQ(values[i], static_cast<float>((i % rows) * columns + i / rows));
  }
}

TEST(PyTorchAdapters, TakeAViewThatIsStoredTransposedAsItLies) {
  const TensorSnapshot stored = counting("fc.weight", {3, 2});
  const auto weight = loaded(PyTorchToBurnAdapter(), {"fc.weight", in("Struct:Linear")},
                             stored.transpose(0, 1).value());
  EXPECT_TRUE(weight->can_borrow());
  EXPECT_EQ(floats_of(*weight), floats_of(stored));
}

TEST(PyTorchAdapters, LeaveTensorsWithoutAModuleAlone) {
  for (const Container& container : {Container(), Container({"Vec", "Tuple"})}) {
    const TensorSnapshot weight = counting("fc.weight", {2, 3}).with_container(container);
    expect_same(*loaded(PyTorchToBurnAdapter(), {"fc.weight", container}, weight), weight);
    expect_same(saved(BurnToPyTorchAdapter(), weight), weight);
    EXPECT_FALSE(
        loaded(PyTorchToBurnAdapter(), {"ln.gamma", container}, counting("ln.weight", {1})));
  }
}

TEST(PyTorchAdapters, LookPastListsForTheModule) {
  const Container weights({"Struct:Net", "Struct:Linear", "Vec"});
  EXPECT_EQ(loaded(PyTorchToBurnAdapter(), {"fc.weight", weights}, counting("fc.weight", {2, 3}))
                ->shape(),
            (Shape{3, 2}));
}

TEST(PyTorchAdapters, PassQuantizedTensorsUnturned) {
  const std::vector<std::byte> payload(9, std::byte{7});
  for (const Tensor& data : {Tensor::qfloat({}, {2, 3}, Bytes::copy(payload).value()).value(),
                             Tensor::raw("Odd", {2, 3}, Bytes::copy(payload).value()).value()}) {
    const auto weight = TensorSnapshot("fc.weight", data).with_container(in("Struct:Linear"));
    const auto same = loaded(PyTorchToBurnAdapter(), {"fc.weight", in("Struct:Linear")}, weight);
    EXPECT_EQ(same->shape(), (Shape{2, 3}));
    EXPECT_EQ(same->byte_size(), 9U);
    EXPECT_EQ(saved(BurnToPyTorchAdapter(), weight).shape(), (Shape{2, 3}));
    const auto gamma = TensorSnapshot("ln.gamma", data).with_container(in("Struct:LayerNorm"));
    EXPECT_EQ(saved(BurnToPyTorchAdapter(), gamma).full_path(), "ln.weight");
  }
}

TEST(PyTorchAdapters, KeepIdAndContainer) {
  const auto weight =
      counting("bn.gamma", {2}).with_container(in("Struct:BatchNorm")).with_param_id(ParamId{5});
  const TensorSnapshot stored = saved(BurnToPyTorchAdapter(), weight);
  EXPECT_EQ(stored.param_id(), ParamId{5});
  EXPECT_EQ(stored.container(), in("Struct:BatchNorm"));
  EXPECT_EQ(
      loaded(PyTorchToBurnAdapter(), {"bn.gamma", in("Struct:BatchNorm")}, stored)->param_id(),
      ParamId{5});
}

TEST(PyTorchAdapters, TryRulesOfYourOwnFirst) {
  const AdapterRule rule{
      .module_type = "LayerNorm", .from = {"scale"}, .to = {"gamma"}, .steps = {}};
  const auto to_burn = PyTorchToBurnAdapter().with_rule(rule);
  const auto to_pytorch = BurnToPyTorchAdapter().with_rule(rule);
  const Place place{"ln.gamma", in("Struct:LayerNorm")};
  const TensorSnapshot gamma = counting("ln.gamma", {2}).with_container(place.container);
  EXPECT_EQ(saved(to_pytorch, gamma).full_path(), "ln.scale");
  EXPECT_TRUE(loaded(to_burn, place, counting("ln.scale", {2})));
  EXPECT_TRUE(loaded(to_burn, place, counting("ln.weight", {2})));
  EXPECT_EQ(
      floats_of(*loaded(to_burn, place,
                        Snapshots({counting("ln.weight", {1}, 1), counting("ln.scale", {1}, 2)}))),
      Floats{2});
  EXPECT_FALSE(loaded(PyTorchToBurnAdapter(), place, counting("ln.scale", {2})));
}

// ---- In a model ----

struct LowRank {
  Param down, up;
  ANDIRON_MODULE(LowRank, down, up)
};
struct Attention {
  std::variant<nn::Linear, LowRank> query, key, value;
  ANDIRON_MODULE(Attention, query, key, value)
};
struct Layers {
  std::map<std::string, Attention> layers;
  ANDIRON_MODULE(Layers, layers)
};

Layers one_layer(const std::string& key, float first) {
  const auto linear = [&](float at) {
    return nn::Linear{.weight = Param(counting("", {2, 3}, first + at).read().value())};
  };
  return {{{key, Attention{linear(0), linear(10), linear(20)}}}};
}

TEST(PyTorchAdapters, MoveModelsWithDotsInKeysAndVariantsLeftOut) {
  const AdapterRule in_proj{.module_type = "Attention",
                            .from = {"in_proj_weight"},
                            .to = {"query.weight", "key.weight", "value.weight"},
                            .steps = {SplitStep{0}, PermuteStep{{1, 0}}}};
  const AnyAdapter to_burn = PyTorchToBurnAdapter().with_rule(in_proj);
  const AnyAdapter to_pytorch = BurnToPyTorchAdapter().with_rule(in_proj);
  for (const std::string key : {"layer0", "layer.0", "a.layer.0"}) {
    SCOPED_TRACE(key);
    const Layers saved_model = one_layer(key, 100);
    const Snapshots file =
        collect(saved_model, {.adapter = to_pytorch, .skip_enum_variants = true}).value();
    EXPECT_EQ(file.keys(), Names{"layers." + key + ".in_proj_weight"});
    Layers model = one_layer(key, 0);
    apply(model, file, {.adapter = to_burn, .skip_enum_variants = true}).value();
    expect_list(collect(model).value(), collect(saved_model).value());
  }
}

}  // namespace
}  // namespace andiron
