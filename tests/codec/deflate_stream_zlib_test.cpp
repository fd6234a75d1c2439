// SPDX-License-Identifier: MIT OR Apache-2.0
// Deflating beside zlib's.
#include <gtest/gtest.h>

#include <string>

#include "src/codec/deflate/portable.h"
#include "src/codec/deflate/streams.h"
#include "tests/codec/deflate_samples.h"
#include "tests/support/deflating.h"
#include "tests/support/inflating.h"
#include "tests/support/noise.h"
#include "tests/support/zlib_peer.h"

namespace andiron::detail {
namespace {

using test::deflated_by;

// The bytes of a file do not change from release to release.
TEST(DeflateStreamAndZlib, OfTheLibraryIsZlibsAsUsualOrOurOwn) {
  std::string text = test::noise(1000);
  for (int i = 0; i < 10; ++i) text += text.substr(0, 10'000) + std::string(300, 'x');
  const std::string data = deflated_by(*new_deflate_stream(), text, 777, 1000);
  EXPECT_TRUE(data == test::deflated_by_zlib(text, Z_DEFAULT_COMPRESSION) ||
              data == deflated_by(*portable_deflate_stream(), text, 1 << 20, 1 << 20));
}

TEST(DeflateStreamAndZlib, ZlibReadsWhatOurOwnWrites) {
  for (const std::string& text : test::large_texts()) {
    const std::string data = deflated_by(*portable_deflate_stream(), text, 1 << 20, 1 << 20);
    EXPECT_TRUE(test::inflated_by_zlib(data) ==
                (test::Inflation{InflateStream::State::ended, text, data.size()}))
        << text.size() << " bytes";
  }
}

}  // namespace
}  // namespace andiron::detail
