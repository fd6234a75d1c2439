// SPDX-License-Identifier: MIT OR Apache-2.0
// Where bytes come from.
#include "andiron/byte_source.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "src/core/slice_source.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

std::vector<std::byte> counting(std::size_t size) {
  std::vector<std::byte> data(size);
  for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i);
  return data;
}

TEST(MemorySource, ReadsAnyRange) {
  const ByteSourcePtr source = memory_source(Bytes::own(counting(20)));
  EXPECT_EQ(source->size(), 20u);
  for (std::size_t offset = 0; offset <= 20; ++offset) {
    for (std::size_t count = 0; offset + count <= 20; ++count) {
      std::vector<std::byte> out(count);
      ASSERT_TRUE(source->read_at(offset, out).ok());
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(out[i], static_cast<std::byte>(offset + i));
      }
    }
  }
}

TEST(MemorySource, LendsItsMemoryWithoutACopy) {
  const Bytes bytes = Bytes::own(counting(20));
  const ByteSourcePtr source = memory_source(bytes);
  EXPECT_TRUE(source->can_view());
  EXPECT_TRUE(source->in_memory());
  EXPECT_EQ(source->file_descriptor(), -1);
  const Bytes view = source->view(5, 10).value();
  EXPECT_EQ(view.data(), bytes.data() + 5);
  EXPECT_EQ(view.size(), 10u);
}

TEST(MemorySource, AViewOutlivesItsSource) {
  ByteSourcePtr source = memory_source(Bytes::own(counting(1000)));
  const Bytes view = source->view(999, 1).value();
  source.reset();
  EXPECT_EQ(view.span()[0], static_cast<std::byte>(999 % 256));
}

TEST(MemorySource, HasANameForMessages) {
  EXPECT_EQ(memory_source(Bytes())->name(), "memory");
  EXPECT_EQ(memory_source(Bytes(), "upload.safetensors")->name(), "upload.safetensors");
}

TEST(MemorySource, OfNothingReadsNothing) {
  const ByteSourcePtr source = memory_source(Bytes());
  EXPECT_EQ(source->size(), 0u);
  EXPECT_TRUE(source->read_at(0, {}).ok());
  EXPECT_TRUE(source->view(0, 0).value().empty());
  std::byte one{};
  EXPECT_FALSE(source->read_at(0, {&one, 1}).ok());
}

TEST(ByteSource, RefusesReadsPastTheEndAndSaysWhere) {
  const test::TestSource source(counting(20));
  std::vector<std::byte> out(5);
  for (const std::uint64_t offset :
       {std::uint64_t{16}, std::uint64_t{20}, std::uint64_t{21}, largest, largest - 4}) {
    const Status status = source.read_at(offset, out);
    ASSERT_FALSE(status.ok()) << offset;
    EXPECT_EQ(status.error().code, ErrorCode::truncated);
    EXPECT_EQ(status.error().file, "test source");
    EXPECT_EQ(status.error().found, "5 bytes from " + std::to_string(offset));
  }
  EXPECT_FALSE(source.read_at(21, {}).ok()) << "even nothing has to lie within";
  EXPECT_TRUE(source.read_at(20, {}).ok());
  EXPECT_EQ(source.bytes_read(), 0u);
}

TEST(ByteSource, RefusesViewsPastTheEnd) {
  const ByteSourcePtr source = memory_source(Bytes::own(counting(20)));
  const std::pair<std::uint64_t, std::uint64_t> ranges[] = {
      {0, 21}, {20, 1}, {21, 0}, {1, largest}, {largest, 1}, {largest, largest}};
  for (const auto& [offset, count] : ranges) {
    const Result<Bytes> view = source->view(offset, count);
    ASSERT_FALSE(view.ok()) << offset << " " << count;
    EXPECT_EQ(view.error().code, ErrorCode::truncated);
  }
}

TEST(ByteSource, LendsNothingUnlessASourceSaysSo) {
  const test::TestSource source(counting(20));
  EXPECT_FALSE(source.can_view());
  EXPECT_FALSE(source.in_memory());
  EXPECT_EQ(source.file_descriptor(), -1);
  const Result<Bytes> view = source.view(0, 1);
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, ErrorCode::unsupported);
  EXPECT_EQ(view.error().file, "test source");
}

TEST(ByteSource, PassesAFailureOfTheSourceOn) {
  test::TestSource source(counting(20));
  source.fail_reads_past(10);
  std::vector<std::byte> out(10);
  EXPECT_TRUE(source.read_at(0, out).ok());
  const Status status = source.read_at(1, out);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::io);
}

TEST(SliceSource, IsAPartOfAnotherUnderItsName) {
  const ByteSourcePtr whole = memory_source(Bytes::own(counting(20)), "whole");
  const ByteSourcePtr slice = detail::slice_source(whole, 5, 10);
  EXPECT_EQ(slice->size(), 10u);
  EXPECT_EQ(slice->name(), "whole");
  EXPECT_TRUE(slice->in_memory());
  EXPECT_EQ(slice->view(2, 8).value().data(), whole->view(7, 8).value().data());
  std::vector<std::byte> out(10);
  ASSERT_TRUE(slice->read_at(0, out).ok());
  EXPECT_EQ(out[0], std::byte{5});
  EXPECT_EQ(out[9], std::byte{14});
}

TEST(SliceSource, GivesNothingOfWhatLiesAroundIt) {
  const ByteSourcePtr whole = memory_source(Bytes::own(counting(20)));
  const ByteSourcePtr slice = detail::slice_source(whole, 5, 10);
  std::vector<std::byte> out(2);
  for (const std::uint64_t offset : {std::uint64_t{9}, std::uint64_t{10}, largest - 4, largest}) {
    EXPECT_EQ(slice->read_at(offset, out).error().code, ErrorCode::truncated) << offset;
    EXPECT_FALSE(slice->view(offset, 2).ok()) << offset;
  }
  const ByteSourcePtr nothing = detail::slice_source(whole, 20, 0);
  EXPECT_TRUE(nothing->read_at(0, {}).ok());
  EXPECT_FALSE(nothing->read_at(0, out).ok());
}

TEST(SliceSource, LendsNoMoreThanTheWhole) {
  const auto whole = std::make_shared<test::TestSource>(counting(20));
  const ByteSourcePtr slice = detail::slice_source(whole, 5, 10);
  EXPECT_FALSE(slice->can_view());
  EXPECT_FALSE(slice->in_memory());
  EXPECT_EQ(slice->file_descriptor(), -1);
  EXPECT_EQ(slice->view(0, 1).error().code, ErrorCode::unsupported);
}

TEST(SliceSource, OfASliceIsASlice) {
  const ByteSourcePtr whole = memory_source(Bytes::own(counting(20)));
  const ByteSourcePtr inner = detail::slice_source(detail::slice_source(whole, 5, 10), 2, 3);
  EXPECT_EQ(inner->view(0, 3).value().span()[0], std::byte{7});
}

}  // namespace
}  // namespace andiron
