// SPDX-License-Identifier: MIT OR Apache-2.0
// Where bytes go.
#include "andiron/sink.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace andiron {
namespace {

Status put(Sink& sink, std::string_view text) { return sink.write(std::as_bytes(std::span(text))); }

TEST(MemorySink, GivesWhatWasWrittenInOrder) {
  MemorySink sink;
  ASSERT_TRUE(put(sink, "one ").ok());
  ASSERT_TRUE(put(sink, "").ok());
  ASSERT_TRUE(put(sink, "two").ok());
  EXPECT_EQ(sink.take().text(), "one two");
}

TEST(MemorySink, GrowsThroughManySmallWrites) {
  MemorySink sink;
  std::string expected;
  for (int i = 0; i < 100'000; ++i) {
    const std::string text = std::to_string(i);
    ASSERT_TRUE(put(sink, text).ok());
    expected += text;
  }
  EXPECT_EQ(sink.take().text(), expected);
}

TEST(MemorySink, HoldsNoMoreThanWasAnnounced) {
  MemorySink sink;
  ASSERT_TRUE(sink.reserve(6).ok());
  ASSERT_TRUE(put(sink, "abc").ok());
  ASSERT_TRUE(put(sink, "def").ok());
  EXPECT_EQ(sink.take().text(), "abcdef");
}

TEST(MemorySink, KeepsItsContentWhenRoomIsAnnouncedLate) {
  MemorySink sink;
  ASSERT_TRUE(put(sink, "abc").ok());
  ASSERT_TRUE(sink.reserve(1'000'000).ok());
  ASSERT_TRUE(sink.reserve(1).ok());
  ASSERT_TRUE(put(sink, "def").ok());
  EXPECT_EQ(sink.take().text(), "abcdef");
}

TEST(MemorySink, TakesMoreThanWasAnnounced) {
  MemorySink sink;
  ASSERT_TRUE(sink.reserve(2).ok());
  ASSERT_TRUE(put(sink, "abcdef").ok());
  EXPECT_EQ(sink.take().text(), "abcdef");
}

TEST(MemorySink, IsEmptyAfterTake) {
  MemorySink sink;
  EXPECT_TRUE(sink.take().empty());
  ASSERT_TRUE(put(sink, "first").ok());
  const Bytes first = sink.take();
  EXPECT_TRUE(sink.take().empty());
  ASSERT_TRUE(put(sink, "other").ok());
  EXPECT_EQ(sink.take().text(), "other");
  EXPECT_EQ(first.text(), "first");
}

TEST(MemorySink, SaysSoWhenTheAnnouncedRoomCannotBeHad) {
  MemorySink sink;
  ASSERT_TRUE(put(sink, "kept").ok());
  const Status status = sink.reserve(std::numeric_limits<std::uint64_t>::max());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(sink.take().text(), "kept");
}

TEST(Sink, NeedNotCareForAnnouncements) {
  class Discard : public Sink {
   public:
    Status write(std::span<const std::byte>) override { return {}; }
  } sink;
  EXPECT_TRUE(sink.reserve(std::numeric_limits<std::uint64_t>::max()).ok());
}

}  // namespace
}  // namespace andiron
