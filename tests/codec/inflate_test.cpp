// SPDX-License-Identifier: MIT OR Apache-2.0
// The checksum, which folds blocks where the processor can: it must be the same whatever the size
// and wherever the data begins. Inflating goes part by part, wherever the parts end.
#include "src/codec/inflate.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/deflating.h"
#include "tests/support/noise.h"

namespace andiron::detail {
namespace {

using test::crc_of_text;
using test::deflated;
using test::noise;

std::uint32_t crc_of_ours(std::string_view text) { return crc_of(std::as_bytes(std::span(text))); }

TEST(CrcOf, IsTheOneThatEverybodyKnows) {
  EXPECT_EQ(crc_of({}), 0U);
  EXPECT_EQ(crc_of_ours("123456789"), 0xcbf43926U);
}

TEST(CrcOf, IsTheSameForAllSizesAndAlignments) {
  constexpr std::size_t sizes = 1200;
  constexpr std::size_t alignments = 20;
  const std::string bytes = noise(sizes + alignments);
  for (std::size_t size = 0; size < sizes; ++size) {
    for (std::size_t skipped = 0; skipped < alignments; ++skipped) {
      // The data ends where its memory does, so that a read past it shows.
      const std::vector<char> block(bytes.data(), bytes.data() + skipped + size);
      const std::string_view data(block.data() + skipped, size);
      ASSERT_EQ(crc_of_ours(data), crc_of_text(data)) << size << " bytes from " << skipped;
    }
  }
}

TEST(CrcOf, IsTheSameForMegabytes) {
  const std::string bytes = noise(3'000'017);
  for (const std::size_t skipped : {0U, 1U, 7U, 16U, 63U}) {
    const std::string_view data = std::string_view(bytes).substr(skipped);
    EXPECT_EQ(crc_of_ours(data), crc_of_text(data)) << skipped;
  }
}

TEST(CrcOf, GoesOnFromWhatCameBefore) {
  const std::string bytes = noise(1000);
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    const auto all = std::as_bytes(std::span(bytes));
    ASSERT_EQ(crc_of(all.subspan(first), crc_of(all.first(first))), crc_of_text(bytes)) << first;
  }
}

// Bits that are all alike show what a fold leaves out or counts twice.
TEST(CrcOf, IsTheSameForBytesThatAreAllAlike) {
  for (const char byte : {'\0', '\xff', '\x80', '\1'}) {
    for (const std::size_t size : {63U, 64U, 65U, 127U, 128U, 1024U, 2'000'003U}) {
      const std::string data(size, byte);
      EXPECT_EQ(crc_of_ours(data), crc_of_text(data)) << size << " bytes";
    }
  }
}

// The state that the register begins with is in the first block alone.
TEST(CrcOf, TellsEveryBitOfABlockApart) {
  std::string data = noise(200);
  const std::uint32_t before = crc_of_ours(data);
  for (std::size_t bit = 0; bit < 8 * data.size(); ++bit) {
    const auto flipped = static_cast<char>(1U << bit % 8);
    data[bit / 8] = static_cast<char>(data[bit / 8] ^ flipped);
    EXPECT_NE(crc_of_ours(data), before) << bit;
    EXPECT_EQ(crc_of_ours(data), crc_of_text(data)) << bit;
    data[bit / 8] = static_cast<char>(data[bit / 8] ^ flipped);
  }
}

struct Inflated {
  std::string text;
  std::string fault;  // why not
};

// Hands over `step` bytes at a time.
Inflated inflate(std::string_view data, std::size_t size, std::size_t step,
                 Inflater::Wanted wanted = Inflater::Wanted::all) {
  Inflated result{std::string(size, '?'), ""};
  Inflater inflater(std::as_writable_bytes(std::span(result.text)), wanted);
  for (std::size_t at = 0; at < data.size(); at += step) {
    const Status status = inflater.take(std::as_bytes(std::span(data.substr(at, step))));
    if (!status) return {"", status.error().message};
  }
  const Status status = inflater.finish();
  if (!status) return {"", status.error().message};
  return result;
}

TEST(Inflater, PartsMayEndAnywhere) {
  for (const std::string& text : {std::string(), std::string("a"), std::string(100'000, 'a'),
                                  noise(5000), noise(300) + std::string(70'000, '\0')}) {
    const std::string data = deflated(text);
    for (std::size_t step = 1; step < data.size() + 2; step += 1 + step / 3) {
      const Inflated all = inflate(data, text.size(), step);
      ASSERT_EQ(all.fault, "") << text.size() << " bytes, " << step << " at a time";
      ASSERT_EQ(all.text, text);
    }
  }
}

TEST(Inflater, EmptyPartsChangeNothing) {
  const std::string data = deflated("some text");
  std::string text(9, '?');
  Inflater inflater(std::as_writable_bytes(std::span(text)), Inflater::Wanted::all);
  EXPECT_TRUE(inflater.take({}));
  EXPECT_TRUE(inflater.take(std::as_bytes(std::span(data))));
  EXPECT_TRUE(inflater.take({}));
  EXPECT_TRUE(inflater.is_full());
  EXPECT_TRUE(inflater.finish());
  EXPECT_EQ(text, "some text");
}

TEST(Inflater, WhatDoesNotFitIsToldWhereverPartsEnd) {
  const std::string text = noise(1000);
  const std::string data = deflated(text);
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, data.size() + 10}) {
    EXPECT_EQ(inflate(data, 999, step).fault, "its data inflates to more than the directory says");
    EXPECT_EQ(inflate(data, 1001, step).fault, "its data inflates to less than the directory says");
    EXPECT_EQ(inflate(data + "x", 1000, step).fault, "bytes follow its deflated data");
    EXPECT_EQ(inflate(data.substr(0, data.size() - 1), 1000, step).fault,
              "its data ends too early");
    EXPECT_EQ(inflate("\xff\xff\xff", 1000, step).fault, "its deflated data is damaged");
  }
  EXPECT_EQ(inflate("", 10, 1).fault, "its data ends too early");
}

TEST(Inflater, AHeadIsEnoughWhateverFollows) {
  const std::string text = noise(1000);
  const std::string data = deflated(text);
  for (const std::size_t step : {std::size_t{1}, std::size_t{64}, data.size()}) {
    for (const std::size_t count : {0U, 1U, 100U, 1000U}) {
      const Inflated head = inflate(data + "junk", count, step, Inflater::Wanted::head);
      EXPECT_EQ(head.fault, count == 1000 ? head.fault : "") << count;
      if (head.fault.empty()) {
        EXPECT_EQ(head.text, text.substr(0, count));
      }
    }
    EXPECT_EQ(inflate(data, 1001, step, Inflater::Wanted::head).fault, "its data ends too early");
  }
}

}  // namespace
}  // namespace andiron::detail
