// SPDX-License-Identifier: MIT OR Apache-2.0
// Casts that count what they lose.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "andiron/snapshot.h"
#include "andiron/tensor.h"

namespace andiron {
namespace {

constexpr float float_infinity = std::numeric_limits<float>::infinity();

struct Lost {
  std::uint64_t overflowed;
  std::uint64_t underflowed;
  friend bool operator==(const Lost&, const Lost&) = default;
};
std::ostream& operator<<(std::ostream& out, const Lost& lost) {
  return out << lost.overflowed << " overflowed, " << lost.underflowed << " underflowed";
}

template <class T>
TensorSnapshot list_of(const std::vector<T>& values) {
  return TensorSnapshot("t", Tensor::from_values<T>({values.size()}, values).value());
}

// What a cast of the whole tensor loses; checks that the bytes are those of a plain cast.
template <class T>
Lost lost(const std::vector<T>& values, DType to) {
  const TensorSnapshot tensor = list_of(values);
  const auto loss = std::make_shared<CastLoss>();
  const Tensor counted = tensor.cast(to, loss).value().read().value();
  const Tensor plain = tensor.cast(to).value().read().value();
  EXPECT_EQ(counted.dtype(), to);
  EXPECT_EQ(counted.bytes().text(), plain.bytes().text());
  return {loss->overflowed, loss->underflowed};
}

TEST(CastLoss, CountsFloatsThatBecomeInfinite) {
  EXPECT_EQ(lost<float>({1, 65504, 65520, -1e6f}, DType::f16), (Lost{2, 0}));
  EXPECT_EQ(lost<double>({1e300, -1e39, 1}, DType::f32), (Lost{2, 0}));
}

TEST(CastLoss, CountsElementsThatBecomeZero) {
  EXPECT_EQ(lost<float>({0, -0.0f, 1e-9f, -1e-9f, 6e-8f}, DType::f16), (Lost{0, 2}));
  EXPECT_EQ(lost<float>({0.25f, -0.75f, 2.5f}, DType::i8), (Lost{0, 2}));
}

TEST(CastLoss, WhatStaysInfiniteOrNaNIsNotLost) {
  EXPECT_EQ(lost<float>({float_infinity, -float_infinity, std::nanf("")}, DType::bf16),
            (Lost{0, 0}));
}

TEST(CastLoss, CountsWhatIntegersCannotHold) {
  EXPECT_EQ(lost<float>({127, 128, -129, float_infinity, std::nanf("")}, DType::i8), (Lost{4, 0}));
  EXPECT_EQ(lost<std::int32_t>({255, 256, -1}, DType::u8), (Lost{2, 0}));
}

TEST(CastLoss, CountsAtTheEdgesOf64Bits) {
  const double edge = std::ldexp(1.0, 63);
  EXPECT_EQ(lost<double>({edge, 2 * edge, 1e30, -edge, edge - 1024}, DType::i64), (Lost{3, 0}));
  EXPECT_EQ(lost<double>({2 * edge, 1e30, edge, -1}, DType::u64), (Lost{3, 0}));
  const auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(lost<std::uint64_t>({static_cast<std::uint64_t>(most)}, DType::i64), (Lost{0, 0}));
  EXPECT_EQ(lost<std::uint64_t>({static_cast<std::uint64_t>(most) + 1}, DType::i64), (Lost{1, 0}));
}

TEST(CastLoss, CountsWhatTypesWithoutInfinityCannotHold) {
  EXPECT_EQ(lost<float>({448, 1e4f}, DType::f8e4m3fn), (Lost{1, 0}));
  EXPECT_EQ(lost<float>({6, 100, -7.5f, 1}, DType::f4e2m1), (Lost{2, 0}));
}

TEST(CastLoss, RoundingIsNotALoss) {
  EXPECT_EQ(lost<float>({1.0001f, 3.14159f}, DType::bf16), (Lost{0, 0}));
  EXPECT_EQ(lost<std::int64_t>({(std::int64_t{1} << 60) + 1}, DType::f32), (Lost{0, 0}));
  EXPECT_EQ(lost<float>({3, 0.5f}, DType::boolean), (Lost{0, 0}));
}

TEST(CastLoss, TheSameDtypeLosesNothing) {
  EXPECT_EQ(lost<float>({1, float_infinity}, DType::f32), (Lost{0, 0}));
}

TEST(CastLoss, PartsAddUp) {
  std::vector<float> values(10'001, 1.0f);
  for (std::size_t i = 0; i < values.size(); i += 10) values[i] = 1e30f;
  const auto loss = std::make_shared<CastLoss>();
  const TensorSnapshot cast = list_of(values).cast(DType::f16, loss).value();
  std::vector<std::byte> part(2 * 777);
  for (std::uint64_t at = 0; at < cast.byte_size(); at += part.size()) {
    const auto size = std::min<std::uint64_t>(part.size(), cast.byte_size() - at);
    ASSERT_TRUE(cast.read_part(at, std::span(part).first(size)).ok());
  }
  EXPECT_EQ(loss->overflowed, 1001u);
}

TEST(CastLoss, CountsBothPartsOfComplexNumbers) {
  const std::vector<float> parts = {1e6f, 1, 1e-12f, 0};
  Bytes bytes = Bytes::copy(std::as_bytes(std::span(parts))).value();
  const TensorSnapshot tensor("z", Tensor::from_bytes(DType::c64, {2}, std::move(bytes)).value());
  const auto loss = std::make_shared<CastLoss>();
  ASSERT_TRUE(tensor.cast(DType::c32, loss).value().read().ok());
  EXPECT_EQ(loss->overflowed, 1u);
  EXPECT_EQ(loss->underflowed, 1u);
}

TEST(CastLoss, AnElementThatIsReadInPartsIsCast) {
  const auto loss = std::make_shared<CastLoss>();
  const TensorSnapshot cast = list_of<float>({1, 2, 3}).cast(DType::f16, loss).value();
  const Tensor turned = cast.slice(0, 2, std::nullopt, -1).value().read().value();
  EXPECT_EQ(turned.to_vector<Float16>().value().front(), to_float16(3));
}

TEST(CastLoss, IsNotNeeded) {
  const TensorSnapshot cast = list_of<float>({1e9f}).cast(DType::f16, nullptr).value();
  EXPECT_TRUE(cast.read().ok());
}

TEST(CastLoss, KeepsNameAndId) {
  const auto loss = std::make_shared<CastLoss>();
  const TensorSnapshot tensor = list_of<float>({1}).with_param_id(ParamId{7});
  const TensorSnapshot cast = tensor.cast(DType::f16, loss).value();
  EXPECT_EQ(cast.full_path(), "t");
  EXPECT_EQ(cast.param_id(), ParamId{7});
}

TEST(CastLoss, WhatCannotBeCastIsRefused) {
  const auto loss = std::make_shared<CastLoss>();
  EXPECT_EQ(list_of<float>({1}).cast(DType::c64, loss).error().code, ErrorCode::unsupported_dtype);
}

}  // namespace
}  // namespace andiron
