// SPDX-License-Identifier: MIT OR Apache-2.0
// Both implementations of deflating, the one that the library was built with and our own: both of
// inflating give back what went in, whatever the pieces.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "src/codec/deflate/portable.h"
#include "src/codec/deflate/streams.h"
#include "tests/codec/inflate_implementations.h"
#include "tests/support/deflating.h"
#include "tests/support/inflating.h"
#include "tests/support/noise.h"

namespace andiron::detail {
namespace {

using test::inflated_by;
using test::Inflation;
using test::noise;

struct DeflateImplementation {
  const char* name;
  std::unique_ptr<DeflateStream> (*create)() noexcept;

  friend void PrintTo(const DeflateImplementation& one, std::ostream* out) { *out << one.name; }
};

class DeflateStreams : public testing::TestWithParam<DeflateImplementation> {
 protected:
  static std::string deflate(std::string_view text, std::size_t in_piece = 1 << 20,
                             std::size_t out_piece = 1 << 20) {
    return test::deflated_by(*GetParam().create(), text, in_piece, out_piece);
  }

  // Returns the size of what was made.
  static std::size_t expect_kept(std::string_view text) {
    const std::string data = deflate(text);
    const Inflation expected{InflateStream::State::ended, std::string(text), data.size()};
    for (const auto& [name, inflate_stream] : inflate_implementations) {
      EXPECT_TRUE(inflated_by(*inflate_stream(), data, 1 << 20, 1 << 20) == expected)
          << text.size() << " bytes, inflating " << name;
    }
    return data.size();
  }
};

INSTANTIATE_TEST_SUITE_P(, DeflateStreams,
                         testing::Values(DeflateImplementation{"OfTheLibrary", new_deflate_stream},
                                         DeflateImplementation{"OfOurOwn",
                                                               portable_deflate_stream}),
                         testing::PrintToStringParamName());

TEST_P(DeflateStreams, KeepDataOfAllSizes) {
  for (const std::size_t size : {0U, 1U, 2U, 3U, 4U, 100U, 32'767U, 32'768U, 32'769U, 65'535U,
                                 65'536U, 65'537U, 98'304U, 300'000U}) {
    expect_kept(noise(size));
    expect_kept(std::string(size, 'a'));
    expect_kept(noise(size / 2) + std::string(size - size / 2, '\0'));
  }
}

TEST_P(DeflateStreams, KeepEveryByteAndRun) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  expect_kept(bytes);
  std::string runs;
  for (std::size_t length = 1; length < 600; ++length) {
    runs += std::string(length, static_cast<char>(length % 7));
  }
  expect_kept(runs);
}

TEST_P(DeflateStreams, KeepRandomTexts) {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    const std::size_t kinds = 1 + random() % 256;
    std::string text(random() % 3000, '\0');
    for (char& byte : text) byte = static_cast<char>(random() % kinds * (random() % 3 != 0));
    expect_kept(text);
  }
}

TEST_P(DeflateStreams, MakeNoiseHardlyLarger) {
  EXPECT_LT(expect_kept(noise(1'000'000)), 1'001'000u);
}

TEST_P(DeflateStreams, MakeTheSameOfAnyPieces) {
  const std::string text = noise(40'000) + std::string(70'000, 'x') + noise(3000);
  const std::string data = deflate(text);
  for (const std::size_t in_piece : {std::size_t{1}, std::size_t{1000}, text.size()}) {
    for (const std::size_t out_piece : {1U, 100U, 70'000U}) {
      EXPECT_TRUE(deflate(text, in_piece, out_piece) == data) << in_piece << " into " << out_piece;
    }
  }
}

// Other tests deflate so where zlib is missing.
TEST(DeflatedAsRuns, IsInflatedToTheSame) {
  for (const std::string& text :
       {std::string(), std::string(1000, 'a'), noise(2000) + std::string(700, '\xff')}) {
    const std::string data = test::deflated_as_runs(text);
    const Inflation expected{InflateStream::State::ended, text, data.size()};
    for (const auto& [name, inflate_stream] : inflate_implementations) {
      EXPECT_TRUE(inflated_by(*inflate_stream(), data, 1 << 20, 1 << 20) == expected) << name;
    }
  }
}

TEST_P(DeflateStreams, MakeNothingAfterTheEnd) {
  const auto stream = GetParam().create();
  EXPECT_NE(test::deflated_by(*stream, "text", 10, 10), "");
  std::byte room{};
  const auto step = stream->step({}, std::span(&room, 1), true);
  EXPECT_EQ(step.taken + step.made, 0u);
}

}  // namespace
}  // namespace andiron::detail
