// SPDX-License-Identifier: MIT OR Apache-2.0
// The embedding.
#include "andiron/nn/embedding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/nn/module_places.h"

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
  for (float value : embedding.weight.as<float>().value()) {
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

}  // namespace
}  // namespace andiron::nn
