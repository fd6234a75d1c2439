// SPDX-License-Identifier: MIT OR Apache-2.0
// First numbers: their spread, their repeatability, their laziness.
#include "andiron/nn/initializer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "tests/support/param_numbers.h"

namespace andiron::nn {
namespace {

using test::numbers;

ErrorCode code_of(const Param& param) {
  const Result<Tensor> value = param.val();
  return value ? ErrorCode::io : value.error().code;
}

struct Statistics {
  double min = 0;
  double max = 0;
  double mean = 0;
  double std = 0;
};

Statistics statistics_of(const Param& param) {
  const std::vector<float> values = numbers(param);
  double sum = 0;
  double squares = 0;
  for (float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const auto count = static_cast<double>(values.size());
  const double mean = sum / count;
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  return {*min, *max, mean, std::sqrt(squares / count - mean * mean)};
}

// Enough numbers that the tolerances below are more than ten standard errors wide.
const Shape many = {300, 300};

// All numbers lie within the bound, and they reach out to it on both sides.
void expect_uniform(const Param& param, double min, double max) {
  const Statistics found = statistics_of(param);
  const double width = max - min;
  EXPECT_GE(found.min, min - 1e-6 * width);
  EXPECT_LE(found.max, max + 1e-6 * width);
  EXPECT_LT(found.min, min + 0.01 * width);
  EXPECT_GT(found.max, max - 0.01 * width);
  EXPECT_NEAR(found.mean, (min + max) / 2, 0.02 * width);
  EXPECT_NEAR(found.std, width / std::sqrt(12.0), 0.02 * width);
}

void expect_normal(const Param& param, double mean, double std) {
  const Statistics found = statistics_of(param);
  EXPECT_NEAR(found.mean, mean, 0.04 * std);
  EXPECT_NEAR(found.std, std, 0.04 * std);
  EXPECT_LT(found.min, mean - 3 * std);
  EXPECT_GT(found.max, mean + 3 * std);
}

class InitializerTest : public testing::Test {
 protected:
  void SetUp() override { seed(42); }
};

TEST_F(InitializerTest, FillsWithOneNumber) {
  EXPECT_EQ(numbers(Initializer::constant(2.5).init({2, 2})), std::vector<float>(4, 2.5F));
  EXPECT_EQ(numbers(Initializer::ones().init({3})), std::vector<float>(3, 1.0F));
  EXPECT_EQ(numbers(Initializer::zeros().init({3})), std::vector<float>(3, 0.0F));
  EXPECT_EQ(numbers(Initializer::ones().init({})), std::vector<float>(1, 1.0F));
}

TEST_F(InitializerTest, DrawsUniformly) {
  expect_uniform(Initializer::uniform(-1, 3).init(many), -1, 3);
}

TEST_F(InitializerTest, DrawsNormally) {
  expect_normal(Initializer::normal(5, 0.5).init(many), 5, 0.5);
}

TEST_F(InitializerTest, KaimingScalesByOneFan) {
  expect_uniform(Initializer::kaiming_uniform(2).init_with(many, 12, 48), -1, 1);
  expect_uniform(Initializer::kaiming_uniform(2, true).init_with(many, 12, 48), -0.5, 0.5);
  expect_normal(Initializer::kaiming_normal(2).init_with(many, 16, 64), 0, 0.5);
  expect_normal(Initializer::kaiming_normal(2, true).init_with(many, 16, 64), 0, 0.25);
}

TEST_F(InitializerTest, XavierScalesByBothFans) {
  expect_uniform(Initializer::xavier_uniform(2).init_with(many, 10, 14), -1, 1);
  expect_normal(Initializer::xavier_normal(2).init_with(many, 12, 20), 0, 0.5);
}

TEST_F(InitializerTest, DrawsAnOddNumberOfNormals) {
  const std::vector<float> values = numbers(Initializer::normal(0, 1).init({7}));
  ASSERT_EQ(values.size(), 7U);
  EXPECT_NE(values[6], 0.0F);
}

TEST_F(InitializerTest, DrawsNothingBeforeItIsNeeded) {
  const Param param = Initializer::normal(0, 1).init({2, 3});
  EXPECT_EQ(param.shape(), Shape({2, 3}));
  EXPECT_EQ(param.dtype(), DType::f32);
  EXPECT_TRUE(param.is_set());
  EXPECT_TRUE(param.requires_grad());
  EXPECT_FALSE(param.is_initialized());
  EXPECT_TRUE(param.val().ok());
  EXPECT_TRUE(param.is_initialized());
}

TEST_F(InitializerTest, GivesTheSameNumbersForTheSameSeed) {
  const Initializer initializer = Initializer::normal(0, 1);
  seed(7);
  const Param first = initializer.init({10});
  const Param second = initializer.init({10});
  seed(7);
  const Param first_again = initializer.init({10});
  seed(8);
  const Param other = initializer.init({10});
  EXPECT_EQ(numbers(first), numbers(first_again));
  EXPECT_NE(numbers(first), numbers(second));
  EXPECT_NE(numbers(first), numbers(other));
}

TEST_F(InitializerTest, NumbersDoNotDependOnTheOrderOfFirstUse) {
  const Initializer initializer = Initializer::uniform(0, 1);
  seed(7);
  const Param a = initializer.init({10});
  const Param b = initializer.init({10});
  const std::vector<float> a_first = numbers(a);
  const std::vector<float> b_second = numbers(b);
  seed(7);
  const Param c = initializer.init({10});
  const Param d = initializer.init({10});
  seed(99);
  const std::vector<float> d_first = numbers(d);
  const std::vector<float> c_second = numbers(c);
  EXPECT_EQ(a_first, c_second);
  EXPECT_EQ(b_second, d_first);
}

// Computed with another implementation of the engine; what a seed means must not change.
TEST_F(InitializerTest, SeedsKeepTheirMeaning) {
  seed(2024);
  const std::vector<float> uniform = numbers(Initializer::uniform(0, 1).init({3}));
  EXPECT_FLOAT_EQ(uniform[0], 0.57121089F);
  EXPECT_FLOAT_EQ(uniform[1], 0.16733438F);
  EXPECT_FLOAT_EQ(uniform[2], 0.05797029F);
  const std::vector<float> normal = numbers(Initializer::normal(0, 1).init({2}));
  EXPECT_FLOAT_EQ(normal[0], -0.06418864F);
  EXPECT_FLOAT_EQ(normal[1], -0.41219339F);
}

TEST_F(InitializerTest, GivesEveryParameterItsOwnStreamAcrossThreads) {
  std::vector<std::vector<Param>> made(4);
  std::vector<std::thread> threads;
  for (std::vector<Param>& mine : made) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < 50; ++i) mine.push_back(Initializer::uniform(0, 1).init({4}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::vector<float>> all;
  for (const std::vector<Param>& mine : made) {
    for (const Param& param : mine) all.push_back(numbers(param));
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST_F(InitializerTest, FansThatAreNeededMustBeThere) {
  const Result<Tensor> without = Initializer::kaiming_uniform(1).init({2, 2}).val();
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().to_string(),
            "the initializer divides by fan_in: none; expected at least 1; pass it to init_with(), "
            "or use another initializer");
  EXPECT_EQ(code_of(Initializer::kaiming_normal(1, true).init_with({2}, 3, {})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(Initializer::xavier_normal(1).init_with({2}, 3, {})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(Initializer::xavier_uniform(1).init_with({2}, {}, 3)),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(Initializer::kaiming_uniform(1).init_with({2}, 0, 3)),
            ErrorCode::invalid_argument);
  EXPECT_TRUE(Initializer::kaiming_uniform(1).init_with({2}, 3, {}).val().ok());
  EXPECT_TRUE(Initializer::kaiming_uniform(1, true).init_with({2}, {}, 3).val().ok());
}

TEST_F(InitializerTest, RefusesWhatIsNoDistribution) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(code_of(Initializer::uniform(1, 0).init({2})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(Initializer::uniform(nan, 0).init({2})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(Initializer::normal(0, -1).init({2})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(Initializer::kaiming_uniform(-1).init_with({2}, 1, 1)),
            ErrorCode::invalid_argument);
}

TEST_F(InitializerTest, RefusesSizesThatCannotBe) {
  const std::uint64_t huge = std::uint64_t{1} << 40;
  const Param param = Initializer::zeros().init({huge, huge});
  EXPECT_EQ(param.shape(), Shape({huge, huge}));
  EXPECT_EQ(code_of(param), ErrorCode::invalid_argument);
  EXPECT_FALSE(param.val().error().found.empty());
  EXPECT_FALSE(param.val().error().expected.empty());
}

TEST_F(InitializerTest, ComparesByMeaning) {
  EXPECT_EQ(Initializer::zeros(), Initializer::constant(0));
  EXPECT_NE(Initializer::ones(), Initializer::zeros());
  EXPECT_NE(Initializer::kaiming_uniform(1), Initializer::xavier_uniform(1));
  EXPECT_NE(Initializer::kaiming_uniform(1), Initializer::kaiming_uniform(1, true));
}

}  // namespace
}  // namespace andiron::nn
