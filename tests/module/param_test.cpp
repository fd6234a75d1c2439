// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/param.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace andiron {
namespace {

Tensor numbers(std::initializer_list<float> values) {
  return Tensor::from_values<float>({values.size()}, values).value();
}

Param counted(std::atomic<int>& calls) {
  return Param::lazy(DType::f32, {2}, [&calls]() -> Result<Tensor> {
    ++calls;
    return numbers({1, 2});
  });
}

static_assert(std::is_nothrow_move_constructible_v<Param>);
static_assert(std::is_nothrow_move_assignable_v<Param>);

TEST(Param, GivesItsElementsAsASpanAndByCoordinates) {
  const Param param(Tensor::from_values<float>({2, 3}, {1, 2, 3, 4, 5, 6}).value());
  EXPECT_EQ(param.as<float>().value()[4], 5);
  EXPECT_EQ((param.at<float>({1, 2}).value()), 6);
  EXPECT_EQ((param.at<float>({2, 0}).error().code), ErrorCode::invalid_argument);
  EXPECT_EQ((param.at<float>({1}).error().code), ErrorCode::invalid_argument);
  EXPECT_EQ(param.as<double>().error().code, ErrorCode::dtype_mismatch);
  EXPECT_EQ(param.shape(), (Shape{2, 3}));
  EXPECT_EQ(param.dtype(), DType::f32);
}

TEST(Param, ThatWasNotSetHasAnIdButNoTensor) {
  const Param param;
  EXPECT_FALSE(param.is_set());
  EXPECT_FALSE(param.is_initialized());
  EXPECT_NE(param.id(), ParamId{});
  EXPECT_NE(param.id(), Param().id());
  EXPECT_EQ(param.val().error().code, ErrorCode::missing_tensor);
}

TEST(Param, CopiesHaveTheSameIdAndShareMemoryUntilOneIsWritten) {
  Param first(numbers({1, 2}), ParamId{42});
  Param second = first;
  EXPECT_EQ(second.id(), ParamId{42});
  EXPECT_EQ(first.as<float>().value().data(), second.as<float>().value().data());
  second.as_mutable<float>().value()[0] = 9;
  EXPECT_EQ(first.as<float>().value()[0], 1);
  EXPECT_EQ(second.as<float>().value()[0], 9);
  EXPECT_FALSE(first.is_tied_with(second));
}

TEST(Param, CarriesTheGradFlag) {
  Param param(numbers({1}));
  EXPECT_TRUE(param.requires_grad());
  param.set_requires_grad(false);
  EXPECT_FALSE(Param(param).requires_grad());
}

TEST(Param, LazyOnesKnowTheirShapeWithoutComputing) {
  std::atomic<int> calls = 0;
  const Param param = counted(calls);
  EXPECT_TRUE(param.is_set());
  EXPECT_FALSE(param.is_initialized());
  EXPECT_EQ(param.shape(), Shape{2});
  EXPECT_EQ(param.dtype(), DType::f32);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(param.as<float>().value()[1], 2);
  EXPECT_TRUE(param.is_initialized());
  EXPECT_EQ(param.val().value().byte_size(), 8U);
  EXPECT_EQ(calls, 1);
}

TEST(Param, CopiesOfALazyOneComputeTogetherOnce) {
  std::atomic<int> calls = 0;
  const Param first = counted(calls);
  Param second = first;
  EXPECT_EQ(calls, 0);
  second.as_mutable<float>().value()[0] = 7;
  EXPECT_EQ(first.as<float>().value()[0], 1);
  EXPECT_EQ(calls, 1);
}

TEST(Param, LazyOnesComputeOnceForManyThreads) {
  std::atomic<int> calls = 0;
  const Param param = counted(calls);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { right += param.as<float>().value()[1] == 2 ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(right, 8);
}

TEST(Param, ReplacingALazyTensorComputesNothing) {
  std::atomic<int> calls = 0;
  Param param = counted(calls);
  param.set_val(numbers({5, 6, 7}));
  EXPECT_EQ(param.shape(), Shape{3});
  EXPECT_EQ(calls, 0);
}

TEST(Param, GivesTheErrorOfItsInitializerAndTriesAgain) {
  int calls = 0;
  const Param param = Param::lazy(DType::f32, {1}, [&calls]() -> Result<Tensor> {
    if (++calls == 1) return Error{.code = ErrorCode::out_of_memory, .message = "full"};
    return numbers({3});
  });
  EXPECT_EQ(param.val().error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(param.as<float>().value()[0], 3);
}

TEST(Param, RefusesAnInitializerThatGivesAnotherShape) {
  const Param param = Param::lazy(DType::f32, {3}, []() -> Result<Tensor> { return numbers({1}); });
  EXPECT_EQ(param.val().error().code, ErrorCode::shape_mismatch);
  const Param other = Param::lazy(DType::f64, {1}, []() -> Result<Tensor> { return numbers({1}); });
  EXPECT_EQ(other.val().error().code, ErrorCode::dtype_mismatch);
}

TEST(Param, TiedOnesAreOneParameter) {
  Param first(numbers({1, 2}));
  Param second(numbers({3}));
  tie(first, second);
  EXPECT_TRUE(first.is_tied_with(second));
  EXPECT_EQ(first.id(), second.id());
  second.as_mutable<float>().value()[0] = 9;
  EXPECT_EQ(first.as<float>().value()[0], 9);
  first.set_val(numbers({4}));
  EXPECT_EQ(second.shape(), Shape{1});
}

TEST(Param, TiedTransposedIsOneParameterWithRowsAndColumnsExchanged) {
  Param first(Tensor::from_values<float>({2, 3}, {1, 2, 3, 4, 5, 6}).value());
  Param second;
  tie_transposed(first, second).value();
  EXPECT_TRUE(first.is_tied_with(second));
  EXPECT_TRUE(second.is_transposed());
  EXPECT_EQ(second.shape(), Shape({3, 2}));
  first.as_mutable<float>().value()[1] = 9;
  EXPECT_EQ(second.val().value().to_vector<float>().value(),
            (std::vector<float>{1, 4, 9, 5, 3, 6}));
  second.set_val(Tensor::from_values<float>({3, 2}, {1, 2, 3, 4, 5, 6}).value());
  EXPECT_EQ(first.val().value().to_vector<float>().value(), (std::vector<float>{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(second.as<float>().error().code, ErrorCode::unsupported);
  EXPECT_EQ(second.as_mutable<float>().error().code, ErrorCode::unsupported);
  // Once more, and it is as the first is.
  Param third;
  tie_transposed(second, third).value();
  EXPECT_EQ(third.shape(), Shape({2, 3}));
  EXPECT_FALSE(third.is_transposed());
  // A copy is a parameter of its own, with elements in its own order.
  const Param copy = second;
  EXPECT_FALSE(copy.is_transposed());
  EXPECT_EQ(copy.id(), second.id());
  EXPECT_EQ(copy.as<float>().value()[1], 2);
  EXPECT_EQ(copy.val().value().to_vector<float>().value(),
            second.val().value().to_vector<float>().value());
  Param misfit(Tensor::zeros(DType::f32, {2, 3}).value());
  EXPECT_EQ(tie_transposed(first, misfit).error().code, ErrorCode::shape_mismatch);
  Param vector(numbers({1, 2}));
  EXPECT_EQ(tie_transposed(vector, third).error().code, ErrorCode::shape_mismatch);
}

TEST(Param, MovingKeepsTiesAndCopyingDoesNot) {
  Param first(numbers({1}));
  Param second;
  tie(first, second);
  std::vector<Param> grown;
  grown.push_back(std::move(second));
  grown.emplace_back();
  grown.emplace_back();
  EXPECT_TRUE(first.is_tied_with(grown[0]));
  const Param copy = grown[0];
  EXPECT_FALSE(first.is_tied_with(copy));
}

TEST(Param, ThatWasMovedFromCanBeUsedAgain) {
  Param first(numbers({1}));
  const Param second = std::move(first);
  EXPECT_FALSE(first.is_set());  // NOLINT(bugprone-use-after-move)
  first.set_val(numbers({2, 3}));
  EXPECT_EQ(first.shape(), Shape{2});
  EXPECT_EQ(second.shape(), Shape{1});
}

TEST(Param, AMovedFromTransposedOneIsAsNew) {
  Param first(Tensor::zeros(DType::f32, {2, 3}).value());
  Param second;
  tie_transposed(first, second).value();
  const Param moved = std::move(second);
  second.set_val(Tensor::zeros(DType::f32, {2, 3}).value());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(second.shape(), Shape({2, 3}));
  EXPECT_EQ(moved.shape(), Shape({3, 2}));
}

TEST(Param, IsNotTiedToItselfTransposed) {
  Param one(Tensor::zeros(DType::f32, {2, 2}).value());
  EXPECT_EQ(tie_transposed(one, one).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace andiron
