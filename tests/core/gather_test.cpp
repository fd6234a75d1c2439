// SPDX-License-Identifier: MIT OR Apache-2.0
// Gathering large views: blocks larger than the scratch buffer, every element width, every
// permutation.
#include "src/core/kernels/gather.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "andiron/snapshot.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

// Bytes of every element of a permuted tensor, one by one.
std::vector<std::byte> permuted(const std::vector<std::byte>& data,
                                const std::vector<std::uint64_t>& shape,
                                const std::vector<std::size_t>& dims, std::size_t width) {
  std::vector<std::size_t> strides(shape.size());
  for (std::size_t d = shape.size(), step = width; d-- > 0; step *= shape[d]) strides[d] = step;
  std::vector<std::byte> out;
  out.reserve(data.size());
  std::vector<std::uint64_t> at(shape.size(), 0);
  for (std::size_t i = 0; i < data.size() / width; ++i) {
    std::size_t from = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) from += at[d] * strides[dims[d]];
    out.insert(out.end(), data.begin() + static_cast<std::ptrdiff_t>(from),
               data.begin() + static_cast<std::ptrdiff_t>(from + width));
    for (std::size_t d = dims.size(); d-- > 0 && ++at[d] == shape[dims[d]];) at[d] = 0;
  }
  return out;
}

TEST(Gather, PermutesTensorsLargerThanItsScratchForEveryWidth) {
  const std::vector<std::uint64_t> shape = {70, 130, 67};
  std::mt19937 random(7);
  for (DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64, DType::c128}) {
    const std::size_t width = bit_width(dtype) / 8;
    std::vector<std::byte> data(70 * 130 * 67 * width);
    for (std::byte& b : data) b = static_cast<std::byte>(random());
    std::vector<std::size_t> dims = {0, 1, 2};
    do {
      const std::vector<std::byte> expected = permuted(data, shape, dims, width);
      for (const ByteSourcePtr& source : {ByteSourcePtr(std::make_shared<test::TestSource>(data)),
                                          memory_source(Bytes::own(data))}) {
        const TensorSnapshot lazy =
            TensorSnapshot::from_source("t", source, 0, data.size(), dtype, Shape(shape))
                .value()
                .permute(dims)
                .value();
        ASSERT_TRUE(std::ranges::equal(lazy.read().value().bytes().span(), expected));
      }
    } while (std::next_permutation(dims.begin(), dims.end()));
  }
}

TEST(Gather, AWindowThatStartsAnywhereEqualsThatPartOfTheWhole) {
  std::vector<std::uint32_t> numbers(300 * 500);
  std::iota(numbers.begin(), numbers.end(), 0u);
  auto source = std::make_shared<test::TestSource>(test::bytes_of(numbers));
  const TensorSnapshot turned =
      TensorSnapshot::from_source("t", source, 0, source->size(), DType::u32, {300, 500})
          .value()
          .transpose(0, 1)
          .value();
  const Tensor whole = turned.read().value();
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t first = random() % numbers.size();
    const std::uint64_t count = random() % (numbers.size() - first) % 5000;
    std::vector<std::byte> part(count * 4);
    ASSERT_TRUE(turned.read_part(first * 4, part));
    ASSERT_TRUE(std::ranges::equal(part, whole.bytes().span().subspan(first * 4, count * 4)));
  }
}

TEST(Gather, ATransposeReadsItsSourceOnce) {
  auto source = std::make_shared<test::TestSource>(std::vector<std::byte>(1024 * 1024 * 4));
  TensorSnapshot::from_source("t", source, 0, source->size(), DType::f32, {1024, 1024})
      .value()
      .transpose(0, 1)
      .value()
      .read()
      .value();
  EXPECT_EQ(source->bytes_read(), source->size());
  EXPECT_LE(source->reads(), 8u);
}

TEST(Gather, CastsAndTransposesInOnePass) {
  std::vector<float> numbers(700 * 900);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  auto source = std::make_shared<test::TestSource>(test::bytes_of(numbers));
  const Tensor read =
      TensorSnapshot::from_source("t", source, 0, source->size(), DType::f32, {700, 900})
          .value()
          .transpose(0, 1)
          .value()
          .cast(DType::f64)
          .value()
          .read()
          .value();
  const auto values = read.as<double>().value();
  for (std::size_t i = 0; i < 900; ++i) {
    for (std::size_t k = 0; k < 700; ++k) ASSERT_EQ(values[i * 700 + k], double(k * 900 + i));
  }
  EXPECT_EQ(source->bytes_read(), source->size());
}

}  // namespace
}  // namespace andiron
