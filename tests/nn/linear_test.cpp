// SPDX-License-Identifier: MIT OR Apache-2.0
// The linear layer: its parameters, how it sits in a module, and what it computes.
#include "andiron/nn/linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "andiron/nn/embedding.h"
#include "andiron/nn/functions.h"
#include "andiron/nn/swiglu.h"
#include "tests/core/quant_schemes.h"
#include "tests/nn/module_places.h"
#include "tests/nn/numbers.h"
#include "tests/support/param_numbers.h"

namespace andiron::nn {
namespace {

using test::numbers;
using Places = std::vector<std::string>;

static_assert(std::is_aggregate_v<Linear>);

TEST(Linear, HasBurnsNamesAndLayout) {
  EXPECT_EQ(places_of(LinearConfig(3, 2).init()),
            (Places{"weight f32 [3, 2] in Struct:Linear", "bias f32 [2] in Struct:Linear"}));
}

TEST(Linear, HasNoBiasUnlessAskedFor) {
  const Linear linear = LinearConfig(3, 2).with_bias(false).init();
  EXPECT_FALSE(linear.bias.has_value());
  EXPECT_EQ(places_of(linear), Places{"weight f32 [3, 2] in Struct:Linear"});
}

TEST(Linear, DrawsNothingBeforeItIsNeeded) {
  const Linear linear = LinearConfig(3, 2).init();
  EXPECT_EQ(linear.weight.shape(), Shape({3, 2}));
  EXPECT_FALSE(places_of(linear).empty());
  EXPECT_FALSE(linear.weight.is_initialized());
  EXPECT_FALSE(linear.bias->is_initialized());
}

TEST(Linear, StartsUniformWithinTheRootOfItsInputs) {
  seed(42);
  const Linear linear = LinearConfig(16, 400).init();
  for (const Param* param : {&linear.weight, &*linear.bias}) {
    const std::vector<float> values = numbers(*param);
    const auto [min, max] = std::minmax_element(values.begin(), values.end());
    EXPECT_GE(*min, -0.25F);
    EXPECT_LT(*min, -0.24F);
    EXPECT_LE(*max, 0.25F);
    EXPECT_GT(*max, 0.24F);
  }
}

TEST(Linear, TakesAnInitializer) {
  const Linear linear = LinearConfig(1, 2).with_initializer(Initializer::constant(7)).init();
  EXPECT_EQ(linear.weight.at<float>({0, 1}).value(), 7.0F);
  EXPECT_EQ(linear.bias->at<float>({1}).value(), 7.0F);
}

TEST(Linear, GivesXavierBothFans) {
  seed(42);
  const Linear linear = LinearConfig(20, 4).with_initializer(Initializer::xavier_uniform(2)).init();
  const std::vector<float> values = numbers(linear.weight);
  for (float value : values) EXPECT_LE(std::abs(value), 1.0F);
  EXPECT_GT(*std::max_element(values.begin(), values.end()), 0.9F);
}

TEST(Linear, ReportsSizesThatCannotBeWhenTheNumbersAreNeeded) {
  const std::uint64_t huge = std::uint64_t{1} << 40;
  const Linear linear = LinearConfig(huge, huge).init();
  EXPECT_EQ(linear.weight.val().error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(LinearConfig(0, 2).init().bias->val().error().code, ErrorCode::invalid_argument);
}

TEST(Linear, ConfigsCanBeKeptAndReused) {
  auto config = LinearConfig(3, 2).with_bias(false);
  const Linear first = config.init();
  const Linear second = config.with_bias(true).init();
  EXPECT_FALSE(first.bias.has_value());
  EXPECT_TRUE(second.bias.has_value());
  EXPECT_NE(first.weight.id(), second.weight.id());
}

TEST(Linear, TakesAnyTensorWhenItWasNotConfigured) {
  const Linear linear;
  EXPECT_FALSE(linear.weight.is_set());
  EXPECT_FALSE(linear.bias.has_value());
}

struct Encoder {
  std::vector<Linear> layers;
  ANDIRON_MODULE(Encoder, layers)
};

struct LinearNet {
  Encoder encoder;
  Linear output;
  ANDIRON_MODULE(LinearNet, encoder, output)

  static LinearNet init() {
    return {{{LinearConfig(2, 3).init(), LinearConfig(3, 3).with_bias(false).init()}},
            LinearConfig(3, 1).init()};
  }
};

TEST(Linear, IsAFieldOfAModule) {
  EXPECT_EQ(
      places_of(LinearNet::init()),
      (Places{
          "encoder.layers.0.weight f32 [2, 3] in Struct:LinearNet.Struct:Encoder.Vec.Struct:Linear",
          "encoder.layers.0.bias f32 [3] in Struct:LinearNet.Struct:Encoder.Vec.Struct:Linear",
          "encoder.layers.1.weight f32 [3, 3] in Struct:LinearNet.Struct:Encoder.Vec.Struct:Linear",
          "output.weight f32 [3, 1] in Struct:LinearNet.Struct:Linear",
          "output.bias f32 [1] in Struct:LinearNet.Struct:Linear"}));
}

TEST(Linear, GivesTheSameModelForTheSameSeed) {
  seed(5);
  const LinearNet first = LinearNet::init();
  seed(5);
  const LinearNet second = LinearNet::init();
  EXPECT_EQ(numbers(first.output.weight), numbers(second.output.weight));
}

// --- what it computes ---

using test::counting;
using test::expect_error;
using test::expect_near;
using test::expect_same;
using test::filled;
using test::random_tensor;
using test::tensor_of;
using test::vector_of;

Linear linear_of(Tensor weight, std::optional<Param> bias = {}) {
  return {.weight = Param(std::move(weight)), .bias = std::move(bias)};
}

TEST(Linear, MultipliesAndAdds) {
  const Linear linear =
      linear_of(tensor_of({3, 2}, {1, 2, 3, 4, 5, 6}), Param(vector_of({0.5, -1})));
  // 1 * 1 + 2 * 3 + 3 * 5 + 0.5 ...
  expect_near(linear.forward(tensor_of({2, 3}, {1, 2, 3, -1, 0, 2})), {2, 2}, {22.5, 27, 9.5, 9});
  // A vector, and leading dimensions.
  expect_near(linear.forward(vector_of({1, 2, 3})), {2}, {22.5, 27});
  expect_near(linear.forward(tensor_of({1, 2, 1, 3}, {1, 2, 3, -1, 0, 2})), {1, 2, 1, 2},
              {22.5, 27, 9.5, 9});
  const Linear plain = linear_of(tensor_of({3, 2}, {1, 2, 3, 4, 5, 6}));
  expect_near(plain.forward(vector_of({1, 2, 3})), {2}, {22, 28});
}

TEST(Linear, OfGpt2ComputesTheSame) {
  const Conv1D layer = {.weight = Param(tensor_of({3, 2}, {1, 2, 3, 4, 5, 6})),
                        .bias = Param(vector_of({0.5, -1}))};
  expect_near(layer.forward(vector_of({1, 2, 3})), {2}, {22.5, 27});
  expect_error(layer.forward(vector_of({1, 2})), ErrorCode::shape_mismatch,
               {"Conv1D", "[2]", "[3, 2]"});
}

TEST(Linear, TakesEmptyInputsAndSizes) {
  const Linear linear = linear_of(counting({3, 2}), Param(vector_of({5, 6})));
  expect_near(linear.forward(Tensor::zeros(DType::f32, {0, 3})), {0, 2}, {});
  const Linear from_nothing =
      linear_of(Tensor::zeros(DType::f32, {0, 2}).value(), Param(vector_of({5, 6})));
  expect_near(from_nothing.forward(Tensor::zeros(DType::f32, {2, 0})), {2, 2}, {5, 6, 5, 6});
  const Linear to_nothing = linear_of(Tensor::zeros(DType::f32, {3, 0}).value());
  expect_near(to_nothing.forward(counting({2, 3})), {2, 0}, {});
}

TEST(Linear, StaysExactInDoubles) {
  // In floats, 1e9 + 1 is 1e9.
  const Linear linear = linear_of(tensor_of<double>({2, 1}, {1, 1}));
  const Result<Tensor> sum = linear.forward(tensor_of<double>({2}, {1e9, 1.0 / 3}));
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(sum->dtype(), DType::f64);
  EXPECT_EQ(sum->to_vector<double>().value()[0], 1e9 + 1.0 / 3);
  // Its weights may be floats.
  const Result<Tensor> mixed = linear_of(filled({2, 1}, 1)).forward(filled<double>({2}, 1.0 / 3));
  EXPECT_EQ(mixed.value().to_vector<double>().value()[0], 1.0 / 3 + 1.0 / 3);
}

TEST(Linear, WidensSmallFloats) {
  const Tensor weight = random_tensor({5, 4}, 1);
  const Tensor bias = random_tensor({4}, 2);
  const Tensor input = random_tensor({3, 5}, 3);
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Tensor small = cast(weight, dtype).value();
    const Tensor small_bias = cast(bias, dtype).value();
    const Linear stored = linear_of(small, Param(small_bias));
    const Linear widened =
        linear_of(cast(small, DType::f32).value(), Param(cast(small_bias, DType::f32).value()));
    expect_same(stored.forward(input), widened.forward(input));
    // An input of that dtype gives floats too.
    const Result<Tensor> from_small = stored.forward(cast(input, dtype));
    EXPECT_EQ(from_small.value().dtype(), DType::f32);
    expect_same(from_small, widened.forward(cast(cast(input, dtype), DType::f32)));
  }
}

TEST(Linear, WidensSmallFloatsInParts) {
  // More rows than are widened at a time.
  const Tensor wide = random_tensor({601, 701}, 1);
  const Param bias(random_tensor({701}, 2));
  const Tensor input = random_tensor({3, 601}, 3);
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Tensor small = cast(wide, dtype).value();
    const Tensor widened = cast(small, DType::f64).value();
    const Result<Tensor> exact = matmul(cast(input, DType::f64), widened);
    expect_near(linear_of(small).forward(input), exact, 1e-4);
    expect_near(linear_of(small).forward(cast(input, DType::f64)), exact, 1e-12);
    expect_near(linear_of(small, bias).forward(input), add(exact, bias.val()), 1e-4);
    // Tied to an embedding, it is stored the other way round.
    Embedding embedding = {.weight = Param(cast(swap_dims(small, 0, 1), dtype).value())};
    Linear output = LinearConfig(601, 701).with_bias(false).init();
    tie_transposed(embedding.weight, output.weight).value();
    expect_near(output.forward(input), exact, 1e-4);
  }
  for (const Shape& empty : {Shape({0, 2}), Shape({2, 0})}) {
    const Linear layer = linear_of(Tensor::zeros(DType::f16, empty).value());
    const Tensor nothing = Tensor::zeros(DType::f32, {3, empty[0]}).value();
    expect_near(layer.forward(nothing), {3, empty[1]}, test::Values(3 * empty[1], 0));
  }
}

TEST(Linear, IsComputedWithAnEmbeddingThatItIsTiedTo) {
  Embedding embedding = {.weight = Param(random_tensor({7, 3}, 1))};
  Linear output = LinearConfig(3, 7).with_bias(false).init();
  tie_transposed(embedding.weight, output.weight).value();
  ASSERT_TRUE(output.weight.is_transposed());
  const Tensor input = random_tensor({4, 3}, 2);
  const Result<Tensor> turned = swap_dims(embedding.weight.val(), 0, 1);
  expect_near(output.forward(input), matmul(input, turned));
  expect_near(output.forward(cast(input, DType::f64)), matmul(cast(input, DType::f64), turned));
  // A change of one is seen by the other.
  embedding.weight.set_val(filled({7, 3}, 2));
  expect_near(output.forward(filled({1, 3}, 1)), {1, 7}, {6, 6, 6, 6, 6, 6, 6});
  expect_error(output.forward(filled({1, 7}, 1)), ErrorCode::shape_mismatch, {"[1, 7]", "[3, 7]"});
}

// A quantized matrix of random values, with scales from 0.1 on.
Tensor quantized_matrix(const QuantScheme& scheme, const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> payload(test::size_of(scheme, shape));
  for (std::uint8_t& byte : payload) byte = static_cast<std::uint8_t>(random());
  std::size_t scales = 1;
  for (std::size_t d = 0; scheme.has_blocks && d < 2; ++d) {
    const std::size_t from_last = 1 - d;
    const std::uint64_t extent =
        from_last < scheme.block.rank ? scheme.block.size[scheme.block.rank - 1 - from_last] : 1;
    scales *= (shape[d] + extent - 1) / extent;
  }
  if (scheme.has_blocks && scheme.has_tensor_scale) ++scales;
  for (std::size_t i = 0; i < scales; ++i) {
    const float scale = 0.1F + static_cast<float>(i % 10) / 10;
    std::memcpy(payload.data() + payload.size() - (scales - i) * sizeof scale, &scale,
                sizeof scale);
  }
  return Tensor::qfloat(scheme, shape, Bytes::own(std::move(payload))).value();
}

void expect_as_dequantized(const QuantScheme& scheme, const Shape& shape) {
  SCOPED_TRACE(quant_scheme_text(scheme) + " " + shape.to_string());
  const Tensor weight = quantized_matrix(scheme, shape, 1);
  const Result<Tensor> plain = dequantize(weight);
  ASSERT_TRUE(plain.ok()) << plain.error();
  const Param bias(random_tensor({shape[1]}, 2));
  const Linear linear = linear_of(weight, bias);
  const Linear expected = linear_of(*plain, bias);
  const Tensor input = random_tensor({3, shape[0]}, 3);
  // Sums of large numbers, in another order.
  const double tolerance = 2e-3;
  expect_near(linear.forward(input), expected.forward(input), tolerance);
  expect_near(linear.forward(cast(input, DType::f64)), expected.forward(cast(input, DType::f64)),
              1e-9);
  expect_near(linear_of(weight).forward(input), linear_of(*plain).forward(input), tolerance);
}

TEST(Linear, ComputesWithQuantizedWeights) {
  const QuantScheme schemes[] = {test::per_tensor(QuantValue::q8s, QuantStore::native),
                                 test::per_tensor(QuantValue::q8f, QuantStore::packed_u32),
                                 test::per_tensor(QuantValue::q4s, QuantStore::packed_u32),
                                 test::per_tensor(QuantValue::q2s, QuantStore::packed_u32),
                                 test::per_tensor(QuantValue::e2m1, QuantStore::packed_native),
                                 test::per_tensor(QuantValue::q4s, QuantStore::packed_u32, 1)};
  for (const QuantScheme& scheme : schemes) {
    expect_as_dequantized(scheme, {37, 19});
    for (const QuantBlock& block :
         {test::block_of({16}), test::block_of({5}), test::block_of({2, 4}),
          test::block_of({32, 32}), test::block_of({3, 7}), test::block_of({8, 1})}) {
      const QuantScheme blocks = test::per_block(scheme, block, QuantParam::f32);
      expect_as_dequantized(blocks, {37, 19});
      expect_as_dequantized(test::with_tensor_scale(blocks, QuantParam::f32), {16, 32});
    }
  }
}

TEST(Linear, ComputesWithQuantizedWeightsOfManyRows) {
  // More than are dequantized at a time, and no multiple of the blocks.
  const QuantScheme scheme = test::per_tensor(QuantValue::q4s, QuantStore::packed_u32);
  for (const QuantBlock& block : {test::block_of({32}), test::block_of({7, 32})}) {
    expect_as_dequantized(test::per_block(scheme, block, QuantParam::f32), {601, 601});
  }
  expect_as_dequantized(scheme, {601, 601});
}

TEST(Linear, RefusesWhatDoesNotFit) {
  const Linear linear = LinearConfig(3, 2).init();
  expect_error(linear.forward(counting({4, 5})), ErrorCode::shape_mismatch,
               {"Linear", "[4, 5]", "[3, 2]"});
  expect_error(linear.forward(tensor_of({}, {1})), ErrorCode::shape_mismatch, {"Linear", "[]"});
  expect_error(linear_of(counting({3})).forward(counting({3})), ErrorCode::shape_mismatch,
               {"Linear", "[3]", "[d_input, d_output]"});
  expect_error(linear_of(counting({3, 2}), Param(counting({3}))).forward(counting({3})),
               ErrorCode::shape_mismatch, {"Linear", "bias", "[3]", "[2]"});
  expect_error(linear.forward(Tensor::zeros(DType::i64, {3})), ErrorCode::dtype_mismatch, {"i64"});
  expect_error(linear_of(Tensor::zeros(DType::i8, {3, 2}).value()).forward(counting({3})),
               ErrorCode::dtype_mismatch, {"i8"});
  expect_error(Linear().forward(counting({3})), ErrorCode::missing_tensor);
  expect_error(linear_of(counting({3, 2}), Param()).forward(counting({3})),
               ErrorCode::missing_tensor);
  expect_error(LinearConfig(3, test::huge_size).init().forward(counting({3})),
               ErrorCode::invalid_argument);
}

TEST(SwiGlu, GatesOneLayerByTheOther) {
  const SwiGlu layer = {.linear_inner = linear_of(tensor_of({1, 2}, {1, -2})),
                        .linear_outer = linear_of(tensor_of({1, 2}, {3, 4}))};
  const auto silu_of = [](double x) { return x / (1 + std::exp(-x)); };
  expect_near(layer.forward(tensor_of({2, 1}, {1, 0.5})), {2, 2},
              {silu_of(1) * 3, silu_of(-2) * 4, silu_of(0.5) * 1.5, silu_of(-1) * 2});
  EXPECT_EQ(places_of(SwiGluConfig(2, 3).init()),
            (Places{"linear_inner.weight f32 [2, 3] in Struct:SwiGlu.Struct:Linear",
                    "linear_outer.weight f32 [2, 3] in Struct:SwiGlu.Struct:Linear"}));
  EXPECT_TRUE(SwiGluConfig(2, 3).with_bias(true).init().linear_outer.bias.has_value());
  expect_error(SwiGluConfig(2, 3).init().forward(counting({1, 3})), ErrorCode::shape_mismatch,
               {"[1, 3]", "[2, 3]"});
}

}  // namespace
}  // namespace andiron::nn
