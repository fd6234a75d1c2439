// SPDX-License-Identifier: MIT OR Apache-2.0
// Both implementations of inflating, the one that the library was built with and our own: the same
// bytes, the same end, the same refusals, whatever the pieces.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/codec/deflate/streams.h"
#include "tests/codec/deflate_samples.h"
#include "tests/codec/inflate_implementations.h"
#include "tests/support/deflate_writing.h"
#include "tests/support/deflating.h"
#include "tests/support/inflating.h"
#include "tests/support/noise.h"

namespace andiron::detail {
namespace {

using test::deflate_samples;
using test::deflated;
using test::DeflateSample;
using test::DeflateWriting;
using test::inflated_by;
using test::Inflation;
using test::noise;

constexpr std::size_t whole_piece = 1 << 14;  // of what is small

class InflateStreams : public testing::TestWithParam<InflateImplementation> {
 protected:
  static Inflation inflate(std::string_view data, std::size_t in_piece = whole_piece,
                           std::size_t out_piece = whole_piece) {
    return inflated_by(*GetParam().create(), data, in_piece, out_piece);
  }

  // Expects the same in pieces of several sizes. Returns it.
  static Inflation inflate_in_pieces(std::string_view data) {
    Inflation whole = inflate(data);
    for (const auto& [in_piece, out_piece] :
         {std::pair{std::size_t{1}, std::size_t{1}}, std::pair{std::size_t{7}, std::size_t{300}},
          std::pair{std::size_t{50}, std::size_t{3}}}) {
      const Inflation found = inflate(data, in_piece, out_piece);
      EXPECT_EQ(found.state, whole.state) << in_piece << " bytes into " << out_piece;
      EXPECT_TRUE(found.text == whole.text)
          << found.text.size() << " bytes, not " << whole.text.size();
      EXPECT_EQ(found.taken, whole.taken);
    }
    return whole;
  }

  static void expect_text(const DeflateWriting& data, std::string_view text) {
    const Inflation inflation = inflate_in_pieces(data.text());
    EXPECT_EQ(inflation.state, InflateStream::State::ended);
    EXPECT_TRUE(inflation.text == text) << inflation.text.size() << " bytes";
    EXPECT_EQ(inflation.taken, data.text().size());
  }

  // More bytes may follow where none are needed to know.
  static void expect_damage(const DeflateWriting& data, std::string_view text = "") {
    for (const char* more :
         {"", "\0\0\0\0", "\xff\xff\xff\xff", "a few more bytes than are needed"}) {
      const Inflation inflation = inflate_in_pieces(data.text() + more);
      EXPECT_EQ(inflation.state, InflateStream::State::damaged);
      EXPECT_EQ(inflation.text, text);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(, InflateStreams, testing::ValuesIn(inflate_implementations),
                         testing::PrintToStringParamName());

TEST_P(InflateStreams, ReadStoredBlocks) {
  expect_text(DeflateWriting().stored(true, ""), "");
  expect_text(DeflateWriting().stored(true, "abc"), "abc");
  expect_text(DeflateWriting().stored(false, "abc").stored(false, "").stored(true, "de"), "abcde");
  const std::string most = noise(65'535);
  expect_text(DeflateWriting().stored(false, most).stored(true, most), most + most);
}

TEST_P(InflateStreams, ReadFixedCodes) {
  expect_text(DeflateWriting().begin_fixed(true).fixed_symbol(256), "");
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  expect_text(DeflateWriting().begin_fixed(true).fixed_literals(bytes).fixed_symbol(256), bytes);
  expect_text(DeflateWriting()
                  .begin_fixed(false)
                  .fixed_literals("ab")
                  .fixed_symbol(256)
                  .begin_fixed(true)
                  .fixed_match(258, 0, 0, 1, 0, 0)  // 4 from 2 before
                  .fixed_symbol(256),
              "ababab");
}

TEST_P(InflateStreams, ReadEveryLengthAndDistance) {
  // Symbol by symbol: the first length or distance, and the bits that tell those apart that follow.
  std::vector<std::pair<unsigned, unsigned>> lengths;
  for (unsigned i = 0, base = 3; i < 28; base += 1U << lengths[i++].second) {
    lengths.emplace_back(base, i < 8 ? 0 : i / 4 - 1);
  }
  lengths.emplace_back(258, 0);
  std::vector<std::pair<unsigned, unsigned>> distances;
  for (unsigned i = 0, base = 1; i < 30; base += 1U << distances[i++].second) {
    distances.emplace_back(base, i < 4 ? 0 : i / 2 - 1);
  }
  const std::string begin = noise(32'768);
  DeflateWriting data;
  data.stored(false, begin).begin_fixed(true);
  std::string text = begin;
  const auto match = [&](unsigned length, unsigned length_extra, unsigned distance,
                         unsigned distance_extra) {
    const auto [length_base, length_bits] = lengths[length];
    const auto [distance_base, distance_bits] = distances[distance];
    data.fixed_match(257 + length, length_extra, length_bits, distance, distance_extra,
                     distance_bits);
    for (unsigned i = 0; i < length_base + length_extra; ++i) {
      text += text[text.size() - (distance_base + distance_extra)];
    }
  };
  for (unsigned length = 0; length < lengths.size(); ++length) {
    for (unsigned extra = 0; extra < 1U << lengths[length].second; ++extra) {
      match(length, extra, (length + extra) % 30, 0);
    }
  }
  for (unsigned distance = 0; distance < distances.size(); ++distance) {
    const unsigned most = (1U << distances[distance].second) - 1;
    for (const unsigned extra : {0U, most / 2, most}) match(distance % 29, 0, distance, extra);
  }
  data.fixed_symbol(256);
  expect_text(data, text);
}

TEST_P(InflateStreams, ReadWhatOthersWrote) {
  for (const DeflateSample& sample : test::samples_of_zlib()) {
    EXPECT_EQ(inflate_in_pieces(sample.data),
              (Inflation{InflateStream::State::ended, sample.text, sample.data.size()}));
  }
}

TEST_P(InflateStreams, MayGetAnyPieces) {
  std::mt19937 random(2);
  for (const std::string& text : test::large_texts()) {
    const std::string data = deflated(text);
    for (const std::size_t most : {3U, 40U, 600U, 70'000U}) {
      if (most == 3 && text.size() > 110'000) continue;  // slow
      const auto stream = GetParam().create();
      const auto piece = [&] { return random() % (most + 1); };
      EXPECT_EQ(inflated_by(*stream, data, piece, piece),
                (Inflation{InflateStream::State::ended, text, data.size()}));
    }
  }
  for (const auto& sample : deflate_samples()) {
    const auto& data = sample.data;  // clang 14 captures no structured bindings
    const Inflation expected{InflateStream::State::ended, sample.text, data.size()};
    for (std::size_t first = 0; first <= data.size(); ++first) {
      const auto stream = GetParam().create();
      bool is_first = true;
      const auto pieces = [&] { return std::exchange(is_first, false) ? first : data.size(); };
      ASSERT_EQ(inflated_by(*stream, data, pieces, [] { return whole_piece; }), expected) << first;
    }
    for (std::size_t first = 0; first <= expected.text.size(); ++first) {
      const auto stream = GetParam().create();
      bool is_first = true;
      const auto pieces = [&] { return std::exchange(is_first, false) ? first : whole_piece; };
      ASSERT_EQ(inflated_by(*stream, data, [] { return whole_piece; }, pieces), expected) << first;
    }
  }
}

TEST_P(InflateStreams, WaitWhereDataIsCut) {
  for (const auto& [data, text] : deflate_samples()) {
    std::size_t before = 0;
    for (std::size_t size = 0; size < data.size(); ++size) {
      const Inflation inflation = inflate_in_pieces(std::string_view(data).substr(0, size));
      ASSERT_EQ(inflation.state, InflateStream::State::goes_on) << size;
      ASSERT_TRUE(text.starts_with(inflation.text)) << size;
      ASSERT_GE(inflation.text.size(), before) << size;
      before = inflation.text.size();
    }
  }
}

TEST_P(InflateStreams, SayTheSameOfDamageWhateverThePieces) {
  int seen = 0;
  for (const DeflateSample& sample : deflate_samples()) {
    test::for_each_flipped_bit(sample.data, [&](const std::string& damaged, std::size_t bit) {
      const Inflation whole = inflate(damaged);
      seen += whole.state == InflateStream::State::damaged ? 1 : 0;
      ASSERT_EQ(inflate(damaged, 5, 11), whole) << bit;
    });
  }
  EXPECT_GT(seen, 1000);
}

TEST_P(InflateStreams, RefuseUnknownBlocks) {
  expect_damage(DeflateWriting().begin(true, 3));
  expect_damage(DeflateWriting().stored(false, "ab").begin(false, 3), "ab");
}

TEST_P(InflateStreams, RefuseStoredSizesThatDiffer) {
  expect_damage(DeflateWriting().begin(true, 0).fill_byte().put(3, 16).put(3, 16));
}

TEST_P(InflateStreams, RefuseSymbolsWithoutMeaning) {
  for (const unsigned symbol : {286U, 287U}) {
    expect_damage(DeflateWriting().begin_fixed(true).fixed_literals("a").fixed_symbol(symbol), "a");
  }
  for (const unsigned distance : {30U, 31U}) {
    expect_damage(DeflateWriting().begin_fixed(true).fixed_literals("a").fixed_match(
                      257, 0, 0, distance, 0, 0),
                  "a");
  }
}

TEST_P(InflateStreams, RefuseDistancesBeyondTheBeginning) {
  expect_damage(DeflateWriting().begin_fixed(true).fixed_match(257, 0, 0, 0, 0, 0));
  expect_damage(
      DeflateWriting().begin_fixed(true).fixed_literals("ab").fixed_match(257, 0, 0, 2, 0, 0),
      "ab");
  // 300 bytes of the 32768 that would be needed.
  expect_damage(DeflateWriting()
                    .stored(false, noise(300))
                    .begin_fixed(true)
                    .fixed_match(285, 0, 0, 29, 8191, 13),
                noise(300));
}

TEST_P(InflateStreams, RefuseTooManyCodes) {
  const std::vector<unsigned> lengths(19, 5);
  expect_damage(DeflateWriting().begin_dynamic(true, 287, 1, lengths));
  expect_damage(DeflateWriting().begin_dynamic(true, 288, 1, lengths));
  expect_damage(DeflateWriting().begin_dynamic(true, 257, 31, lengths));
  expect_damage(DeflateWriting().begin_dynamic(true, 257, 32, lengths));
}

TEST_P(InflateStreams, RefuseBadCodesOfLengths) {
  // Too many, too few, and one alone, which is too few here.
  for (const std::vector<unsigned>& lengths :
       {std::vector<unsigned>{1, 1, 1, 0}, {2, 2, 2, 0}, {1, 0, 0, 0}, {0, 0, 0, 7}}) {
    expect_damage(DeflateWriting().begin_dynamic(true, 257, 1, lengths));
  }
}

// As in zlib, its bits then stand for lengths of 0, one each, and the end of the block is missing.
TEST_P(InflateStreams, RefuseNoCodeOfLengthsAfterTheLengths) {
  DeflateWriting data;
  data.begin_dynamic(true, 257, 1, {0, 0, 0, 0});
  for (int i = 0; i < 250; ++i) data.put(1, 1);
  EXPECT_EQ(inflate_in_pieces(data.text()).state, InflateStream::State::goes_on);
  expect_damage(data.put(0, 16));
}

// The code of lengths has 16, 17 and 18, and 0 for what is left.
DeflateWriting repeated_lengths() {
  return DeflateWriting().begin_dynamic(true, 257, 1, {2, 2, 2, 2});
}

TEST_P(InflateStreams, RefuseRepeatedLengthsThatDoNotFit) {
  constexpr unsigned before = 1;  // codes go by symbols: 0, 16, 17, 18
  constexpr unsigned zeros = 2;
  constexpr unsigned more_zeros = 3;
  expect_damage(repeated_lengths().code(before, 2).put(0, 2));
  expect_damage(repeated_lengths().code(more_zeros, 2).put(127, 7).code(more_zeros, 2).put(127, 7));
  expect_damage(repeated_lengths()
                    .code(more_zeros, 2)
                    .put(127, 7)
                    .code(more_zeros, 2)
                    .put(106, 7)  // 255 are there
                    .code(zeros, 2)
                    .put(1, 3));
  expect_damage(repeated_lengths()
                    .code(more_zeros, 2)
                    .put(127, 7)
                    .code(more_zeros, 2)
                    .put(106, 7)
                    .code(before, 2)
                    .put(1, 2));
}

// Lengths of a code for literals: so long for those that are named, 0 for all others.
std::vector<unsigned> literal_lengths(const std::vector<std::pair<unsigned, unsigned>>& named) {
  std::vector<unsigned> lengths(257, 0);
  for (const auto& [symbol, length] : named) {
    if (symbol >= lengths.size()) lengths.resize(symbol + 1, 0);
    lengths[symbol] = length;
  }
  return lengths;
}

TEST_P(InflateStreams, RefuseBlocksWithoutAnEnd) {
  expect_damage(DeflateWriting().begin_dynamic(true, literal_lengths({{'a', 1}, {'b', 1}}), {1}));
}

TEST_P(InflateStreams, RefuseCodesThatAreNotComplete) {
  for (const auto& literals :
       {literal_lengths({{'a', 1}, {'b', 1}, {256, 1}}), literal_lengths({{'a', 2}, {256, 1}}),
        literal_lengths({{256, 2}}), literal_lengths({{256, 15}}),
        literal_lengths({{'a', 1}, {'b', 2}, {256, 3}})}) {
    expect_damage(DeflateWriting().begin_dynamic(true, literals, {1}));
  }
  const std::vector<unsigned> good = literal_lengths({{'a', 1}, {256, 1}});
  for (const std::vector<unsigned>& distances :
       {std::vector<unsigned>{1, 1, 1}, {2}, {1, 2}, {15}, {2, 2, 2}, {0, 0, 3}}) {
    expect_damage(DeflateWriting().begin_dynamic(true, good, distances));
  }
}

TEST_P(InflateStreams, ReadLoneCodesOfOneBit) {
  // Nothing but the end; the other bit means nothing.
  const std::vector<unsigned> end = literal_lengths({{256, 1}});
  expect_text(DeflateWriting().begin_dynamic(true, end, {1}).code(0, 1), "");
  expect_damage(DeflateWriting().begin_dynamic(true, end, {1}).code(1, 1));
  // 'a', the end, and a match of three bytes.
  const std::vector<unsigned> literals = literal_lengths({{'a', 1}, {256, 2}, {257, 2}});
  const auto begin = [&](const std::vector<unsigned>& distances) {
    return DeflateWriting().begin_dynamic(true, literals, distances).code(0, 1);
  };
  expect_text(begin({1}).code(3, 2).code(0, 1).code(2, 2), "aaaa");
  expect_damage(begin({1}).code(3, 2).code(1, 1), "a");
  expect_text(begin({0, 1}).code(0, 1).code(3, 2).code(0, 1).code(2, 2), "aaaaa");
  // No distance at all: literals are fine, matches are not.
  expect_text(begin({0}).code(0, 1).code(2, 2), "aa");
  expect_text(begin({0, 0, 0}).code(2, 2), "a");
  for (const unsigned bit : {0U, 1U}) {
    expect_damage(begin({0}).code(3, 2).code(bit, 1), "a");
  }
}

TEST_P(InflateStreams, ReadTheLongestCodes) {
  // 1 to 14 bits, and two symbols of 15.
  std::vector<std::pair<unsigned, unsigned>> named;
  for (unsigned length = 1; length < 15; ++length) named.emplace_back('a' + length, length);
  named.emplace_back(256, 15);
  named.emplace_back(257, 15);
  std::vector<unsigned> distances;
  for (unsigned length = 1; length < 15; ++length) distances.push_back(length);
  distances.insert(distances.end(), {15, 15});
  DeflateWriting data;
  data.begin_dynamic(true, literal_lengths(named), distances);
  std::string text;
  for (unsigned length = 1; length < 15; ++length) {
    data.code((1U << length) - 2, length);
    text += static_cast<char>('a' + length);
  }
  data.code(0x7fff, 15).code(0, 1);  // three bytes from 1 before
  data.code(0x7fff, 15).code(0x7ffe, 15).put(0, 6);
  text += "ooo";
  data.code(0x7ffe, 15);
  const Inflation inflation = inflate_in_pieces(data.text());
  EXPECT_EQ(inflation.state, InflateStream::State::damaged);  // symbol 14 is a distance of 129
  EXPECT_EQ(inflation.text, text);
}

TEST_P(InflateStreams, TakeNoByteBehindTheEnd) {
  for (const auto& [data, text] : deflate_samples()) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{9}, data.size() + 3}) {
      const Inflation inflation = inflate(data + "and more that follows", piece, 100);
      EXPECT_EQ(inflation, (Inflation{InflateStream::State::ended, text, data.size()}));
    }
  }
}

TEST_P(InflateStreams, StayWhereTheyEnded) {
  for (const auto& [data, state] :
       {std::pair{deflated("text"), InflateStream::State::ended},
        std::pair{std::string("\xff\xff"), InflateStream::State::damaged}}) {
    const auto stream = GetParam().create();
    EXPECT_EQ(inflated_by(*stream, data, 10, 10).state, state);
    std::byte room{7};
    const auto step = stream->step(std::as_bytes(std::span(data)), std::span(&room, 1));
    EXPECT_EQ(step.state, state);
    EXPECT_EQ(step.taken, 0u);
    EXPECT_EQ(step.made, 0u);
  }
}

TEST_P(InflateStreams, MayBeGivenNothing) {
  const auto stream = GetParam().create();
  const auto step = stream->step({}, {});
  EXPECT_EQ(step.state, InflateStream::State::goes_on);
  EXPECT_EQ(step.taken + step.made, 0u);
  EXPECT_EQ(inflated_by(*stream, deflated("text"), 10, 10).text, "text");
}

TEST_P(InflateStreams, BeginAgainWithoutWhatWasBefore) {
  const auto stream = GetParam().create();
  const std::string far = DeflateWriting()
                              .begin_fixed(true)
                              .fixed_literals("ab")
                              .fixed_match(257, 0, 0, 4, 0, 1)  // 5 before
                              .fixed_symbol(256)
                              .text();
  const std::string text = noise(50'000);
  for (const std::string& before :
       {deflated(text), deflated(text).substr(0, 30'000), std::string("\xff\xff")}) {
    EXPECT_NE(inflated_by(*stream, before, 1000, 1000).text, "x");
    stream->reset();
    EXPECT_EQ(inflated_by(*stream, far, 1, 1), (Inflation{InflateStream::State::damaged, "ab", 0}));
    stream->reset();
    EXPECT_EQ(inflated_by(*stream, deflated(text), 77, 99).text, text);
    stream->reset();
  }
}

// Distances that reach into what the steps before have made, and beyond the window's end.
TEST_P(InflateStreams, ReachBackThroughTheWholeWindow) {
  const std::string begin = noise(40'000);
  DeflateWriting data;
  data.stored(false, begin).begin_fixed(true);
  std::string text = begin;
  for (int i = 0; i < 300; ++i) {
    data.fixed_match(285, 0, 0, 29, 8191, 13);
    text += text.substr(text.size() - 32'768, 258);
  }
  data.fixed_symbol(256);
  for (const std::size_t piece : {1U, 257U, 258U, 32'767U, 32'768U, 32'769U, 50'000U}) {
    EXPECT_EQ(inflate(data.text(), whole_piece, piece).text, text) << piece;
  }
}

}  // namespace
}  // namespace andiron::detail
