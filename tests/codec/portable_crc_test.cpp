// SPDX-License-Identifier: MIT OR Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/codec/deflate/portable.h"
#include "tests/support/deflating.h"
#include "tests/support/noise.h"

namespace andiron::detail {
namespace {

std::uint32_t portable_crc_of(std::string_view text, std::uint32_t before = 0) {
  return portable_crc(before, std::as_bytes(std::span(text)));
}

TEST(PortableCrc, IsTheOneThatEverybodyKnows) {
  EXPECT_EQ(portable_crc_of(""), 0u);
  EXPECT_EQ(portable_crc_of("123456789"), 0xcbf43926u);
}

TEST(PortableCrc, IsTheSameForAllSizesAndAlignments) {
  const std::string bytes = test::noise(300);
  for (std::size_t size = 0; size < 270; ++size) {
    for (std::size_t skipped = 0; skipped < 20; ++skipped) {
      // The data ends where its memory does, so that a read past it shows.
      const std::vector<char> block(bytes.data(), bytes.data() + skipped + size);
      const std::string_view data(block.data() + skipped, size);
      ASSERT_EQ(portable_crc_of(data), test::crc_of_text(data))
          << size << " bytes from " << skipped;
    }
  }
}

TEST(PortableCrc, GoesOnFromWhatCameBefore) {
  const std::string bytes = test::noise(100);
  const std::string_view all = bytes;
  for (std::size_t first = 0; first <= all.size(); ++first) {
    ASSERT_EQ(portable_crc_of(all.substr(first), portable_crc_of(all.substr(0, first))),
              portable_crc_of(all))
        << first;
  }
}

}  // namespace
}  // namespace andiron::detail
