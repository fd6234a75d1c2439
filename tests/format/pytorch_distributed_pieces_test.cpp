// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/format/pytorch/distributed_pieces.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace andiron::detail {
namespace {

using Numbers = std::vector<std::uint64_t>;

std::uint64_t product(const Numbers& sizes) {
  std::uint64_t all = 1;
  for (const std::uint64_t size : sizes) all *= size;
  return all;
}

// A piece of the tensor whose elements count up from 0.
Piece piece_of(const Numbers& shape, const Numbers& offsets, const Numbers& sizes) {
  std::vector<std::int32_t> values;
  for (std::uint64_t i = 0; i < product(sizes); ++i) {
    std::uint64_t rest = i;
    std::uint64_t value = 0;
    std::uint64_t step = 1;
    for (std::size_t d = shape.size(); d-- > 0; step *= shape[d]) {
      value += (offsets[d] + rest % sizes[d]) * step;
      rest /= sizes[d];
    }
    values.push_back(static_cast<std::int32_t>(value));
  }
  return {
      offsets, sizes, {"piece", Tensor::from_values<std::int32_t>(Shape(sizes), values).value()}};
}

struct Place {
  Numbers offsets;
  Numbers sizes;
};

Result<TensorSnapshot> assembled(const Numbers& shape, const std::vector<Place>& places) {
  std::vector<Piece> pieces;
  for (const Place& place : places) {
    pieces.push_back(piece_of(shape, place.offsets, place.sizes));
  }
  return assemble(shape, DType::i32, std::move(pieces));
}

void expect_whole(const Numbers& shape, const std::vector<Place>& places) {
  const Result<TensorSnapshot> whole = assembled(shape, places);
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_EQ(whole->shape(), Shape(shape));
  const auto values = whole->read().value().to_vector<std::int32_t>().value();
  ASSERT_EQ(values.size(), product(shape));
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], static_cast<int>(i));
}

void expect_bad(const Numbers& shape, const std::vector<Place>& places) {
  const Result<TensorSnapshot> whole = assembled(shape, places);
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().code, ErrorCode::bad_offsets);
}

TEST(Pieces, OnePieceIsTheWhole) {
  expect_whole({3, 2}, {{{0, 0}, {3, 2}}});
  expect_whole({}, {{{}, {}}});
}

TEST(Pieces, OneDimensionIsCutAnywhere) {
  expect_whole({10}, {{{0}, {4}}, {{4}, {3}}, {{7}, {3}}});
  expect_whole({10}, {{{7}, {3}}, {{0}, {4}}, {{4}, {3}}});
  expect_whole({3}, {{{2}, {1}}, {{1}, {1}}, {{0}, {1}}});
}

TEST(Pieces, RowsAndColumnsAndGridsArePutTogether) {
  expect_whole({4, 3}, {{{0, 0}, {2, 3}}, {{2, 0}, {2, 3}}});
  expect_whole({4, 3}, {{{0, 0}, {4, 1}}, {{0, 1}, {4, 2}}});
  expect_whole({4, 4}, {{{0, 0}, {2, 2}}, {{0, 2}, {2, 2}}, {{2, 0}, {2, 2}}, {{2, 2}, {2, 2}}});
}

TEST(Pieces, UnevenCutsOfEachPartAreFine) {
  // Two rows of the first, one column each of the others; cut by columns first, then by rows.
  expect_whole({3, 4}, {{{0, 0}, {1, 4}}, {{1, 0}, {2, 1}}, {{1, 1}, {2, 3}}});
  expect_whole({3, 4}, {{{0, 0}, {3, 1}}, {{0, 1}, {1, 3}}, {{1, 1}, {2, 3}}});
  expect_whole({2, 3, 4}, {{{0, 0, 0}, {2, 3, 1}},
                           {{0, 0, 1}, {1, 3, 3}},
                           {{1, 0, 1}, {1, 1, 3}},
                           {{1, 1, 1}, {1, 2, 3}}});
}

TEST(Pieces, ManyPiecesInManyDimensionsArePutTogether) {
  std::vector<Place> places;
  for (std::uint64_t a = 0; a < 4; ++a) {
    for (std::uint64_t b = 0; b < 3; ++b) {
      for (std::uint64_t c = 0; c < 5; ++c) places.push_back({{a, 2 * b, c}, {1, 2, 1}});
    }
  }
  expect_whole({4, 6, 5}, places);
}

TEST(Pieces, APieceGivenTwiceCountsOnce) {
  expect_whole({4}, {{{0}, {2}}, {{2}, {2}}, {{0}, {2}}});
  expect_whole({4}, {{{0}, {4}}, {{0}, {4}}});
}

TEST(Pieces, PiecesWithoutElementsCoverNothing) {
  expect_whole({4}, {{{0}, {4}}, {{4}, {0}}, {{2}, {0}}});
  const TensorSnapshot none = assembled({0, 3}, {{{0, 0}, {0, 3}}, {{0, 0}, {0, 3}}}).value();
  EXPECT_EQ(none.shape(), (Shape{0, 3}));
  EXPECT_EQ(none.dtype(), DType::i32);
  EXPECT_TRUE(assembled({0}, {}));
  expect_bad({4}, {{{0}, {0}}});
  expect_bad({4}, {});
  expect_bad({}, {});
}

TEST(Pieces, GapsAndOverlapsAreRefused) {
  expect_bad({4}, {{{0}, {2}}, {{3}, {1}}});
  expect_bad({4}, {{{1}, {3}}});
  expect_bad({4}, {{{0}, {3}}});
  expect_bad({4}, {{{0}, {3}}, {{2}, {2}}});
  expect_bad({4}, {{{0}, {4}}, {{1}, {1}}});
  expect_bad({2, 2}, {{{0, 0}, {1, 2}}, {{1, 0}, {1, 1}}});
  expect_bad({2, 2}, {{{0, 0}, {2, 1}}, {{0, 0}, {1, 2}}, {{1, 1}, {1, 1}}});
  expect_bad({4, 4}, {{{0, 0}, {2, 2}}, {{2, 2}, {2, 2}}});
}

TEST(Pieces, PiecesOutsideOfTheWholeAreRefused) {
  expect_bad({4}, {{{0}, {5}}});
  expect_bad({4}, {{{3}, {2}}});
  expect_bad({4}, {{{5}, {0}}});
  std::vector<Piece> far = {piece_of({4}, {0}, {4})};
  far[0].offsets = {~std::uint64_t{0}};
  EXPECT_FALSE(assemble({4}, DType::i32, far));
  far[0].offsets = {0, 0};
  EXPECT_FALSE(assemble({4}, DType::i32, far));
  far[0].offsets = {0};
  far[0].sizes = {};
  EXPECT_FALSE(assemble({4}, DType::i32, far));
}

TEST(Pieces, PiecesThatNoCutSeparatesAreRefused) {
  // Four around one, none of which a straight line leaves whole.
  expect_bad(
      {3, 3},
      {{{0, 0}, {1, 2}}, {{0, 2}, {2, 1}}, {{2, 1}, {1, 2}}, {{1, 0}, {2, 1}}, {{1, 1}, {1, 1}}});
}

TEST(Pieces, ManyPiecesTakeLittleTime) {
  std::vector<Piece> pieces;
  constexpr std::uint64_t count = 20'000;
  const Piece one = piece_of({1}, {0}, {1});
  for (std::uint64_t i = 0; i < count; ++i) pieces.push_back({{count - 1 - i}, {1}, one.tensor});
  EXPECT_EQ(assemble({count}, DType::i32, std::move(pieces)).value().shape(), Shape{count});
}

TEST(Pieces, OnlyWhatIsAskedForIsPutTogether) {
  const TensorSnapshot whole =
      assembled({4, 4}, {{{0, 0}, {2, 4}}, {{2, 0}, {2, 1}}, {{2, 1}, {2, 3}}}).value();
  const TensorSnapshot row = whole.slice(0, 2, 3).value();
  EXPECT_EQ(row.read().value().to_vector<std::int32_t>().value(),
            (std::vector<std::int32_t>{8, 9, 10, 11}));
  EXPECT_EQ(whole.transpose(0, 1).value().read().value().to_vector<std::int32_t>().value()[1], 4);
}

}  // namespace
}  // namespace andiron::detail
