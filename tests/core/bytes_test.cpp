// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory with an owner.
#include "andiron/bytes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace andiron {
namespace {

bool starts_on(const Bytes& bytes, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0;
}

std::vector<std::byte> counting_bytes(std::size_t size) {
  std::vector<std::byte> data(size);
  for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i);
  return data;
}

TEST(Bytes, AreEmptyByDefault) {
  Bytes bytes;
  EXPECT_TRUE(bytes.empty());
  EXPECT_EQ(bytes.size(), 0u);
  EXPECT_EQ(bytes.text(), "");
  EXPECT_TRUE(bytes.writable().empty());
}

TEST(Bytes, AllocatedMemoryIsAlignedAndWritable) {
  for (const std::size_t size : {1, 63, 64, 65, 4096, 100'000}) {
    Bytes bytes = Bytes::allocate(size).value();
    EXPECT_EQ(bytes.size(), size);
    EXPECT_TRUE(starts_on(bytes, Bytes::alignment)) << size;
    ASSERT_EQ(bytes.writable().size(), size);
    std::memset(bytes.writable().data(), 0x5a, size);
    EXPECT_EQ(bytes.span().back(), std::byte{0x5a});
  }
}

TEST(Bytes, LargeMemoryStartsOnAHugePage) {
  EXPECT_TRUE(starts_on(Bytes::allocate(Bytes::huge_page_bytes).value(), Bytes::huge_page_bytes));
  EXPECT_TRUE(
      starts_on(Bytes::allocate(Bytes::huge_page_bytes + 1).value(), Bytes::huge_page_bytes));
}

TEST(Bytes, AllocatingNothingGivesNothing) {
  EXPECT_TRUE(Bytes::allocate(0).value().empty());
  EXPECT_TRUE(Bytes::copy({}).value().empty());
}

TEST(Bytes, SaySoWhenMemoryCannotBeHad) {
  constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
  // Close to the end of the range, where rounding up to the alignment would wrap around.
  for (const std::size_t size :
       {largest, largest - 63, largest - Bytes::huge_page_bytes, largest / 2 + 1}) {
    const Result<Bytes> bytes = Bytes::allocate(size);
    ASSERT_FALSE(bytes.ok()) << size;
    EXPECT_EQ(bytes.error().code, ErrorCode::out_of_memory);
    EXPECT_NE(bytes.error().found.find(std::to_string(size)), std::string::npos);
  }
}

TEST(Bytes, ACopyIsIndependentOfItsOrigin) {
  std::vector<std::byte> data = counting_bytes(10);
  const Bytes bytes = Bytes::copy(data).value();
  data[3] = std::byte{0xff};
  EXPECT_EQ(bytes.span()[3], std::byte{3});
  EXPECT_NE(bytes.data(), data.data());
}

TEST(Bytes, OwnTakesAVectorWithoutCopying) {
  std::vector<std::byte> data = counting_bytes(1000);
  const std::byte* place = data.data();
  Bytes bytes = Bytes::own(std::move(data));
  EXPECT_EQ(bytes.data(), place);
  EXPECT_EQ(bytes.size(), 1000u);
  EXPECT_EQ(bytes.writable().data(), place);
}

TEST(Bytes, BorrowedMemoryIsNeitherCopiedNorWritable) {
  static constexpr std::byte data[3] = {std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
  Bytes bytes = Bytes::borrow(data);
  EXPECT_EQ(bytes.data(), data);
  EXPECT_EQ(bytes.text(), "abc");
  EXPECT_TRUE(bytes.writable().empty());
}

TEST(Bytes, SharedMemoryLivesAsLongAsTheLastView) {
  auto owner = std::make_shared<std::vector<std::byte>>(counting_bytes(8));
  const std::weak_ptr<std::vector<std::byte>> watch = owner;
  Bytes slice;
  {
    Bytes whole = Bytes::share(owner, *owner);
    owner.reset();
    EXPECT_TRUE(whole.writable().empty()) << "foreign memory is not ours to write";
    slice = whole.slice(4, 2).value();
  }
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(slice.span()[0], std::byte{4});
  slice = Bytes();
  EXPECT_TRUE(watch.expired());
}

TEST(Bytes, SlicesShareMemory) {
  const Bytes bytes = Bytes::own(counting_bytes(10));
  const Bytes middle = bytes.slice(2, 5).value();
  EXPECT_EQ(middle.data(), bytes.data() + 2);
  EXPECT_EQ(middle.size(), 5u);
  EXPECT_EQ(middle.slice(1, 3).value().data(), bytes.data() + 3);
  EXPECT_TRUE(bytes.slice(10, 0).value().empty());
  EXPECT_TRUE(Bytes().slice(0, 0).value().empty());
}

TEST(Bytes, SlicesThatLeaveTheViewAreRefused) {
  constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
  const Bytes bytes = Bytes::own(counting_bytes(10)).slice(2, 6).value();
  const std::pair<std::size_t, std::size_t> ranges[] = {
      {7, 0}, {0, 7}, {6, 1}, {1, largest}, {largest, 1}, {largest, largest}};
  for (const auto& [offset, count] : ranges) {
    const Result<Bytes> slice = bytes.slice(offset, count);
    ASSERT_FALSE(slice.ok()) << offset << " " << count;
    EXPECT_EQ(slice.error().code, ErrorCode::invalid_argument);
  }
}

TEST(Bytes, AreWritableOnlyWhileNobodyElseSeesThem) {
  Bytes bytes = Bytes::allocate(16).value();
  {
    Bytes other = bytes;
    EXPECT_TRUE(bytes.writable().empty());
    EXPECT_TRUE(other.writable().empty());
  }
  EXPECT_EQ(bytes.writable().size(), 16u);
  {
    const Bytes part = bytes.slice(3, 1).value();
    EXPECT_TRUE(bytes.writable().empty());
  }
  EXPECT_EQ(bytes.writable().size(), 16u);
}

TEST(Bytes, TheLastSliceIsWritableWithinItsRange) {
  Bytes part = Bytes::allocate(16).value().slice(4, 8).value();
  EXPECT_EQ(part.writable().size(), 8u);
  EXPECT_EQ(part.writable().data(), part.data());
}

TEST(Bytes, AreEmptyAfterTheyWereMoved) {
  Bytes first = Bytes::own(std::vector<std::byte>(3));
  const Bytes second = std::move(first);
  EXPECT_EQ(second.size(), 3u);
  EXPECT_TRUE(first.empty());
}

TEST(Bytes, TakesOverAVectorOfNumbersToo) {
  std::vector<std::uint8_t> numbers = {1, 2, 3};
  const std::uint8_t* before = numbers.data();
  Bytes bytes = Bytes::own(std::move(numbers));
  EXPECT_EQ(static_cast<const void*>(bytes.data()), before);
  EXPECT_EQ(bytes.size(), 3U);
  EXPECT_FALSE(bytes.writable().empty());
}

}  // namespace
}  // namespace andiron
