// SPDX-License-Identifier: MIT OR Apache-2.0
// Activations: their values, at the edges too, and softmax.
#include "andiron/nn/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "andiron/nn/functions.h"
#include "tests/nn/module_places.h"
#include "tests/nn/numbers.h"
#include "tests/support/param_numbers.h"

namespace andiron::nn {
namespace {

using test::counting;
using test::expect_error;
using test::expect_near;
using test::expect_same;
using test::inf;
using test::nan;
using test::random_tensor;
using test::tensor_of;
using test::Values;
using test::values_of;
using test::vector_of;

double sigmoid_at(double x) { return 1 / (1 + std::exp(-x)); }
double softplus_at(double x) { return std::log1p(std::exp(x)); }
double within_unit(double x) { return std::min(1.0, std::max(0.0, x)); }

struct ActivationCase {
  Activation activation;
  std::function<Result<Tensor>(const Result<Tensor>&)> function;
  std::function<double(double)> definition;
};

const std::vector<ActivationCase>& activation_cases() {
  static const std::vector<ActivationCase> cases = {
      {Activation::identity, [](const auto& x) { return Dropout().forward(x); },
       [](double x) { return x; }},
      {Activation::relu, [](const auto& x) { return Relu().forward(x); },
       [](double x) { return std::max(0.0, x); }},
      {Activation::leaky_relu, [](const auto& x) { return LeakyRelu().forward(x); },
       [](double x) { return x < 0 ? 0.01 * x : x; }},
      {Activation::gelu, [](const auto& x) { return Gelu().forward(x); },
       [](double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }},
      {Activation::gelu_tanh, [](const auto& x) { return Gelu{true}.forward(x); },
       [](double x) {
         return 0.5 * x *
                (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
       }},
      {Activation::silu, [](const auto& x) { return Silu().forward(x); },
       [](double x) { return x * sigmoid_at(x); }},
      {Activation::sigmoid, [](const auto& x) { return Sigmoid().forward(x); }, sigmoid_at},
      {Activation::tanh, [](const auto& x) { return Tanh().forward(x); },
       [](double x) { return std::tanh(x); }},
      {Activation::hard_sigmoid, [](const auto& x) { return HardSigmoid{1.0 / 6}.forward(x); },
       [](double x) { return within_unit(x / 6 + 0.5); }},
      {Activation::hard_swish, [](const auto& x) { return HardSwish().forward(x); },
       [](double x) { return x * within_unit(x / 6 + 0.5); }},
      {Activation::mish, [](const auto& x) { return Mish().forward(x); },
       [](double x) { return x * std::tanh(softplus_at(x)); }},
      {Activation::softplus, [](const auto& x) { return Softplus().forward(x); }, softplus_at},
      {Activation::elu, [](const auto& x) { return Elu().forward(x); },
       [](double x) { return x > 0 ? x : std::expm1(x); }},
  };
  return cases;
}

TEST(Activation, IsAsItsDefinition) {
  // More than a vector unit takes at a time, and a rest.
  const Tensor input = counting({203}, -10.1, 0.1);
  for (const ActivationCase& one : activation_cases()) {
    SCOPED_TRACE(static_cast<int>(one.activation));
    Values expected = values_of(input);
    for (double& value : expected) value = one.definition(value);
    expect_near(one.function(input), {203}, expected, 5e-6);
    expect_same(activate(one.activation, input), one.function(input));
    // As exact as doubles are.
    const Tensor doubles = counting<double>({203}, -10.1, 0.1);
    Values exact = values_of(doubles);
    for (double& value : exact) value = one.definition(value);
    const Result<Tensor> found = activate(one.activation, doubles);
    EXPECT_EQ(found.value().dtype(), DType::f64);
    expect_near(found, {203}, exact, 1e-14);
  }
}

TEST(Activation, KeepsShapesOfEveryKind) {
  for (const ActivationCase& one : activation_cases()) {
    SCOPED_TRACE(static_cast<int>(one.activation));
    expect_near(one.function(tensor_of({}, {0.5})), {}, {one.definition(0.5)});
    expect_near(one.function(Tensor::zeros(DType::f32, {2, 0})), {2, 0}, {});
    expect_near(one.function(tensor_of({1, 2, 1}, {0.5, -1})), {1, 2, 1},
                {one.definition(0.5), one.definition(-1)});
  }
}

TEST(Activation, KeepsNanAndKnowsItsLimits) {
  for (const ActivationCase& one : activation_cases()) {
    SCOPED_TRACE(static_cast<int>(one.activation));
    const Values found = values_of(one.function(tensor_of({4}, {nan, 1, inf, 1000})));
    EXPECT_TRUE(std::isnan(found[0]));
    EXPECT_NEAR(found[1], one.definition(1), 1e-6);
    const bool is_limited = one.activation == Activation::sigmoid ||
                            one.activation == Activation::tanh ||
                            one.activation == Activation::hard_sigmoid;
    EXPECT_EQ(found[2], is_limited ? 1 : inf);
    EXPECT_EQ(found[3], is_limited ? 1 : 1000);
  }
  const Tensor low = vector_of({-inf, -1000});
  expect_near(relu(low), {2}, {0, 0});
  expect_near(sigmoid(low), {2}, {0, 0});
  expect_near(nn::tanh(low), {2}, {-1, -1});
  expect_near(softplus(low), {2}, {0, 0});
  expect_near(elu(low, 2), {2}, {-2, -2});
  expect_near(leaky_relu(low), {2}, {-inf, -10});
  for (const auto& function : {gelu, gelu_tanh, silu, hard_swish, mish}) {
    EXPECT_EQ(values_of(function(low))[1], 0);
  }
}

TEST(Activation, HardSigmoidHasBurnsAlphaAsALayerAndPyTorchsAsAFunction) {
  expect_near(HardSigmoid().forward(vector_of({-9, 0, 1, 9})), {4}, {0, 0.5, 0.7, 1});
  const Values of_pytorch = {0, 0.5, 2.0 / 3, 1};
  expect_near(hard_sigmoid(vector_of({-9, 0, 1, 9})), {4}, of_pytorch);
  expect_near(activate(Activation::hard_sigmoid, vector_of({-9, 0, 1, 9})), {4}, of_pytorch);
  expect_near(HardSigmoid{1.0 / 6}.forward(vector_of({-9, 0, 1, 9})), {4}, of_pytorch);
  expect_near(hard_swish(vector_of({1})), {1}, {2.0 / 3});
}

TEST(Activation, TakesItsSettings) {
  expect_near(leaky_relu(vector_of({-2, 3}), 0.5), {2}, {-1, 3});
  expect_near(LeakyRelu{0.25}.forward(vector_of({-2, 3})), {2}, {-0.5, 3});
  expect_near(hard_sigmoid(vector_of({1}), 0.25, 0.125), {1}, {0.375});
  expect_near(softplus(vector_of({1, 30}), 2), {2}, {std::log1p(std::exp(2)) / 2, 30});
  expect_near(Softplus{2}.forward(vector_of({1})), {1}, {std::log1p(std::exp(2)) / 2});
  expect_near(Elu{3}.forward(vector_of({-1, 2})), {2}, {3 * std::expm1(-1), 2});
  expect_error(activate(static_cast<Activation>(99), vector_of({1})), ErrorCode::invalid_argument,
               {"99"});
}

TEST(Activation, WidensSmallFloatsAndRefusesIntegers) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Result<Tensor> small = cast(random_tensor({9}, 1), dtype);
    expect_same(gelu(small), gelu(cast(small, DType::f32)));
  }
  expect_error(relu(Tensor::zeros(DType::i64, {2})), ErrorCode::dtype_mismatch, {"i64"});
  expect_error(softmax(Tensor::zeros(DType::boolean, {2})), ErrorCode::dtype_mismatch, {"bool"});
}

// --- PRelu ---

TEST(PRelu, HasOneSlopeOrOneForEachChannel) {
  const Tensor input = tensor_of({1, 2, 2}, {-1, 2, -3, 4});
  expect_near(prelu(input, vector_of({0.5})), {1, 2, 2}, {-0.5, 2, -1.5, 4});
  expect_near(prelu(input, vector_of({0.5, 2})), {1, 2, 2}, {-0.5, 2, -6, 4});
  expect_near(prelu(tensor_of({2, 2}, {-1, -1, -2, -2}), vector_of({0.5, 2})), {2, 2},
              {-0.5, -2, -1, -4});
  expect_near(prelu(vector_of({-1, -2}), vector_of({3})), {2}, {-3, -6});
  expect_near(prelu(tensor_of({}, {-1}), vector_of({3})), {}, {-3});
  expect_near(prelu(Tensor::zeros(DType::f32, {2, 0}), vector_of({3})), {2, 0}, {});
  for (const Tensor& alpha :
       {vector_of({1, 2, 3}), tensor_of({1, 2}, {1, 2}), Tensor::zeros(DType::f32, {0}).value()}) {
    expect_error(prelu(input, alpha), ErrorCode::shape_mismatch,
                 {"PRelu", "[1, 2, 2]", alpha.shape().to_string()});
  }
  expect_error(prelu(vector_of({-1, -2}), vector_of({1, 2})), ErrorCode::shape_mismatch);
}

TEST(PRelu, IsALayerWithAParameter) {
  const PRelu layer = PReluConfig().init();
  EXPECT_EQ(places_of(layer), std::vector<std::string>{"alpha f32 [1] in Struct:PRelu"});
  expect_near(layer.forward(vector_of({-4, 4})), {2}, {-1, 4});
  const PRelu many = PReluConfig().with_num_parameters(2).with_alpha(0.5).init();
  EXPECT_EQ(test::numbers(many.alpha), std::vector<float>(2, 0.5F));
  expect_error(PRelu().forward(vector_of({1})), ErrorCode::missing_tensor);
}

// --- along a dimension ---

TEST(Softmax, SumsUpToOne) {
  const double e = std::numbers::e;
  const Tensor input = tensor_of({2, 2}, {0, 1, 2, 2});
  expect_near(softmax(input), {2, 2}, {1 / (1 + e), e / (1 + e), 0.5, 0.5});
  expect_near(softmax(input, 0), {2, 2},
              {1 / (1 + e * e), 1 / (1 + e), e * e / (1 + e * e), e / (1 + e)});
  expect_near(softmax(input, -2), softmax(input, 0));
  expect_near(Softmax{0}.forward(input), softmax(input, 0));
  expect_near(softmax(counting({2, 3, 2}), 1), softmax(counting({2, 3, 2}, 100), 1));
  expect_near(softmax(tensor_of({}, {7})), {}, {1});
  expect_near(softmax(Tensor::zeros(DType::f32, {2, 0})), {2, 0}, {});
  const Result<Tensor> exact = softmax(tensor_of<double>({2}, {0, 1}));
  EXPECT_EQ(exact.value().dtype(), DType::f64);
  expect_near(exact, {2}, {1 / (1 + e), e / (1 + e)}, 1e-15);
}

TEST(Softmax, StandsLargeNumbers) {
  expect_near(softmax(vector_of({1e30, 1e30, -1e30})), {3}, {0.5, 0.5, 0});
  expect_near(softmax(vector_of({0, -inf})), {2}, {1, 0});
  expect_near(softmax(vector_of({0, nan, 1})), {3}, {nan, nan, nan});
  expect_near(log_softmax(vector_of({1000, 0})), {2}, {0, -1000}, 1e-3);
  expect_near(log_softmax(vector_of({0, -inf})), {2}, {0, -inf});
}

TEST(LogSoftmax, IsTheLogarithm) {
  const Tensor input = random_tensor({3, 4, 5}, 1);
  for (const std::int64_t dim : {0, 1, 2, -1}) {
    Values expected = values_of(softmax(cast(input, DType::f64), dim));
    for (double& value : expected) value = std::log(value);
    expect_near(log_softmax(input, dim), {3, 4, 5}, expected, 1e-5);
  }
}

TEST(QuietSoftmax, HasOneMoreInTheDivisor) {
  const double e = std::numbers::e;
  expect_near(quiet_softmax(vector_of({0, 1})), {2}, {1 / (2 + e), e / (2 + e)});
  expect_near(quiet_softmax(vector_of({-100, -100})), {2}, {0, 0});
  expect_near(quiet_softmax(vector_of({-1000, -1000})), {2}, {0, 0});
  expect_near(quiet_softmax(vector_of({100, -100})), {2}, {1, 0});
  expect_near(quiet_softmax(tensor_of({2, 1}, {0, 1}), 0), {2, 1}, {1 / (2 + e), e / (2 + e)});
}

TEST(Glu, GatesOneHalfByTheOther) {
  const Tensor input = tensor_of({2, 2}, {1, 2, 3, 4});
  expect_near(glu(input), {2, 1}, {sigmoid_at(2), 3 * sigmoid_at(4)});
  expect_near(Glu{0}.forward(input), {1, 2}, {sigmoid_at(3), 2 * sigmoid_at(4)});
  expect_error(glu(counting({2, 3})), ErrorCode::shape_mismatch, {"glu", "[2, 3]"});
  expect_near(glu(Tensor::zeros(DType::f32, {2, 0})), {2, 0}, {});
}

TEST(Softmax, RefusesDimensionsThatAreNotThere) {
  for (const std::int64_t dim : {std::int64_t{2}, std::int64_t{-3}, INT64_MAX, INT64_MIN}) {
    const Tensor input = counting({2, 2});
    expect_error(softmax(input, dim), ErrorCode::invalid_argument, {"softmax", "[2, 2]"});
    expect_error(log_softmax(input, dim), ErrorCode::invalid_argument, {"log_softmax"});
    expect_error(quiet_softmax(input, dim), ErrorCode::invalid_argument, {"quiet_softmax"});
    expect_error(glu(input, dim), ErrorCode::invalid_argument, {"glu"});
    expect_error(softmax(tensor_of({}, {1}), dim), ErrorCode::invalid_argument);
  }
}

TEST(Dropout, DoesNothing) {
  const Tensor input = random_tensor({5}, 1);
  expect_same(DropoutConfig(0.9).init().forward(input), input);
  // It does not even look at the dtype.
  const Tensor indices = tensor_of<std::int64_t>({2}, {1, 2});
  expect_same(Dropout().forward(indices), indices);
}

}  // namespace
}  // namespace andiron::nn
