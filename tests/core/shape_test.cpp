// SPDX-License-Identifier: MIT OR Apache-2.0
// The dimensions of a tensor.
#include "andiron/shape.h"

#include <gtest/gtest.h>

#include <sstream>

#include <cstdint>
#include <vector>

namespace andiron {
namespace {

constexpr std::uint64_t big = std::uint64_t{1} << 32;

TEST(Shape, KnowsItsDimensions) {
  Shape shape({2, 3, 4});
  EXPECT_EQ(shape.rank(), 3u);
  EXPECT_EQ(shape[1], 3u);
  shape[1] = 5;
  EXPECT_EQ(shape, Shape({2, 5, 4}));
  EXPECT_NE(shape, Shape({2, 5}));
  const std::vector<std::uint64_t> dims(shape.begin(), shape.end());
  EXPECT_EQ(dims, (std::vector<std::uint64_t>{2, 5, 4}));
  EXPECT_EQ(Shape(std::span<const std::uint64_t>(dims)), shape);
}

TEST(Shape, OfNoDimensionsIsAScalar) {
  EXPECT_EQ(Shape().rank(), 0u);
  EXPECT_EQ(Shape().element_count().value(), 1u);
  EXPECT_EQ(Shape().byte_count(DType::f64).value(), 8u);
}

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape({7}).element_count().value(), 7u);
  EXPECT_EQ(Shape({2, 3, 4}).element_count().value(), 24u);
  EXPECT_EQ(Shape({2, 0, 4}).element_count().value(), 0u);
  EXPECT_EQ(Shape({big, big - 1}).element_count().value(), big * (big - 1));
}

TEST(Shape, RefusesMoreElementsThanFit64Bits) {
  for (const Shape& shape : {Shape({big, big}), Shape({2, big, big}), Shape({big, big, 0})}) {
    const Result<std::uint64_t> count = shape.element_count();
    ASSERT_FALSE(count.ok()) << shape.to_string();
    EXPECT_EQ(count.error().code, ErrorCode::overflow);
    EXPECT_EQ(count.error().found, shape.to_string());
  }
  EXPECT_EQ(Shape({0, big, big}).element_count().value(), 0u) << "multiplied from the left";
}

TEST(Shape, CountsBytesOfEveryWidth) {
  const Shape shape({2, 4});
  EXPECT_EQ(shape.byte_count(DType::boolean).value(), 8u);
  EXPECT_EQ(shape.byte_count(DType::bf16).value(), 16u);
  EXPECT_EQ(shape.byte_count(DType::c128).value(), 128u);
  EXPECT_EQ(shape.byte_count(DType::f4e2m1).value(), 4u);
  EXPECT_EQ(shape.byte_count(DType::f6e3m2).value(), 6u);
}

TEST(Shape, RefusesSubByteTypesThatLeavePartOfAByte) {
  const Result<std::uint64_t> bytes = Shape({3}).byte_count(DType::f4e2m1);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().code, ErrorCode::misaligned);
  EXPECT_EQ(bytes.error().found, "f4e2m1 [3]");
  EXPECT_FALSE(Shape({2}).byte_count(DType::f6e2m3).ok());
  EXPECT_TRUE(Shape({4}).byte_count(DType::f6e2m3).ok());
  EXPECT_EQ(Shape({0}).byte_count(DType::f4e2m1).value(), 0u);
}

TEST(Shape, RefusesMoreBitsThanFit64) {
  const Result<std::uint64_t> bytes = Shape({big, big / 8}).byte_count(DType::u8);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().code, ErrorCode::overflow);
  EXPECT_EQ(Shape({big, big / 16}).byte_count(DType::u8).value(), big * (big / 16));
}

TEST(Shape, DoesNotGuessTheSizeOfOpaqueTypes) {
  for (const DType dtype : {DType::qfloat, DType::raw}) {
    const Result<std::uint64_t> bytes = Shape({4}).byte_count(dtype);
    ASSERT_FALSE(bytes.ok());
    EXPECT_EQ(bytes.error().code, ErrorCode::invalid_argument);
  }
}

TEST(Shape, ReadsAsAList) {
  EXPECT_EQ(Shape().to_string(), "[]");
  EXPECT_EQ(Shape({0}).to_string(), "[0]");
  EXPECT_EQ(Shape({2, 3}).to_string(), "[2, 3]");
}

TEST(Shape, IsPrintedWithItsDtype) {
  std::ostringstream out;
  out << DType::bf16 << Shape{2, 3};
  EXPECT_EQ(out.str(), "bf16[2, 3]");
}

}  // namespace
}  // namespace andiron
