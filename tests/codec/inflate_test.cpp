// SPDX-License-Identifier: MIT OR Apache-2.0
// The checksum, which folds blocks where the processor can: it must be zlib's whatever the size and
// wherever the data begins. What inflates is tested with the archives that have it.
#include "src/codec/inflate.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/noise.h"

namespace andiron::detail {
namespace {

using test::noise;

std::uint32_t crc_of_text(std::string_view text) { return crc_of(std::as_bytes(std::span(text))); }

std::uint32_t crc_of_zlib(std::string_view text) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

TEST(CrcOf, IsTheOneThatEverybodyKnows) {
  EXPECT_EQ(crc_of({}), 0U);
  EXPECT_EQ(crc_of_text("123456789"), 0xcbf43926U);
}

TEST(CrcOf, IsZlibsForAllSizesAndAlignments) {
  constexpr std::size_t sizes = 1200;
  constexpr std::size_t alignments = 20;
  const std::string bytes = noise(sizes + alignments);
  for (std::size_t size = 0; size < sizes; ++size) {
    for (std::size_t skipped = 0; skipped < alignments; ++skipped) {
      // The data ends where its memory does, so that a read past it shows.
      const std::vector<char> block(bytes.data(), bytes.data() + skipped + size);
      const std::string_view data(block.data() + skipped, size);
      ASSERT_EQ(crc_of_text(data), crc_of_zlib(data)) << size << " bytes from " << skipped;
    }
  }
}

TEST(CrcOf, IsZlibsForMegabytes) {
  const std::string bytes = noise(3'000'017);
  for (const std::size_t skipped : {0U, 1U, 7U, 16U, 63U}) {
    const std::string_view data = std::string_view(bytes).substr(skipped);
    EXPECT_EQ(crc_of_text(data), crc_of_zlib(data)) << skipped;
  }
}

TEST(CrcOf, GoesOnFromWhatCameBefore) {
  const std::string bytes = noise(1000);
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    const auto all = std::as_bytes(std::span(bytes));
    ASSERT_EQ(crc_of(all.subspan(first), crc_of(all.first(first))), crc_of_zlib(bytes)) << first;
  }
}

// Bits that are all alike show what a fold leaves out or counts twice.
TEST(CrcOf, IsZlibsForBytesThatAreAllAlike) {
  for (const char byte : {'\0', '\xff', '\x80', '\1'}) {
    for (const std::size_t size : {63U, 64U, 65U, 127U, 128U, 1024U, 2'000'003U}) {
      const std::string data(size, byte);
      EXPECT_EQ(crc_of_text(data), crc_of_zlib(data)) << size << " bytes";
    }
  }
}

// The state that the register begins with is in the first block alone.
TEST(CrcOf, TellsEveryBitOfABlockApart) {
  std::string data = noise(200);
  const std::uint32_t before = crc_of_text(data);
  for (std::size_t bit = 0; bit < 8 * data.size(); ++bit) {
    const auto flipped = static_cast<char>(1U << bit % 8);
    data[bit / 8] = static_cast<char>(data[bit / 8] ^ flipped);
    EXPECT_NE(crc_of_text(data), before) << bit;
    EXPECT_EQ(crc_of_text(data), crc_of_zlib(data)) << bit;
    data[bit / 8] = static_cast<char>(data[bit / 8] ^ flipped);
  }
}

}  // namespace
}  // namespace andiron::detail
