// SPDX-License-Identifier: MIT OR Apache-2.0
// The embedding: its parameter and what it finds.
#include "andiron/nn/embedding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "andiron/nn/functions.h"
#include "tests/core/quant_schemes.h"
#include "tests/nn/module_places.h"
#include "tests/nn/numbers.h"

namespace andiron::nn {
namespace {

static_assert(std::is_aggregate_v<Embedding>);

TEST(Embedding, HasBurnsNamesAndLayout) {
  const Embedding embedding = EmbeddingConfig(10, 4).init();
  EXPECT_EQ(places_of(embedding),
            std::vector<std::string>{"weight f32 [10, 4] in Struct:Embedding"});
  EXPECT_FALSE(embedding.weight.is_initialized());
}

TEST(Embedding, StartsNormal) {
  seed(42);
  const Embedding embedding = EmbeddingConfig(100, 100).init();
  double squares = 0;
  const std::span<const float> values = embedding.weight.as<float>().value();
  for (const float value : values) {
    squares += static_cast<double>(value) * value;
  }
  EXPECT_NEAR(squares / 10000, 1, 0.15);
}

TEST(Embedding, TakesAnInitializer) {
  const Embedding embedding =
      EmbeddingConfig(2, 2).with_initializer(Initializer::constant(3)).init();
  EXPECT_EQ(embedding.weight.at<float>({1, 1}).value(), 3.0F);
}

TEST(Embedding, ReportsBadArgumentsWhenTheNumbersAreNeeded) {
  const std::uint64_t huge = std::uint64_t{1} << 40;
  EXPECT_EQ(EmbeddingConfig(huge, huge).init().weight.val().error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(EmbeddingConfig(2, 2)
                .with_initializer(Initializer::xavier_normal(1))
                .init()
                .weight.val()
                .error()
                .code,
            ErrorCode::invalid_argument);
}

// --- what it finds ---

using test::expect_error;
using test::expect_near;
using test::expect_same;
using test::tensor_of;

Embedding table_of(Tensor weight) { return {.weight = Param(std::move(weight))}; }

TEST(Embedding, FindsTheRowsOfItsIndices) {
  const Embedding embedding = table_of(tensor_of({3, 2}, {1, 2, 3, 4, 5, 6}));
  expect_near(embedding.forward(tensor_of<std::int64_t>({2, 2}, {2, 0, 1, 2})), {2, 2, 2},
              {5, 6, 1, 2, 3, 4, 5, 6}, 0);
  expect_near(embedding.forward(tensor_of<std::int64_t>({}, {1})), {2}, {3, 4}, 0);
  expect_near(embedding.forward(Tensor::zeros(DType::i64, {2, 0})), {2, 0, 2}, {}, 0);
}

TEST(Embedding, TakesEveryIntegerDtype) {
  const Embedding embedding = table_of(tensor_of({3, 1}, {7, 8, 9}));
  for (const Tensor& indices :
       {tensor_of<std::uint8_t>({2}, {2, 1}), tensor_of<std::int8_t>({2}, {2, 1}),
        tensor_of<std::uint16_t>({2}, {2, 1}), tensor_of<std::int16_t>({2}, {2, 1}),
        tensor_of<std::uint32_t>({2}, {2, 1}), tensor_of<std::int32_t>({2}, {2, 1}),
        tensor_of<std::uint64_t>({2}, {2, 1}), tensor_of<std::int64_t>({2}, {2, 1})}) {
    expect_near(embedding.forward(indices), {2, 1}, {9, 8}, 0);
  }
}

TEST(Embedding, GivesFloatsOfAnyTable) {
  const Tensor weight = test::random_tensor({4, 3}, 1);
  const Tensor indices = tensor_of<std::int64_t>({2}, {3, 0});
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Tensor small = cast(weight, dtype).value();
    expect_same(table_of(small).forward(indices),
                table_of(cast(small, DType::f32).value()).forward(indices));
  }
  const Tensor exact = cast(weight, DType::f64).value();
  EXPECT_EQ(table_of(exact).forward(indices).value().dtype(), DType::f64);
  expect_near(table_of(test::misaligned(weight)).forward(indices),
              table_of(weight).forward(indices), 0);
  const QuantScheme scheme = test::per_tensor(QuantValue::q8s, QuantStore::native);
  const std::vector<std::uint8_t> payload = {1, 2, 3, 4, 0, 0, 0, 63};  // a scale of 0.5
  const Tensor quantized = Tensor::qfloat(scheme, {4, 1}, Bytes::own(payload)).value();
  expect_near(table_of(quantized).forward(indices), {2, 1}, {2, 0.5}, 0);
}

TEST(Embedding, RefusesIndicesOutsideTheTable) {
  const Embedding embedding = EmbeddingConfig(3, 2).init();
  expect_error(embedding.forward(tensor_of<std::int64_t>({1}, {3})), ErrorCode::invalid_argument,
               {"Embedding", "the index 3", "0 to 2", "[3, 2]"});
  expect_error(embedding.forward(tensor_of<std::int32_t>({2}, {0, -1})),
               ErrorCode::invalid_argument, {"Embedding", "below 0"});
  const Tensor largest = Tensor::from_values<std::uint64_t>({1}, {~std::uint64_t{0}}).value();
  expect_error(embedding.forward(largest), ErrorCode::invalid_argument);
  const Tensor smallest = Tensor::from_values<std::int64_t>({1}, {INT64_MIN}).value();
  expect_error(embedding.forward(smallest), ErrorCode::invalid_argument);
  expect_error(EmbeddingConfig(0, 2).init().forward(tensor_of<std::int64_t>({1}, {0})),
               ErrorCode::invalid_argument);
}

TEST(Embedding, RefusesWhatIsNoIndexOrNoTable) {
  const Tensor indices = tensor_of<std::int64_t>({1}, {0});
  const Embedding embedding = EmbeddingConfig(3, 2).init();
  for (const DType dtype : {DType::f32, DType::boolean, DType::f16}) {
    expect_error(embedding.forward(Tensor::zeros(dtype, {1})), ErrorCode::dtype_mismatch,
                 {"Embedding", dtype_name(dtype), "i64"});
  }
  expect_error(Embedding().forward(indices), ErrorCode::missing_tensor);
  expect_error(table_of(test::counting({3})).forward(indices), ErrorCode::shape_mismatch,
               {"Embedding", "[3]", "[n_embedding, d_model]"});
  expect_error(table_of(Tensor::zeros(DType::i32, {3, 2}).value()).forward(indices),
               ErrorCode::dtype_mismatch, {"i32"});
}

}  // namespace
}  // namespace andiron::nn
