// SPDX-License-Identifier: MIT OR Apache-2.0
// Parts of tensors, lent or read.
#include "src/analysis/part_reader.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/analysis/stretches.h"
#include "tests/support/archive_writing.h"
#include "tests/support/noise.h"
#include "tests/support/test_source.h"

namespace andiron::test {
namespace {

using detail::PartReader;

std::string text_of(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

TEST(PartReader, LendsPartsOfTensorsInMemory) {
  const Tensor tensor = filled(DType::f32, {100});
  PartReader reader;
  ASSERT_TRUE(reader.open({"t", tensor}, 1 << 20));
  const auto part = reader.read(40, 80).value();
  EXPECT_EQ(part.data(), tensor.bytes().data() + 40);
  EXPECT_EQ(part.size(), 80U);
}

TEST(PartReader, ReadsPartsOfOthersAndOnlyThese) {
  const std::string data = noise(1000);
  const auto source = std::make_shared<TestSource>(data);
  PartReader reader;
  ASSERT_TRUE(reader.open(
      TensorSnapshot::from_source("t", source, 0, 1000, DType::u16, {500}).value(), 1 << 20));
  EXPECT_EQ(text_of(reader.read(100, 10).value()), data.substr(100, 10));
  EXPECT_EQ(text_of(reader.read(0, 1000).value()), data);
  EXPECT_EQ(source->bytes_read(), 1010U);
}

TEST(PartReader, PartsAreWholePiecesWithinTheMemoryGiven) {
  const auto source = std::make_shared<TestSource>(std::string(100, ' '));
  const TensorSnapshot run =
      TensorSnapshot::from_source("t", source, 0, 96, DType::f64, {3, 4}).value();
  const TensorSnapshot turned = run.transpose(0, 1).value();
  PartReader reader;
  for (const std::uint64_t window :
       {std::uint64_t{0}, std::uint64_t{100'000}, std::uint64_t{8} << 20}) {
    for (const TensorSnapshot& one : {run, turned}) {
      ASSERT_TRUE(reader.open(one, window));
      EXPECT_EQ(reader.part_bytes() % detail::most_piece_bytes, 0U);
      EXPECT_GT(reader.part_bytes(), 0U);
      EXPECT_LE(reader.part_bytes(), std::max(window, detail::most_piece_bytes));
    }
  }
  // What is gathered is gathered in larger parts than what is read.
  ASSERT_TRUE(reader.open(turned, std::uint64_t{8} << 20));
  EXPECT_EQ(reader.part_bytes(), std::uint64_t{8} << 20);
}

TEST(PartReader, ErrorsNameTheTensor) {
  const auto source = std::make_shared<TestSource>(std::string(100, ' '));
  source->fail_reads_past(50);
  PartReader reader;
  ASSERT_TRUE(reader.open(
      TensorSnapshot::from_source("a.b", source, 0, 100, DType::u8, {100}).value(), 1 << 20));
  EXPECT_TRUE(reader.read(0, 50));
  const auto part = reader.read(0, 51);
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().tensor, "a.b");
}

TEST(Stretches, CoverATensorAndAreNeverMany) {
  for (const std::uint64_t count :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 21, (std::uint64_t{1} << 21) + 1,
        std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    std::vector<detail::Stretch> stretches;
    append_stretches(stretches, 5, count);
    std::uint64_t covered = 0;
    for (const detail::Stretch& stretch : stretches) {
      EXPECT_EQ(stretch.item, 5U);
      EXPECT_EQ(stretch.first, covered);
      EXPECT_EQ(stretch.first % detail::piece_elements, 0U);
      EXPECT_GT(stretch.count, 0U);
      covered += stretch.count;
    }
    EXPECT_EQ(covered, count);
    EXPECT_LE(stretches.size(), 1025U);
  }
}

}  // namespace
}  // namespace andiron::test
