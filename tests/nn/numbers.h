// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors of a few numbers, and how they are compared.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/error.h"
#include "andiron/nn/functions.h"
#include "andiron/param.h"
#include "andiron/tensor.h"

namespace andiron::test {

using Values = std::vector<double>;

inline std::size_t elements_of(const Shape& shape) {
  return static_cast<std::size_t>(shape.element_count().value());
}

/// A tensor with these elements.
template <class T = float>
Tensor tensor_of(const Shape& shape, const Values& values) {
  const std::vector<T> elements(values.begin(), values.end());
  return Tensor::from_values<T>(shape, std::span<const T>(elements)).value();
}

/// A vector.
inline Tensor vector_of(const Values& values) { return tensor_of({values.size()}, values); }

/// One number for all elements.
template <class T = float>
Tensor filled(const Shape& shape, double value) {
  return tensor_of<T>(shape, Values(elements_of(shape), value));
}

/// first, first + step ...
template <class T = float>
Tensor counting(const Shape& shape, double first = 0, double step = 1) {
  Values values(elements_of(shape));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = first + static_cast<double>(i) * step;
  }
  return tensor_of<T>(shape, values);
}

/// From -1 to 1, the same for the same seed.
template <class T = float>
Tensor random_tensor(const Shape& shape, unsigned seed) {
  std::mt19937 engine(seed);
  Values values(elements_of(shape));
  for (double& value : values) value = static_cast<double>(engine()) / 2147483648.0 - 1;
  return tensor_of<T>(shape, values);
}

inline Tensor bools_of(const Shape& shape, const std::vector<int>& flags) {
  std::vector<std::uint8_t> bytes(flags.begin(), flags.end());
  return Tensor::from_bytes(DType::boolean, shape, Bytes::own(std::move(bytes))).value();
}

/// The same elements in memory where they do not start on a boundary, as in files.
inline Tensor misaligned(const Tensor& tensor) {
  std::vector<std::byte> memory(tensor.byte_size() + 1);
  std::copy_n(tensor.bytes().data(), tensor.byte_size(), memory.data() + 1);
  const Bytes bytes = Bytes::own(std::move(memory));
  return Tensor::from_bytes(tensor.dtype(), tensor.shape(),
                            bytes.slice(1, tensor.byte_size()).value())
      .value();
}

/// The elements as doubles.
inline Values values_of(const Result<Tensor>& tensor) {
  return nn::cast(tensor, DType::f64).value().to_vector<double>().value();
}

/// The shape and the elements, each within `tolerance`. NaN is as NaN.
inline void expect_near(const Result<Tensor>& found, const Shape& shape, const Values& expected,
                        double tolerance = 1e-6) {
  ASSERT_TRUE(found.ok()) << found.error();
  ASSERT_EQ(found->shape(), shape);
  const Values values = values_of(*found);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(values[i])) continue;
    if (values[i] == expected[i]) continue;  // infinities too
    ASSERT_NEAR(values[i], expected[i], tolerance) << "element " << i;
  }
}

inline void expect_near(const Result<Tensor>& found, const Result<Tensor>& expected,
                        double tolerance = 1e-6) {
  ASSERT_TRUE(expected.ok()) << expected.error();
  expect_near(found, expected->shape(), values_of(*expected), tolerance);
}

/// The same dtype, shape and bits.
inline void expect_same(const Result<Tensor>& found, const Result<Tensor>& expected) {
  ASSERT_TRUE(found.ok()) << found.error();
  ASSERT_TRUE(expected.ok()) << expected.error();
  EXPECT_EQ(found->dtype(), expected->dtype());
  ASSERT_EQ(found->shape(), expected->shape());
  const std::string_view a = found->bytes().text();
  const std::string_view b = expected->bytes().text();
  ASSERT_EQ(a.size(), b.size());
  const auto at = std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin();
  EXPECT_EQ(static_cast<std::size_t>(at), a.size()) << "they differ from this byte on";
}

/// An error of this code, whose text has these parts.
template <class T>
void expect_error(const Result<T>& found, ErrorCode code,
                  std::initializer_list<std::string_view> parts = {}) {
  ASSERT_FALSE(found.ok());
  const std::string text = found.error().to_string();
  EXPECT_EQ(found.error().code, code) << text;
  for (const std::string_view part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << text << " lacks " << part;
  }
}

/// What no size may be.
inline constexpr std::uint64_t huge_size = std::uint64_t{1} << 63;

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace andiron::test
