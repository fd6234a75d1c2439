// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/codec/gzip.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/codec/deflate_samples.h"
#include "tests/support/bytes_of_text.h"
#include "tests/support/deflate_writing.h"
#include "tests/support/deflating.h"
#include "tests/support/gzip_writing.h"
#include "tests/support/noise.h"
#include "tests/support/test_sink.h"
#include "tests/support/test_source.h"
#include "tests/support/zip_writing.h"

namespace andiron::detail {
namespace {

using test::bytes_of_text;
using test::crc_of_text;
using test::GzipMember;
using test::little_endian;
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

void expect_damaged(const std::string& file, std::size_t at) {
  const Result<Bytes> damaged = inflate(file);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::bad_header);
  EXPECT_EQ(damaged.error().message, "the gzip data is damaged");
  EXPECT_EQ(damaged.error().found, "at byte " + std::to_string(at));
}

TEST(Gzip, HeadersMayHaveEveryField) {
  for (int fields = 0; fields < 32; ++fields) {
    GzipMember member;
    member.is_text = (fields & 1) != 0;
    member.has_crc = (fields & 2) != 0;
    if ((fields & 4) != 0) member.extra = fields % 3 == 0 ? "" : std::string("AB\2\0\0x", 6);
    if ((fields & 8) != 0) member.name = fields % 5 == 0 ? "" : "model.mpk";
    if ((fields & 16) != 0) member.comment = "no comment";
    const std::string file = member.file();
    EXPECT_EQ(inflate(file).value().text(), member.content) << fields;
    EXPECT_EQ(inflate(file + file).value().text(), member.content + member.content) << fields;
    for (std::size_t size = 0; size < file.size(); ++size) {
      const Result<Bytes> cut = inflate(file.substr(0, size));
      ASSERT_FALSE(cut);
      EXPECT_EQ(cut.error().code, ErrorCode::truncated) << size;
      EXPECT_EQ(cut.error().found, "at byte " + std::to_string(size));
    }
  }
}

TEST(Gzip, FieldsMayBeLong) {
  GzipMember member{.extra = noise(65'535),
                    .name = std::string(200'000, 'n'),
                    .comment = std::string(100'000, 'c'),
                    .has_crc = true};
  EXPECT_EQ(inflate(member.file()).value().text(), member.content);
  member.name->at(150'000) = '\0';  // the comment then begins in it
  EXPECT_FALSE(inflate(member.file()));
}

// Headers, data and trailers end where what was read at once ends, or a few bytes from there.
TEST(Gzip, MembersMayEndAnywhere) {
  const GzipMember second{.name = "second", .has_crc = true};
  for (std::size_t size = gzip_window_bytes - 60; size < gzip_window_bytes + 10; ++size) {
    const GzipMember first{.content = "first, ", .name = std::string(size - 11, 'n')};
    EXPECT_EQ(inflate(first.file() + second.file()).value().text(), "first, " + second.content + "")
        << size;
  }
}

TEST(Gzip, WrongHeadersAreDamage) {
  const std::string file = GzipMember{.name = "name", .has_crc = true}.file();
  const auto with = [&](std::size_t at, int byte) {
    std::string other = file;
    other[at] = static_cast<char>(byte);
    return other;
  };
  expect_damaged(with(0, 0x1e), 2);
  expect_damaged(with(1, 0x8a), 2);
  expect_damaged(with(2, 7), 4);
  for (const int reserved : {0x20, 0x40, 0x80}) expect_damaged(with(3, 0x0a | reserved), 4);
  // Any other byte changes the checksum.
  const std::size_t end = GzipMember{.name = "name", .has_crc = true}.header().size();
  for (const std::size_t at : {4, 7, 8, 9, 10, 13}) expect_damaged(with(at, 1), end);
  expect_damaged(with(end - 1, file[end - 1] ^ 1), end);
}

TEST(Gzip, WrongTrailersAreDamage) {
  const std::string file = GzipMember().file();
  for (std::size_t at = file.size() - 8; at < file.size(); ++at) {
    std::string other = file;
    other[at] = static_cast<char>(other[at] ^ 1);
    expect_damaged(other, at < file.size() - 4 ? file.size() - 4 : file.size());
  }
}

// As zlib has it, and not gzip: padding is not skipped. A byte could still become a header.
TEST(Gzip, BytesBehindTheLastMemberAreDamage) {
  const std::string file = GzipMember().file();
  for (const char byte : {'\0', 'x', '\x1f'}) {
    const Result<Bytes> one = inflate(file + byte);
    ASSERT_FALSE(one);
    EXPECT_EQ(one.error().code, ErrorCode::truncated);
  }
  for (const std::size_t zeros : {2U, 10U, 512U}) {
    expect_damaged(file + std::string(zeros, '\0'), file.size() + 2);
  }
}

TEST(Gzip, MembersDoNotReachIntoOneAnother) {
  const std::string reaching = test::DeflateWriting()
                                   .begin_fixed(true)
                                   .fixed_literals("ab")
                                   .fixed_match(257, 0, 0, 4, 0, 1)  // 5 before
                                   .fixed_symbol(256)
                                   .text();
  const std::string first = GzipMember().file();
  const Result<Bytes> damaged = inflate(first + GzipMember().header() + reaching + "trailer.");
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::bad_header);
}

// Deflated data may have bits without a meaning, before a stored block.
TEST(Gzip, AFlippedBitIsSeenOrChangesNothing) {
  const GzipMember member{.extra = "extra", .name = "name", .has_crc = true};
  test::for_each_flipped_bit(member.file(), [&](const std::string& damaged, std::size_t bit) {
    const Result<Bytes> found = inflate(damaged);
    EXPECT_TRUE(!found || found->text() == member.content) << bit;
  });
}

TEST(Gzip, WritesAHeaderTheDataAndATrailer) {
  const std::string text = noise(100'000) + std::string(100'000, 'x');
  const std::string data = test::deflated_by(*new_deflate_stream(), text, 1 << 20, 1 << 20);
  EXPECT_TRUE(compressed(text) ==
              std::string("\x1f\x8b\x08\0\0\0\0\0\0\3", 10) + data +
                  little_endian(crc_of_text(text), static_cast<std::uint32_t>(text.size())));
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
