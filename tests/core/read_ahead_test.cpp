// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/core/read_ahead.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/support/noise.h"
#include "tests/support/test_source.h"

namespace andiron::detail {
namespace {

using test::noise;

constexpr std::size_t size = 1000 * 1000;

test::TestSource source_of(const std::string& content) { return test::TestSource(content); }

// Reads as the header of ReadAhead says.
Status read_through(const ReadAhead& ahead, const ByteSource& source, std::uint64_t offset,
                    std::span<std::byte> out) {
  if (ahead.copy(offset, out)) return {};
  ReadAhead::Window window = ahead.next_window(offset, source.size());
  if (window.size != 0) {
    window.has_failed = !source.read_at(offset, window.bytes()).ok();
    ahead.keep(std::move(window));
  }
  return ahead.copy(offset, out) ? Status() : source.read_at(offset, out);
}

// A source that is read ahead.
struct Reader {
  const ByteSource& source;
  ReadAhead ahead = {};

  std::string read(std::uint64_t offset, std::size_t count) const {
    std::string text(count, '\0');
    const Status status =
        read_through(ahead, source, offset, std::as_writable_bytes(std::span(text)));
    return status ? text : status.error().message;
  }
};

TEST(ReadAhead, ReadsInOrderComeOutOfFewReads) {
  const std::string content = noise(size);
  const test::TestSource source = source_of(content);
  const Reader ahead{source};
  for (std::size_t at = 0; at + 500 <= size; at += 600) {
    ASSERT_EQ(ahead.read(at, 500), content.substr(at, 500)) << at;
  }
  EXPECT_LT(source.reads(), 20u);
  EXPECT_LE(source.bytes_read(), size + 10 * 500);
}

TEST(ReadAhead, AReadByItselfBringsItsOwnBytes) {
  const std::string content = noise(size);
  const test::TestSource source = source_of(content);
  const Reader ahead{source};
  std::uint64_t asked = 0;
  // Backwards, and forwards in steps that leave out more than a header.
  for (std::size_t at = size - 700; at >= 700; at -= 700, asked += 700) {
    ASSERT_EQ(ahead.read(at, 700), content.substr(at, 700));
  }
  for (std::size_t at = 0; at + 700 <= size; at += 10'000, asked += 700) {
    ASSERT_EQ(ahead.read(at, 700), content.substr(at, 700));
  }
  EXPECT_EQ(source.bytes_read(), asked);
}

TEST(ReadAhead, TheEndOfTheSourceIsReached) {
  for (const std::size_t length : {1u, 100u, 4000u, 131'072u, 131'073u, 140'000u}) {
    const std::string content = noise(length);
    const test::TestSource source = source_of(content);
    const Reader ahead{source};
    for (std::size_t at = 0; at < length; at += 37) {
      const std::size_t count = std::min<std::size_t>(37, length - at);
      ASSERT_EQ(ahead.read(at, count), content.substr(at, count)) << length << " " << at;
    }
    EXPECT_EQ(ahead.read(length, 0), "");
  }
}

TEST(ReadAhead, WhatLiesBeforeAFaultIsReadAndTheFaultIsNotTriedEachTime) {
  const std::string content = noise(size);
  test::TestSource source = source_of(content);
  source.fail_reads_past(100'000);
  const Reader ahead{source};
  for (std::size_t at = 0; at + 500 <= 100'000; at += 500) {
    ASSERT_EQ(ahead.read(at, 500), content.substr(at, 500)) << at;
  }
  EXPECT_EQ(ahead.read(100'000, 500), "the test said so");
  EXPECT_EQ(source.failed_reads(), 2u) << "one that was asked for, and one read ahead";
}

TEST(ReadAhead, SourcesThatAreReadInTurnAreNotTakenForEachOther) {
  const std::string first_content = noise(size);
  const std::string second_content(first_content.rbegin(), first_content.rend());
  const test::TestSource first_source = source_of(first_content);
  const test::TestSource second_source = source_of(second_content);
  const Reader first{first_source};
  const Reader second{second_source};
  for (std::size_t at = 0; at + 100 <= size; at += 100) {
    const bool both = at / 1000 % 2 == 0;  // ten reads of both, ten of one
    ASSERT_EQ(first.read(at, 100), first_content.substr(at, 100));
    if (both) {
      ASSERT_EQ(second.read(at, 100), second_content.substr(at, 100));
    }
  }
}

TEST(ReadAhead, OneThatComesLaterDoesNotSeeTheWindowOfOneThatIsGone) {
  for (const char fill : {'a', 'b', 'c'}) {
    const test::TestSource source = source_of(std::string(size, fill));
    const Reader ahead{source};
    for (std::size_t at = 0; at < 10'000; at += 100) {
      ASSERT_EQ(ahead.read(at, 100), std::string(100, fill));
    }
  }
}

// Hands on to another that reads ahead, as an archive within an archive does.
class Nested : public ByteSource {
 public:
  explicit Nested(const ByteSource& outer) : outer_(outer) {}
  std::uint64_t size() const noexcept override { return outer_.size(); }
  const std::string& name() const noexcept override { return outer_.name(); }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return out.size() <= ReadAhead::largest_read ? read_through(ahead_, outer_, offset, out)
                                                 : outer_.read_at(offset, out);
  }
  const ByteSource& outer_;
  ReadAhead ahead_;
};

TEST(ReadAhead, OneMayReadThroughAnother) {
  // So that the last window is small enough to be read ahead by the other.
  const std::string content = noise(3 * 131'072 + 5000);
  const test::TestSource source = source_of(content);
  const Nested nested(source);
  const Reader ahead{nested};
  for (std::size_t at = 0; at < content.size(); at += 100) {
    const std::size_t count = std::min<std::size_t>(100, content.size() - at);
    ASSERT_EQ(ahead.read(at, count), content.substr(at, count)) << at;
  }
}

TEST(ReadAhead, ThreadsReadWithoutEachOther) {
  const std::string content = noise(size);
  const test::TestSource source = source_of(content);
  const Reader ahead{source};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t at = t * 100; at + 100 <= size; at += 400) {
        ASSERT_EQ(ahead.read(at, 100), content.substr(at, 100));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LT(source.reads(), 100u);
}

}  // namespace
}  // namespace andiron::detail
