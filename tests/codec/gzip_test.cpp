// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/codec/gzip.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/bytes_of_text.h"
#include "tests/support/noise.h"
#include "tests/support/test_sink.h"
#include "tests/support/test_source.h"

namespace andiron::detail {
namespace {

using test::bytes_of_text;
using test::noise;

std::string compressed(std::string_view text, std::size_t step = 1 << 20) {
  MemorySink memory;
  const auto gzip = GzipSink::create(memory).value();
  for (std::size_t at = 0; at < text.size(); at += step) {
    const std::string_view part = text.substr(at, step);
    gzip->write(std::as_bytes(std::span(part))).value();
  }
  gzip->finish().value();
  const Bytes all = memory.take();
  EXPECT_EQ(gzip->bytes(), all.size());
  return std::string(all.text());
}

Result<Bytes> inflate(std::string_view file, const Limits& limits = {}) {
  return inflate_gzip(*memory_source(bytes_of_text(file)), limits);
}

TEST(Gzip, InflatesWhatWasCompressed) {
  for (const std::string& text :
       {std::string(), std::string("x"), std::string(1 << 20, 'a'), noise(300'000)}) {
    for (const std::size_t step : {std::size_t{7}, std::size_t{1} << 20}) {
      const std::string file = compressed(text, step);
      EXPECT_TRUE(is_gzip(file));
      EXPECT_EQ(inflate(file).value().text(), text);
    }
  }
}

TEST(Gzip, SeveralMembersAreOne) {
  EXPECT_EQ(inflate(compressed("one, ") + compressed("") + compressed("two")).value().text(),
            "one, two");
}

TEST(Gzip, EveryCutIsTruncated) {
  const std::string file = compressed("some text, some text, some text");
  for (std::size_t size = 0; size < file.size(); ++size) {
    const Result<Bytes> cut = inflate(std::string_view(file).substr(0, size));
    ASSERT_FALSE(cut) << size;
    EXPECT_EQ(cut.error().code, ErrorCode::truncated) << size;
  }
}

TEST(Gzip, DamageIsSeen) {
  const std::string file = compressed("some text, some text, some text");
  for (const std::size_t at : {std::size_t{0}, file.size() / 2, file.size() - 8, file.size() - 1}) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    EXPECT_FALSE(inflate(damaged)) << at;
  }
  const Result<Bytes> trailing = inflate(file + "and then some");
  ASSERT_FALSE(trailing);
  EXPECT_EQ(trailing.error().code, ErrorCode::bad_header);
}

TEST(Gzip, GrowsNoFurtherThanAllowed) {
  const std::string bomb = compressed(std::string(10'000'000, '\0'));
  EXPECT_LT(bomb.size(), 20'000u);
  const Result<Bytes> refused = inflate(bomb, {.inflated_bytes = 9'999'999});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
  EXPECT_TRUE(inflate(bomb, {.inflated_bytes = 10'000'000}));
}

TEST(Gzip, TheHeadOfWhatASourceHoldsIsReadWithoutTheRest) {
  const auto head_of = [](std::string_view file, std::size_t count) {
    return content_head(*memory_source(bytes_of_text(file)), count).value();
  };
  EXPECT_EQ(head_of("plain text", 5).bytes, "plain");
  EXPECT_EQ(head_of("plain text", 50).bytes, "plain text");
  EXPECT_FALSE(head_of("plain text", 5).compressed);
  EXPECT_EQ(head_of("", 5).bytes, "");
  EXPECT_EQ(head_of(compressed("some text"), 4).bytes, "some");
  EXPECT_EQ(head_of(compressed("some") + compressed(" text"), 40).bytes, "some text");
  EXPECT_TRUE(head_of(compressed(""), 4).compressed);

  const std::string file = compressed(noise(1'000'000));
  test::TestSource source(file);
  EXPECT_EQ(content_head(source, 512).value().bytes, noise(512));
  EXPECT_LT(source.bytes_read(), 100'000u);
  EXPECT_EQ(head_of(compressed(std::string(10'000'000, 'a')), 3).bytes, "aaa");
}

TEST(Gzip, AHeadThatCannotBeInflatedIsAnError) {
  const std::string file = compressed(noise(1'000));
  const auto cut = content_head(*memory_source(bytes_of_text(file.substr(0, 300))), 512);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::truncated);
}

TEST(Gzip, ErrorsOfTheSourceArePassedOn) {
  const std::string file = compressed(noise(200'000));
  test::TestSource source(file);
  source.fail_reads_past(100'000);
  const Result<Bytes> failed = inflate_gzip(source, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::io);
}

TEST(Gzip, ErrorsOfTheSinkArePassedOn) {
  test::FullSink full;
  const auto gzip = GzipSink::create(full).value();
  const std::string text = noise(200'000);
  const Status written = gzip->write(std::as_bytes(std::span(text)));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "no space");
}

}  // namespace
}  // namespace andiron::detail
