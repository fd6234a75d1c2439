// SPDX-License-Identifier: MIT OR Apache-2.0
// Adapters that change how numbers are stored.
#include <gtest/gtest.h>

#include "andiron/adapter.h"
#include "tests/adapters/list_lookup.h"

namespace andiron {
namespace {

using test::counting;
using test::Floats;
using test::floats_of;
using test::in;
using test::ListLookup;
using test::tensor_of;

TensorSnapshot stored_as(DType dtype, const Floats& values) {
  return tensor_of("m.w", Shape{values.size()}, values).cast(dtype).value();
}

TensorSnapshot qfloat() {
  return TensorSnapshot(
      "m.w", Tensor::qfloat({}, {2, 2}, Bytes::copy(std::vector<std::byte>(7)).value()).value());
}

TensorSnapshot save_in(const Adapter& adapter, const TensorSnapshot& tensor,
                       const Container& container = in("Struct:Linear")) {
  return adapter.save(Snapshots({tensor.with_container(container)})).value()[0];
}

TensorSnapshot load_in(const Adapter& adapter, const TensorSnapshot& tensor,
                       const Container& container = in("Struct:Linear")) {
  ListLookup file({tensor});
  return adapter.load({tensor.full_path(), container}, file).value().value();
}

Floats as_floats(const TensorSnapshot& tensor) {
  return floats_of(tensor.cast(DType::f32).value());
}

// ---- Half precision ----

TEST(HalfPrecisionAdapter, SavesSingleAsHalf) {
  const TensorSnapshot half = save_in(HalfPrecisionAdapter(), stored_as(DType::f32, {1, -2, 0.5}));
  EXPECT_EQ(half.dtype(), DType::f16);
  EXPECT_EQ(half.byte_size(), 6U);
  EXPECT_EQ(half.full_path(), "m.w");
  EXPECT_EQ(as_floats(half), (Floats{1, -2, 0.5}));
}

TEST(HalfPrecisionAdapter, LoadsHalfAsSingle) {
  const TensorSnapshot single =
      load_in(HalfPrecisionAdapter(), stored_as(DType::f16, {1, -2, 0.5}));
  EXPECT_EQ(single.dtype(), DType::f32);
  EXPECT_EQ(single.byte_size(), 12U);
  EXPECT_EQ(floats_of(single), (Floats{1, -2, 0.5}));
}

TEST(HalfPrecisionAdapter, DoesNotTurnAroundByWhatItFinds) {
  EXPECT_EQ(load_in(HalfPrecisionAdapter(), stored_as(DType::f32, {1})).dtype(), DType::f32);
  EXPECT_EQ(save_in(HalfPrecisionAdapter(), stored_as(DType::f16, {1})).dtype(), DType::f16);
}

TEST(HalfPrecisionAdapter, BringsBackWhatItSavedButForRounding) {
  const Floats values{0.1F, -3.14159F, 1000.5F, 0};
  const HalfPrecisionAdapter adapter;
  const Floats back = floats_of(load_in(adapter, save_in(adapter, stored_as(DType::f32, values))));
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(back[i], values[i], 0.3);
}

TEST(HalfPrecisionAdapter, ConvertsTheKindsOfModulesWhereItIsSafe) {
  const HalfPrecisionAdapter adapter;
  EXPECT_EQ(adapter.modules().size(), 25U);
  for (const char* kind : {"Struct:Linear",
                           "Struct:Conv1D",
                           "Struct:Embedding",
                           "Struct:Conv1d",
                           "Struct:Conv2d",
                           "Struct:Conv3d",
                           "Struct:ConvTranspose1d",
                           "Struct:ConvTranspose2d",
                           "Struct:ConvTranspose3d",
                           "Struct:DeformConv2d",
                           "Struct:LayerNorm",
                           "Struct:GroupNorm",
                           "Struct:InstanceNorm",
                           "Struct:RmsNorm",
                           "Struct:PRelu",
                           "Struct:nn.MultiHeadAttention",
                           "Struct:nn.PositionWiseFeedForward",
                           "Struct:nn.Lstm",
                           "Struct:nn.Gru",
                           "Struct:nn.BiLstm",
                           "Struct:nn.BiGru",
                           "Struct:nn.LstmStack",
                           "Struct:nn.GruStack",
                           "Struct:nn.BiLstmStack",
                           "Struct:nn.BiGruStack"}) {
    EXPECT_TRUE(adapter.modules().contains(kind)) << kind;
    EXPECT_EQ(save_in(adapter, stored_as(DType::f32, {1}), in(kind)).dtype(), DType::f16) << kind;
  }
}

TEST(HalfPrecisionAdapter, LeavesBatchNormAlone) {
  for (const char* kind : {"Struct:BatchNorm", "Struct:Net", "Enum:Linear", "Vec"}) {
    EXPECT_EQ(save_in(HalfPrecisionAdapter(), stored_as(DType::f32, {1}), in(kind)).dtype(),
              DType::f32)
        << kind;
  }
}

TEST(HalfPrecisionAdapter, LooksPastListsForTheModule) {
  const Container weights({"Struct:Net", "Struct:Linear", "Vec"});
  EXPECT_EQ(save_in(HalfPrecisionAdapter(), stored_as(DType::f32, {1}), weights).dtype(),
            DType::f16);
}

TEST(HalfPrecisionAdapter, LeavesTensorsOutsideOfModulesAlone) {
  for (const Container& container : {Container(), Container({"Vec", "Tuple"})}) {
    EXPECT_EQ(save_in(HalfPrecisionAdapter(), stored_as(DType::f32, {1}), container).dtype(),
              DType::f32);
    EXPECT_EQ(load_in(HalfPrecisionAdapter(), stored_as(DType::f16, {1}), container).dtype(),
              DType::f16);
  }
}

TEST(HalfPrecisionAdapter, LeavesOtherDtypesAlone) {
  for (const DType dtype : {DType::f64, DType::bf16, DType::i32, DType::u8, DType::boolean}) {
    EXPECT_EQ(save_in(HalfPrecisionAdapter(), stored_as(dtype, {1})).dtype(), dtype);
    EXPECT_EQ(load_in(HalfPrecisionAdapter(), stored_as(dtype, {1})).dtype(), dtype);
  }
  EXPECT_EQ(save_in(HalfPrecisionAdapter(), qfloat()).dtype(), DType::qfloat);
  EXPECT_EQ(load_in(HalfPrecisionAdapter(), qfloat()).dtype(), DType::qfloat);
}

TEST(HalfPrecisionAdapter, TakesAKindOfModuleOut) {
  for (const char* name : {"LayerNorm", "Struct:LayerNorm"}) {
    const auto adapter = HalfPrecisionAdapter().without_module(name);
    EXPECT_TRUE(adapter.status());
    EXPECT_EQ(adapter.modules().size(), 24U);
    EXPECT_EQ(save_in(adapter, stored_as(DType::f32, {1}), in("Struct:LayerNorm")).dtype(),
              DType::f32);
    EXPECT_EQ(save_in(adapter, stored_as(DType::f32, {1})).dtype(), DType::f16);
  }
}

TEST(HalfPrecisionAdapter, RefusesToTakeOutWhatIsNotIn) {
  const auto adapter =
      HalfPrecisionAdapter().without_module("BatchNorm").without_module("Elsewhere");
  EXPECT_EQ(adapter.status().error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(adapter.status().error().found, "'Struct:BatchNorm'");
  EXPECT_EQ(adapter.chain(IdentityAdapter()).status().error().found, "'Struct:BatchNorm'");
}

TEST(HalfPrecisionAdapter, AddsAKindOfModule) {
  for (const char* name : {"BatchNorm", "Struct:BatchNorm"}) {
    const auto adapter = HalfPrecisionAdapter().with_module(name);
    EXPECT_EQ(adapter.modules().size(), 26U);
    EXPECT_EQ(save_in(adapter, stored_as(DType::f32, {1}), in("Struct:BatchNorm")).dtype(),
              DType::f16);
  }
}

TEST(HalfPrecisionAdapter, TellsEnumsFromStructs) {
  const auto adapter = HalfPrecisionAdapter().with_module("Enum:Attention");
  EXPECT_EQ(save_in(adapter, stored_as(DType::f32, {1}), in("Enum:Attention")).dtype(), DType::f16);
  EXPECT_EQ(save_in(adapter, stored_as(DType::f32, {1}), in("Struct:Attention")).dtype(),
            DType::f32);
}

TEST(HalfPrecisionAdapter, ChainsAfterTheTranspose) {
  const TensorSnapshot weight = counting("fc.weight", {2, 3});
  const TensorSnapshot stored =
      save_in(BurnToPyTorchAdapter().chain(HalfPrecisionAdapter()), weight);
  EXPECT_EQ(stored.dtype(), DType::f16);
  EXPECT_EQ(stored.shape(), (Shape{3, 2}));
  EXPECT_EQ(as_floats(stored), (Floats{0, 3, 1, 4, 2, 5}));
  const TensorSnapshot back = load_in(HalfPrecisionAdapter().chain(PyTorchToBurnAdapter()), stored);
  EXPECT_EQ(back.dtype(), DType::f32);
  EXPECT_EQ(back.shape(), (Shape{2, 3}));
  EXPECT_EQ(floats_of(back), floats_of(weight));
}

// ---- Casts ----

TEST(FloatCastAdapter, ConvertsExactly) {
  const auto adapter = FloatCastAdapter::to(DType::f16);
  const TensorSnapshot half = load_in(adapter, stored_as(DType::bf16, {1, -2.5, 0.125}));
  EXPECT_EQ(half.dtype(), DType::f16);
  EXPECT_EQ(as_floats(half), (Floats{1, -2.5, 0.125}));
}

TEST(FloatCastAdapter, ConvertsInEveryModuleBothWays) {
  for (const DType target : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const auto adapter = FloatCastAdapter::to(target);
    EXPECT_TRUE(adapter.status());
    for (const Container& container : {Container(), in("Struct:BatchNorm"), in("Vec")}) {
      for (const DType source : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8e5m2}) {
        EXPECT_EQ(load_in(adapter, stored_as(source, {1}), container).dtype(), target);
        EXPECT_EQ(save_in(adapter, stored_as(source, {1}), container).dtype(), target);
      }
    }
  }
}

TEST(FloatCastAdapter, LeavesOtherDtypesAlone) {
  const auto adapter = FloatCastAdapter::to(DType::f16);
  for (const DType dtype : {DType::i64, DType::u8, DType::boolean}) {
    EXPECT_EQ(load_in(adapter, stored_as(dtype, {1})).dtype(), dtype);
  }
  EXPECT_EQ(load_in(adapter, qfloat()).dtype(), DType::qfloat);
}

TEST(FloatCastAdapter, LendsWhatHasTheTargetDtypeAlready) {
  EXPECT_TRUE(load_in(FloatCastAdapter::to(DType::f32), stored_as(DType::f32, {1})).can_borrow());
}

TEST(FloatCastAdapter, ChainsAfterTheTranspose) {
  const auto adapter = PyTorchToBurnAdapter().chain(FloatCastAdapter::to(DType::f16));
  const TensorSnapshot weight = load_in(adapter, counting("fc.weight", {2, 3}));
  EXPECT_EQ(weight.dtype(), DType::f16);
  EXPECT_EQ(weight.shape(), (Shape{3, 2}));
  EXPECT_EQ(as_floats(weight), (Floats{0, 3, 1, 4, 2, 5}));
}

TEST(FloatCastAdapter, RefusesTargetsThatAreNoFloats) {
  for (const DType target :
       {DType::i32, DType::boolean, DType::qfloat, DType::f8e4m3fn, DType::c64, DType::raw}) {
    const auto adapter = FloatCastAdapter::to(target);
    const Error error = adapter.status().error();
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_NE(error.message.find("must be a float dtype"), std::string::npos);
    EXPECT_EQ(error.found, dtype_name(target));
    EXPECT_FALSE(adapter.save(Snapshots({counting("m.w", {1})})));
  }
}

}  // namespace
}  // namespace andiron
