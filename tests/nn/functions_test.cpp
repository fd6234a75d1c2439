// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions on tensors: arithmetic, sums, and elements that move.
#include "andiron/nn/functions.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "andiron/nn/activation.h"
#include "andiron/nn/linear.h"
#include "tests/core/quant_schemes.h"
#include "tests/nn/numbers.h"

namespace andiron::nn {
namespace {

using test::bools_of;
using test::counting;
using test::expect_error;
using test::expect_near;
using test::expect_same;
using test::filled;
using test::inf;
using test::nan;
using test::random_tensor;
using test::tensor_of;
using test::values_of;
using test::vector_of;

constexpr std::int64_t first_dim = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t last_dim = std::numeric_limits<std::int64_t>::max();

const Tensor six = counting({2, 3}, 1);  // 1 2 3, 4 5 6

TEST(Arithmetic, CombinesElements) {
  const Tensor other = tensor_of({2, 3}, {2, 2, 2, 4, 4, 4});
  expect_near(add(six, other), {2, 3}, {3, 4, 5, 8, 9, 10});
  expect_near(subtract(six, other), {2, 3}, {-1, 0, 1, 0, 1, 2});
  expect_near(multiply(six, other), {2, 3}, {2, 4, 6, 16, 20, 24});
  expect_near(divide(six, other), {2, 3}, {0.5, 1, 1.5, 1, 1.25, 1.5});
  expect_near(add(six, 0.5), {2, 3}, {1.5, 2.5, 3.5, 4.5, 5.5, 6.5});
  expect_near(multiply(six, -2), {2, 3}, {-2, -4, -6, -8, -10, -12});
  expect_near(maximum(six, other), {2, 3}, {2, 2, 3, 4, 5, 6});
  expect_near(minimum(six, other), {2, 3}, {1, 2, 2, 4, 4, 4});
  expect_near(nn::sqrt(vector_of({4, 0, -1})), {3}, {2, 0, nan});
  expect_near(nn::exp(vector_of({0, 1, -inf})), {3}, {1, std::exp(1.0), 0});
  expect_near(nn::log(vector_of({1, 0, -1})), {3}, {0, -inf, nan});
}

TEST(Arithmetic, KeepsNan) {
  expect_near(maximum(vector_of({nan, 1}), vector_of({1, nan})), {2}, {nan, nan});
  expect_near(minimum(vector_of({nan, 1}), vector_of({1, nan})), {2}, {nan, nan});
  expect_near(clamp(vector_of({nan, 7, -1, 3}), 0, 6), {4}, {nan, 6, 0, 3});
}

TEST(Arithmetic, RefusesBoundsThatAreNotInOrder) {
  expect_error(clamp(six, 1, 0), ErrorCode::invalid_argument, {"clamp", "1.0", "0.0"});
  expect_error(clamp(six, nan, 0), ErrorCode::invalid_argument);
}

TEST(Arithmetic, RepeatsDimensionsOfSizeOne) {
  expect_near(subtract(six, vector_of({1, 2, 3})), {2, 3}, {0, 0, 0, 3, 3, 3});
  expect_near(subtract(vector_of({1, 2, 3}), six), {2, 3}, {0, 0, 0, -3, -3, -3});
  expect_near(add(six, tensor_of({2, 1}, {10, 20})), {2, 3}, {11, 12, 13, 24, 25, 26});
  expect_near(divide(tensor_of({2, 1}, {12, 60}), six), {2, 3}, {12, 6, 4, 15, 12, 10});
  expect_near(subtract(tensor_of({}, {1}), six), {2, 3}, {0, -1, -2, -3, -4, -5});
  expect_near(add(tensor_of({2, 1}, {1, 2}), tensor_of({1, 3}, {10, 20, 30})), {2, 3},
              {11, 21, 31, 12, 22, 32});
  expect_near(multiply(tensor_of({2, 1, 2}, {1, 2, 3, 4}), tensor_of({2, 1}, {1, 10})), {2, 2, 2},
              {1, 2, 10, 20, 3, 4, 30, 40});
  expect_near(add(tensor_of({}, {1}), tensor_of({}, {2})), {}, {3});
  expect_near(add(tensor_of({1, 1}, {1}), tensor_of({}, {2})), {1, 1}, {3});
  expect_near(add(Tensor::zeros(DType::f32, {0, 3}), vector_of({1, 2, 3})), {0, 3}, {});
  expect_near(add(Tensor::zeros(DType::f32, {2, 0}), filled({2, 1}, 1)), {2, 0}, {});
}

TEST(Arithmetic, FollowsIeee) {
  const Tensor odd = vector_of({inf, -inf, nan, 0});
  expect_near(add(odd, 1), {4}, {inf, -inf, nan, 1});
  expect_near(add(odd, vector_of({-inf, -inf, 0, 0})), {4}, {nan, -inf, nan, 0});
  expect_near(divide(odd, vector_of({0})), {4}, {inf, -inf, nan, nan});
}

TEST(Arithmetic, IsInDoublesIfOneArgumentIs) {
  const Result<Tensor> sum = add(vector_of({1e9}), tensor_of<double>({1}, {1.0 / 3}));
  EXPECT_EQ(sum.value().to_vector<double>().value()[0], 1e9 + 1.0 / 3);
  EXPECT_EQ(add(cast(six, DType::f16), cast(six, DType::bf16)).value().dtype(), DType::f32);
  EXPECT_EQ(add(cast(six, DType::f16), 1).value().dtype(), DType::f32);
  EXPECT_EQ(matmul(six, filled<double>({3, 1}, 1)).value().dtype(), DType::f64);
}

TEST(Arithmetic, RefusesWhatDoesNotFit) {
  expect_error(add(six, vector_of({1, 2})), ErrorCode::shape_mismatch, {"add", "[2, 3]", "[2]"});
  expect_error(subtract(six, counting({3, 3})), ErrorCode::shape_mismatch,
               {"subtract", "[2, 3]", "[3, 3]"});
  expect_error(multiply(six, counting({4})), ErrorCode::shape_mismatch, {"multiply"});
  expect_error(divide(six, counting({2, 0})), ErrorCode::shape_mismatch, {"divide", "[2, 0]"});
  expect_error(add(six, Tensor::zeros(DType::i64, {3})), ErrorCode::dtype_mismatch, {"i64"});
}

TEST(Matmul, MultipliesMatricesAndStacksOfThem) {
  const Tensor columns = tensor_of({3, 2}, {1, 0, 0, 1, 2, 0});
  expect_near(matmul(six, columns), {2, 2}, {7, 2, 16, 5});
  const Tensor stack = tensor_of({2, 1, 2}, {1, 2, 3, 4});
  expect_near(matmul(stack, tensor_of({2, 2, 1}, {1, 1, 2, 2})), {2, 1, 1}, {3, 14});
  // One matrix for all, on either side.
  expect_near(matmul(stack, tensor_of({2, 1}, {1, 10})), {2, 1, 1}, {21, 43});
  expect_near(matmul(tensor_of({1, 2}, {1, 10}), tensor_of({2, 2, 1}, {1, 2, 3, 4})), {2, 1, 1},
              {21, 43});
  const Tensor a = random_tensor({2, 1, 3, 4}, 1);
  const Tensor b = random_tensor({1, 5, 4, 2}, 2);
  const Result<Tensor> both = matmul(a, b);
  ASSERT_EQ(both.value().shape(), Shape({2, 5, 3, 2}));
  expect_near(slice(slice(both, 0, 1, 2), 1, 3, 4), matmul(slice(a, 0, 1), slice(b, 1, 3, 4)));
  expect_near(matmul(Tensor::zeros(DType::f32, {2, 0}), Tensor::zeros(DType::f32, {0, 1})), {2, 1},
              {0, 0});
}

TEST(Matmul, RefusesWhatDoesNotFit) {
  expect_error(matmul(six, six), ErrorCode::shape_mismatch, {"matmul", "[2, 3]"});
  expect_error(matmul(six, vector_of({1, 2, 3})), ErrorCode::shape_mismatch, {"[2, 3]", "[3]"});
  expect_error(matmul(counting({2, 1, 1}), counting({3, 1, 1})), ErrorCode::shape_mismatch,
               {"matmul", "2", "3"});
}

TEST(Sum, AddsAlongADimension) {
  expect_near(nn::sum(six, 0), {3}, {5, 7, 9});
  expect_near(nn::sum(six, 1), {2}, {6, 15});
  expect_near(nn::sum(six, -1, true), {2, 1}, {6, 15});
  expect_near(mean(six, -2), {3}, {2.5, 3.5, 4.5});
  expect_near(mean(counting({2, 2, 2}), 1), {2, 2}, {1, 2, 5, 6});
  expect_near(nn::sum(vector_of({1, nan, inf}), 0), {}, {nan});
  expect_near(nn::sum(Tensor::zeros(DType::f32, {0, 2}), 1), {0}, {});
  // Many small numbers do not get lost.
  expect_near(nn::sum(filled({1 << 20}, 0.1), 0), {}, {0.1 * (1 << 20)}, 0.01);
}

TEST(Argmax, FindsTheFirstOfTheLargest) {
  const Tensor input = tensor_of({2, 3}, {1, 3, 3, -5, -6, -4});
  const Result<Tensor> found = argmax(input);
  EXPECT_EQ(found.value().dtype(), DType::i64);
  expect_near(found, {2}, {1, 2});
  expect_near(argmax(input, 0, true), {1, 3}, {0, 0, 0});
  expect_near(argmax(vector_of({1, nan, 5, nan})), {}, {1});
  expect_near(nn::max(input, 0, true), {1, 3}, {1, 3, 3});
  expect_near(nn::max(vector_of({1, nan, 5}), 0), {}, {nan});
  expect_near(argmax(vector_of({-inf, -inf})), {}, {0});
}

TEST(Sum, RefusesDimensionsThatAreNotThere) {
  for (const std::int64_t dim : {std::int64_t{2}, std::int64_t{-3}, first_dim, last_dim}) {
    expect_error(nn::sum(six, dim), ErrorCode::invalid_argument, {"sum", "[2, 3]", "-2 to 1"});
    expect_error(mean(six, dim), ErrorCode::invalid_argument, {"mean"});
    expect_error(argmax(six, dim), ErrorCode::invalid_argument, {"argmax"});
  }
  for (const bool keep : {false, true}) {
    const Result<Tensor> empty = Tensor::zeros(DType::f32, {2, 0});
    expect_error(nn::sum(empty, 1, keep), ErrorCode::invalid_argument, {"sum", "[2, 0]"});
    expect_error(argmax(empty, 1, keep), ErrorCode::invalid_argument, {"argmax"});
  }
  expect_error(nn::sum(tensor_of({}, {1}), 0), ErrorCode::invalid_argument);
}

// --- rearranging ---

TEST(Reshape, KeepsTheElementsWhereTheyAre) {
  const Result<Tensor> tall = reshape(six, {3, -1});
  expect_near(tall, {3, 2}, {1, 2, 3, 4, 5, 6}, 0);
  EXPECT_EQ(tall.value().bytes().data(), six.bytes().data());
  expect_near(reshape(six, {6}), {6}, {1, 2, 3, 4, 5, 6}, 0);
  expect_near(reshape(tensor_of({1, 1}, {4}), {}), {}, {4}, 0);
  expect_near(reshape(Tensor::zeros(DType::f32, {0, 3}), {5, 0}), {5, 0}, {}, 0);
  const std::vector<std::int64_t> dims = {1, 2, 3};
  expect_near(reshape(six, dims), {1, 2, 3}, {1, 2, 3, 4, 5, 6}, 0);
  expect_near(flatten(counting({2, 2, 2})), {2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}, 0);
  expect_near(flatten(six, 0), {6}, {1, 2, 3, 4, 5, 6}, 0);
  expect_near(flatten(six, -1), {2, 3}, {1, 2, 3, 4, 5, 6}, 0);
}

TEST(Reshape, RefusesShapesThatDoNotFit) {
  expect_error(reshape(six, {4, 2}), ErrorCode::shape_mismatch, {"reshape", "[2, 3]", "[4, 2]"});
  expect_error(reshape(six, {4, -1}), ErrorCode::shape_mismatch, {"[4, -1]"});
  expect_error(reshape(six, {0, -1}), ErrorCode::shape_mismatch);
  expect_error(reshape(six, {-1, -1}), ErrorCode::invalid_argument, {"reshape"});
  expect_error(reshape(six, {-6}), ErrorCode::invalid_argument);
  expect_error(reshape(six, {last_dim, last_dim, 4}), ErrorCode::shape_mismatch);
  expect_error(flatten(six, 2), ErrorCode::invalid_argument, {"flatten", "[2, 3]"});
}

TEST(Permute, MovesDimensions) {
  expect_near(permute(six, {1, 0}), {3, 2}, {1, 4, 2, 5, 3, 6}, 0);
  expect_near(permute(six, {-1, 0}), {3, 2}, {1, 4, 2, 5, 3, 6}, 0);
  expect_near(swap_dims(six, 0, -1), {3, 2}, {1, 4, 2, 5, 3, 6}, 0);
  expect_near(permute(counting({2, 1, 3}), {2, 0, 1}), {3, 2, 1}, {0, 3, 1, 4, 2, 5}, 0);
  expect_near(swap_dims(counting({2, 2, 2}), 0, 1), {2, 2, 2}, {0, 1, 4, 5, 2, 3, 6, 7}, 0);
  const std::vector<std::int64_t> order = {1, 0};
  expect_near(permute(six, order), swap_dims(six, 0, 1), 0);
  expect_error(permute(six, {0}), ErrorCode::invalid_argument, {"permute", "[0]", "[2, 3]"});
  expect_error(permute(six, {0, 0}), ErrorCode::invalid_argument);
  expect_error(permute(six, {0, 1, 0}), ErrorCode::invalid_argument);
  expect_error(permute(six, {0, 2}), ErrorCode::invalid_argument);
  expect_error(swap_dims(six, 0, 2), ErrorCode::invalid_argument, {"swap_dims"});
}

TEST(Slice, TakesElementsOfADimension) {
  expect_near(slice(six, 1, 1, 3), {2, 2}, {2, 3, 5, 6}, 0);
  expect_near(slice(six, 0, 1), {1, 3}, {4, 5, 6}, 0);
  expect_near(slice(six, -1, -2), {2, 2}, {2, 3, 5, 6}, 0);
  expect_near(slice(six, 1, 0, -1), {2, 2}, {1, 2, 4, 5}, 0);
  expect_near(slice(six, 1, 3, 3), {2, 0}, {}, 0);
  for (const auto& [start, end] :
       {std::pair(std::int64_t{2}, std::int64_t{1}), std::pair(std::int64_t{0}, std::int64_t{4}),
        std::pair(std::int64_t{-4}, std::int64_t{2}), std::pair(first_dim, last_dim),
        std::pair(std::int64_t{0}, first_dim)}) {
    expect_error(slice(six, 1, start, end), ErrorCode::invalid_argument, {"slice", "[2, 3]"});
  }
  expect_error(slice(six, 2, 0), ErrorCode::invalid_argument, {"slice"});
  // A dimension that no signed number has, without an element.
  const Result<Tensor> wide = Tensor::zeros(DType::f32, {0, test::huge_size});
  if (wide) expect_error(slice(wide, 1, -1, first_dim), ErrorCode::invalid_argument);
}

TEST(Concat, JoinsAlongADimension) {
  expect_near(concat({six, counting({1, 3}, 7)}, 0), {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}, 0);
  expect_near(concat({six, add(tensor_of({2, 1}, {7, 8}), 1)}, -1), {2, 4},
              {1, 2, 3, 8, 4, 5, 6, 9}, 0);
  const std::vector<Tensor> list = {vector_of({1}), Tensor::zeros(DType::f32, {0}).value(),
                                    vector_of({2, 3})};
  expect_near(concat(list, 0), {3}, {1, 2, 3}, 0);
  expect_error(concat({six, counting({2, 2})}, 0), ErrorCode::shape_mismatch,
               {"concat", "[2, 2]", "[2, 3]"});
  expect_error(concat({six, vector_of({1, 2, 3})}, 0), ErrorCode::shape_mismatch, {"[3]"});
  expect_error(concat({six}, 2), ErrorCode::invalid_argument, {"concat"});
  expect_error(concat(std::span<const Tensor>(), 0), ErrorCode::invalid_argument, {"concat"});
  EXPECT_FALSE(concat({six, cast(six, DType::f64)}, 0).ok());
}

TEST(Pad, PutsValuesAround) {
  expect_near(pad(six, 1, 1, 2), {2, 6}, {0, 1, 2, 3, 0, 0, 0, 4, 5, 6, 0, 0}, 0);
  expect_near(pad(six, -2, 0, 1, PadMode::constant, 0.5), {3, 3}, {1, 2, 3, 4, 5, 6, 0.5, 0.5, 0.5},
              0);
  expect_near(pad(six, 1, 2, 1, PadMode::reflect), {2, 6}, {3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5}, 0);
  expect_near(pad(six, 0, 1, 0, PadMode::reflect), {3, 3}, {4, 5, 6, 1, 2, 3, 4, 5, 6}, 0);
  expect_near(pad(Tensor::zeros(DType::f32, {0}), 0, 1, 1, PadMode::constant, 3), {2}, {3, 3}, 0);
  expect_near(pad(tensor_of<std::int64_t>({2}, {7, 8}), 0, 1, 0, PadMode::constant, -1), {3},
              {-1, 7, 8}, 0);
  expect_near(pad(bools_of({1}, {0}), 0, 0, 1, PadMode::constant, 1), {2}, {0, 1}, 0);
  expect_near(pad(cast(six, DType::f16), 0, 0, 1, PadMode::constant, 0.5),
              pad(six, 0, 0, 1, PadMode::constant, 0.5), 0);
}

TEST(Pad, RefusesWhatCannotBe) {
  expect_error(pad(six, 1, 3, 0, PadMode::reflect), ErrorCode::shape_mismatch, {"pad", "[2, 3]"});
  expect_error(pad(six, 1, 0, test::huge_size, PadMode::reflect), ErrorCode::shape_mismatch);
  expect_error(pad(six, 2, 1, 1), ErrorCode::invalid_argument, {"pad"});
  expect_error(pad(six, 1, test::huge_size, test::huge_size), ErrorCode::invalid_argument, {"pad"});
  EXPECT_FALSE(pad(six, 1, test::huge_size, 0).ok());
  for (const DType dtype : {DType::c128, DType::f4e2m1}) {
    EXPECT_FALSE(pad(Tensor::zeros(dtype, {2}), 0, 1, 1).ok());
  }
}

TEST(Cast, MakesFloats) {
  expect_same(cast(tensor_of<std::int32_t>({2}, {-3, 7}), DType::f32), vector_of({-3, 7}));
  expect_same(cast(bools_of({2}, {1, 0}), DType::f32), vector_of({1, 0}));
  EXPECT_EQ(cast(six, DType::bf16).value().dtype(), DType::bf16);
  expect_near(cast(vector_of({1.0 / 3}), DType::f16), {1}, {0.333251953125}, 0);
  const QuantScheme scheme = test::per_tensor(QuantValue::q8s, QuantStore::native);
  const std::vector<std::uint8_t> payload = {1, 0xfe, 0, 0, 0, 63};  // a scale of 0.5
  expect_near(cast(Tensor::qfloat(scheme, {2}, Bytes::own(payload)), DType::f64), {2}, {0.5, -1});
  expect_error(cast(six, DType::i32), ErrorCode::invalid_argument, {"cast", "i32"});
  EXPECT_FALSE(cast(Tensor::zeros(DType::c64, {1}), DType::f32).ok());
}

TEST(ForwardThrough, PassesLayersInTheirOrder) {
  const Linear twice = {.weight = Param(filled({1, 1}, 2))};
  const Linear minus = {.weight = Param(filled({1, 1}, -1))};
  const Tensor input = tensor_of({2, 1}, {1, -3});
  expect_near(forward_through(std::tuple(twice, Relu(), minus), input), {2, 1}, {-2, 0});
  expect_near(forward_through(std::vector<Linear>{twice, twice, minus}, input), {2, 1}, {-4, 12});
  expect_near(forward_through(std::array<Relu, 2>(), input), {2, 1}, {1, 0});
  expect_same(forward_through(std::tuple<>(), input), input);
  expect_error(forward_through(std::tuple(Linear(), Relu()), input), ErrorCode::missing_tensor);
}

}  // namespace
}  // namespace andiron::nn
