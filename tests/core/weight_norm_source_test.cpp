// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/core/weight_norm_source.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/sample_net.h"

namespace andiron::detail {
namespace {

TensorSnapshot floats(Shape shape, const std::vector<float>& values) {
  return TensorSnapshot("w", Tensor::from_values<float>(std::move(shape), values).value());
}

std::vector<float> folded(const TensorSnapshot& magnitude, const TensorSnapshot& direction) {
  return weight_of_weight_norm(magnitude, direction)
      .value()
      .read()
      .value()
      .to_vector<float>()
      .value();
}

TEST(WeightNormSource, ScalesEachRowToItsMagnitude) {
  EXPECT_EQ(folded(floats({2, 1}, {10, 2}), floats({2, 2}, {3, 4, 0, 5})),
            (std::vector<float>{6, 8, 0, 2}));
}

TEST(WeightNormSource, TheDimensionOfTheMagnitudeDecides) {
  EXPECT_EQ(folded(floats({1, 2}, {10, 2}), floats({2, 2}, {3, 0, 4, 5})),
            (std::vector<float>{6, 0, 8, 2}));
  EXPECT_EQ(folded(floats({1, 2, 1}, {5, 1}), floats({2, 2, 1}, {3, 1, 4, 0})),
            (std::vector<float>{3, 1, 4, 0}));
}

TEST(WeightNormSource, OneMagnitudeIsThatOfTheWhole) {
  const TensorSnapshot direction = floats({2, 2}, {2, 4, 5, 6});  // of norm 9
  EXPECT_EQ(folded(floats({}, {18}), direction), (std::vector<float>{4, 8, 10, 12}));
  EXPECT_EQ(folded(floats({1, 1}, {18}), direction), (std::vector<float>{4, 8, 10, 12}));
}

TEST(WeightNormSource, ADirectionOfZerosGivesNoNumbers) {
  for (const float value : folded(floats({1, 1}, {1}), floats({1, 2}, {0, 0}))) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(WeightNormSource, ReadsAnyPartOfALargeWeight) {
  std::vector<float> values(40'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 3;
  const TensorSnapshot direction = floats({4, 10'000}, values);
  const TensorSnapshot weight =
      weight_of_weight_norm(floats({4, 1}, {1, 2, 3, 4}), direction).value();
  const std::vector<float> whole = weight.read().value().to_vector<float>().value();
  std::vector<float> part(3);
  weight.read_part(19'999 * sizeof(float), std::as_writable_bytes(std::span(part))).value();
  EXPECT_EQ(part, (std::vector<float>{whole[19'999], whole[20'000], whole[20'001]}));
  double square = 0;
  for (std::size_t i = 30'000; i < 40'000; ++i) square += double{whole[i]} * whole[i];
  EXPECT_NEAR(std::sqrt(square), 4, 1e-5);
}

TEST(WeightNormSource, KeepsTheDtypeOfTheDirection) {
  const TensorSnapshot half = floats({1, 2}, {3, 4}).cast(DType::bf16).value();
  const TensorSnapshot weight = weight_of_weight_norm(floats({1, 1}, {10}), half).value();
  EXPECT_EQ(weight.dtype(), DType::bf16);
  EXPECT_EQ(weight.cast(DType::f32).value().read().value().to_vector<float>().value(),
            (std::vector<float>{6, 8}));
}

TEST(WeightNormSource, KnowsItsPartsByTheirShapes) {
  EXPECT_TRUE(are_parts_of_weight_norm({}, {3, 2}));
  EXPECT_TRUE(are_parts_of_weight_norm({3, 1}, {3, 2}));
  EXPECT_TRUE(are_parts_of_weight_norm({1, 2}, {3, 2}));
  EXPECT_FALSE(are_parts_of_weight_norm({3, 2}, {3, 2}));
  EXPECT_FALSE(are_parts_of_weight_norm({2, 1}, {3, 2}));
  EXPECT_FALSE(are_parts_of_weight_norm({3}, {3, 2}));
}

}  // namespace
}  // namespace andiron::detail
