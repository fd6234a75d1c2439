// SPDX-License-Identifier: MIT OR Apache-2.0
// Both implementations of inflating against zlib in one go, on data that nobody thought of.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/codec/deflate_samples.h"
#include "tests/codec/inflate_implementations.h"
#include "tests/support/deflate_writing.h"
#include "tests/support/inflating.h"
#include "tests/support/noise.h"
#include "tests/support/zlib_peer.h"

namespace andiron::detail {
namespace {

using test::deflated_by_zlib;
using test::DeflateWriting;
using test::inflated_by;
using test::inflated_by_zlib;
using test::Inflation;
using test::noise;

constexpr std::size_t megabyte = 1 << 20;

class InflateStreamsAndZlib : public testing::TestWithParam<InflateImplementation> {
 protected:
  static Inflation inflate(std::string_view data, std::size_t in_piece = 1 << 14,
                           std::size_t out_piece = 1 << 14) {
    return inflated_by(*GetParam().create(), data, in_piece, out_piece);
  }
};

INSTANTIATE_TEST_SUITE_P(, InflateStreamsAndZlib, testing::ValuesIn(inflate_implementations),
                         testing::PrintToStringParamName());

std::vector<std::string> samples_in_all_ways() {
  std::vector<std::string> samples;
  for (const auto& sample : test::deflate_samples()) samples.push_back(sample.data);
  const std::string text = test::samples_of_zlib()[0].text;
  for (const int level : {0, 1, 6}) samples.push_back(deflated_by_zlib(text, level));
  for (const int strategy : {Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE}) {
    samples.push_back(deflated_by_zlib(text, 9, strategy));
  }
  return samples;
}

TEST_P(InflateStreamsAndZlib, ReadWhatZlibWrites) {
  for (const std::string& text : test::large_texts()) {
    std::vector<std::string> written;
    for (const int level : {0, 1, 6, 9}) written.push_back(deflated_by_zlib(text, level));
    for (const int strategy : {Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE, Z_FILTERED}) {
      written.push_back(deflated_by_zlib(text, 6, strategy));
    }
    for (const std::string& data : written) {
      EXPECT_EQ(inflate(data, megabyte, megabyte),
                (Inflation{InflateStream::State::ended, text, data.size()}));
    }
  }
}

TEST_P(InflateStreamsAndZlib, WaitWhereDataIsCut) {
  for (const std::string& data : samples_in_all_ways()) {
    for (std::size_t size = 0; size < data.size(); ++size) {
      const std::string_view cut = std::string_view(data).substr(0, size);
      const Inflation expected = inflated_by_zlib(cut);
      ASSERT_EQ(expected.state, InflateStream::State::goes_on);
      ASSERT_EQ(inflate(cut), expected) << size;
      ASSERT_EQ(inflate(cut, 1, 1), expected) << size;
    }
  }
}

TEST_P(InflateStreamsAndZlib, SayTheSameOfDamage) {
  for (const std::string& data : samples_in_all_ways()) {
    test::for_each_flipped_bit(data, [&](const std::string& damaged, std::size_t bit) {
      const Inflation expected = inflated_by_zlib(damaged);
      ASSERT_EQ(inflate(damaged), expected) << bit;
      ASSERT_EQ(inflate(damaged, 5, 11), expected) << bit;
    });
  }
}

TEST_P(InflateStreamsAndZlib, SayTheSameOfNoise) {
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string data;
    for (int byte = 0; byte < 120; ++byte) data += static_cast<char>(random());
    data[0] = static_cast<char>((data[0] & ~7) | (i % 4) << 1);
    ASSERT_EQ(inflate(data), inflated_by_zlib(data)) << i;
  }
}

// Lengths drawn at random: complete codes, and codes with a length more, less or other.
TEST_P(InflateStreamsAndZlib, AgreeOnWhichCodesAreComplete) {
  std::mt19937 random(4);
  const auto complete_code = [&](std::size_t symbols, std::size_t codes) {
    std::vector<unsigned> lengths = {1, 1};
    while (lengths.size() < codes) {
      const std::size_t split = random() % lengths.size();
      if (lengths[split] == 15) continue;
      lengths.push_back(++lengths[split]);
    }
    lengths.resize(symbols, 0);
    std::shuffle(lengths.begin(), lengths.end(), random);
    return lengths;
  };
  int accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<unsigned> literals = complete_code(286, 2 + random() % 285);
    std::vector<unsigned> distances = complete_code(30, 2 + random() % 29);
    if (literals[256] == 0) {
      std::swap(literals[256], *std::find_if(literals.begin(), literals.end(),
                                             [](unsigned length) { return length != 0; }));
    }
    if (i % 3 == 1) literals[random() % literals.size()] = random() % 16;
    if (i % 3 == 2) distances[random() % distances.size()] = random() % 16;
    DeflateWriting data;
    data.stored(false, noise(500)).begin_dynamic(true, literals, distances);
    for (int byte = 0; byte < 200; ++byte) data.put(random(), 8);
    const Inflation expected = inflated_by_zlib(data.text());
    accepted += expected.text.size() > 500 ? 1 : 0;
    ASSERT_EQ(inflate(data.text()), expected) << i;
    ASSERT_EQ(inflate(data.text(), 3, 30), expected) << i;
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace andiron::detail
