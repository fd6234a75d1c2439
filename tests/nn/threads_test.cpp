// SPDX-License-Identifier: MIT OR Apache-2.0
// Threads: their number changes no result, and forward passes may run at once.
#include "andiron/nn/threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "andiron/nn/activation.h"
#include "andiron/nn/conv.h"
#include "andiron/nn/functions.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/nn/pool.h"
#include "tests/nn/numbers.h"

namespace andiron::nn {
namespace {

using test::expect_near;
using test::expect_same;
using test::random_tensor;

class Threads : public testing::Test {
 protected:
  void TearDown() override { set_threads(0); }
};

using Pass = std::function<Result<Tensor>(const Tensor&)>;

TEST_F(Threads, AreAsManyAsAskedFor) {
  EXPECT_GE(threads(), 1U);
  set_threads(1);
  EXPECT_EQ(threads(), 1U);
  set_threads(~0U);
  const unsigned most = threads();
  EXPECT_LE(most, 1024U) << "no more than can be started";
  set_threads(3);
  EXPECT_EQ(threads(), std::min(3U, most)) << "1 without OpenMP";
  set_threads(0);
  EXPECT_GE(threads(), 1U);
}

TEST_F(Threads, DoNotChangeABitOfElementsAndNorms) {
  // Sizes that no vector unit divides, and enough for several threads.
  const Tensor input = random_tensor({3, 7, 4999}, 1);
  const std::vector<Pass> passes = {
      [](const Tensor& x) { return relu(x); },
      [](const Tensor& x) { return gelu(x); },
      [](const Tensor& x) { return gelu_tanh(x); },
      [](const Tensor& x) { return silu(x); },
      [](const Tensor& x) { return sigmoid(x); },
      [](const Tensor& x) { return nn::tanh(x); },
      [](const Tensor& x) { return mish(x); },
      [](const Tensor& x) { return softplus(x); },
      [](const Tensor& x) { return elu(x); },
      [](const Tensor& x) { return softmax(x); },
      [](const Tensor& x) { return log_softmax(x, 1); },
      [](const Tensor& x) { return add(x, x); },
      [](const Tensor& x) { return multiply(x, slice(x, 1, 2, 3)); },
      [](const Tensor& x) { return mean(x, 1); },
      [](const Tensor& x) { return LayerNormConfig(4999).init().forward(x); },
      [](const Tensor& x) { return RmsNormConfig(4999).init().forward(x); },
      [](const Tensor& x) { return BatchNormConfig(7).init().forward(x); },
      [](const Tensor& x) { return GroupNormConfig(7, 7).init().forward(x); },
      [](const Tensor& x) { return InstanceNormConfig(7).init().forward(x); },
      [](const Tensor& x) { return MaxPool1dConfig(3).init().forward(x); },
      [](const Tensor& x) { return AvgPool1dConfig(3).init().forward(x); },
  };
  for (std::size_t i = 0; i < passes.size(); ++i) {
    SCOPED_TRACE(i);
    set_threads(1);
    const Result<Tensor> alone = passes[i](input);
    for (const unsigned count : {2U, 3U, 0U}) {
      set_threads(count);
      expect_same(passes[i](input), alone);
    }
  }
}

TEST_F(Threads, ChangeProductsByLittle) {
  seed(1);
  const Linear linear = LinearConfig(200, 300).init();
  const Conv2d conv = Conv2dConfig({6, 8}, {3, 3}).init();
  const Tensor rows = random_tensor({64, 200}, 2);
  const Tensor image = random_tensor({2, 6, 40, 40}, 3);
  set_threads(1);
  const Result<Tensor> product = linear.forward(rows);
  const Result<Tensor> features = conv.forward(image);
  for (const unsigned count : {2U, 0U}) {
    set_threads(count);
    expect_near(linear.forward(rows), product, 1e-6);
    expect_near(conv.forward(image), features, 1e-6);
  }
}

TEST_F(Threads, MayPassThroughOneModelAtOnce) {
  seed(1);
  // Their parameters are drawn on first use, by whoever comes first.
  const Linear linear = LinearConfig(8, 8).init();
  const LayerNorm norm = LayerNormConfig(8).init();
  const Conv1d conv = Conv1dConfig(2, 2, 3).init();
  const auto pass = [&](unsigned which) {
    const Result<Tensor> x = gelu(norm.forward(linear.forward(random_tensor({4, 2, 8}, which))));
    return softmax(conv.forward(x));
  };
  constexpr unsigned count = 4;
  std::vector<Tensor> found(count);
  {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < count; ++i) {
      threads.emplace_back([&, i] { found[i] = pass(i).value(); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (unsigned i = 0; i < count; ++i) expect_near(found[i], pass(i), 1e-6);
}

TEST_F(Threads, MayBeSetWhileOthersCompute) {
  const Tensor input = random_tensor({40, 1000}, 1);
  const Result<Tensor> expected = relu(input);
  std::thread setter([] {
    for (unsigned i = 0; i < 100; ++i) set_threads(i % 3);
  });
  for (int i = 0; i < 20; ++i) expect_same(relu(input), expected);
  setter.join();
}

// Products, which oneDNN divides among the threads that it counts on.
class Products : public Threads {
 protected:
  void SetUp() override {
    set_threads(1);
    expected_ = pass();
    set_threads(8);
  }
  Result<Tensor> pass() const { return linear_.forward(rows_); }
  void expect_right() const { expect_near(pass(), expected_, 1e-6); }

  Result<Tensor> expected_ = Tensor();

 private:
  Linear linear_ = LinearConfig(200, 300).init();
  Tensor rows_ = random_tensor({256, 200}, 2);
};

TEST_F(Products, AreRightFromSeveralThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([this] { expect_right(); });
  for (std::thread& thread : threads) thread.join();
}

#ifdef _OPENMP
TEST_F(Products, AreRightInParallelRegions) {
  for (const int count : {1, 2, 3}) {
    SCOPED_TRACE(count);
    std::vector<Tensor> found(9);
#pragma omp parallel for num_threads(count) schedule(static, 1)
    for (int i = 0; i < 3; ++i) {
#pragma omp parallel for num_threads(count) schedule(static, 1)
      for (int j = 0; j < 3; ++j) found[static_cast<std::size_t>(3 * i + j)] = pass().value();
    }
    for (const Tensor& one : found) expect_near(one, expected_, 1e-6);
  }
}

TEST_F(Products, AreRightWhateverTheCallerAllowsAndChangeNothingOfIt) {
  // On a thread of its own, whose settings end with it.
  std::thread caller([this] {
    omp_set_num_threads(5);
    for (const int dynamic : {0, 1}) {
      for (const int levels : {0, 1, 2}) {
        SCOPED_TRACE("dynamic " + std::to_string(dynamic) + ", levels " + std::to_string(levels));
        omp_set_dynamic(dynamic);
        omp_set_max_active_levels(levels);
        expect_right();
        EXPECT_EQ(omp_get_max_threads(), 5);
        EXPECT_EQ(omp_get_dynamic(), dynamic);
        EXPECT_EQ(omp_get_max_active_levels(), levels);
      }
    }
  });
  caller.join();
}
#endif

}  // namespace
}  // namespace andiron::nn
