// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_distributed_pieces_test.cpp
#include "src/format/pytorch/distributed_pieces.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "src/core/sort.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

// Each level is one more level of the expression.
constexpr unsigned deepest_cuts = 32;

Error bad_pieces() {
  return Error{.code = ErrorCode::bad_offsets,
               .message = "the pieces of a tensor overlap or leave a gap"};
}

struct Region {
  std::vector<std::uint64_t> begin;
  std::vector<std::uint64_t> end;
};

std::uint64_t piece_end(const Piece& piece, std::size_t dim) {
  return piece.offsets[dim] + piece.sizes[dim];
}

// Sorts pieces along a dimension and gives where it can be cut: no piece lies on both sides.
std::vector<std::size_t> cuts(std::span<Piece> pieces, std::size_t dim) {
  detail::sort(pieces.begin(), pieces.end(), [dim](const Piece& a, const Piece& b) {
    return std::tie(a.offsets[dim], a.offsets) < std::tie(b.offsets[dim], b.offsets);
  });
  std::vector<std::size_t> found;
  std::uint64_t reach = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i != 0 && pieces[i].offsets[dim] >= reach) found.push_back(i);
    reach = std::max(reach, piece_end(pieces[i], dim));
  }
  return found;
}

Result<TensorSnapshot> assemble_region(std::span<Piece> pieces, const Region& region,
                                       unsigned depth) {
  if (pieces.size() == 1) {
    for (std::size_t d = 0; d < region.begin.size(); ++d) {
      if (pieces[0].offsets[d] != region.begin[d] || piece_end(pieces[0], d) != region.end[d]) {
        return bad_pieces();
      }
    }
    return pieces[0].tensor;
  }
  if (depth > deepest_cuts) return bad_pieces();
  for (std::size_t d = 0; d < region.begin.size(); ++d) {
    std::vector<std::size_t> starts = cuts(pieces, d);
    if (starts.empty()) continue;
    starts.insert(starts.begin(), 0);
    std::vector<TensorSnapshot> parts;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const bool is_last = i + 1 == starts.size();
      const std::size_t stop = is_last ? pieces.size() : starts[i + 1];
      Region part = region;
      part.begin[d] = i == 0 ? region.begin[d] : pieces[starts[i]].offsets[d];
      part.end[d] = is_last ? region.end[d] : pieces[stop].offsets[d];
      ANDIRON_ASSIGN(parts.emplace_back(),
                     assemble_region(pieces.subspan(starts[i], stop - starts[i]), part, depth + 1));
    }
    return TensorSnapshot::concat(parts, d);
  }
  return bad_pieces();
}

}  // namespace

Result<TensorSnapshot> assemble(const std::vector<std::uint64_t>& shape, DType dtype,
                                std::vector<Piece> pieces) {
  for (const Piece& piece : pieces) {
    if (piece.offsets.size() != shape.size() || piece.sizes.size() != shape.size()) {
      return bad_pieces();
    }
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (piece.offsets[d] > shape[d] || piece.sizes[d] > shape[d] - piece.offsets[d]) {
        return bad_pieces();
      }
    }
  }
  // Pieces without elements cover nothing.
  std::erase_if(pieces, [](const Piece& piece) {
    return std::find(piece.sizes.begin(), piece.sizes.end(), 0) != piece.sizes.end();
  });
  const auto place = [](const Piece& piece) { return std::tie(piece.offsets, piece.sizes); };
  detail::sort(pieces.begin(), pieces.end(),
               [&](const Piece& a, const Piece& b) { return place(a) < place(b); });
  pieces.erase(std::unique(pieces.begin(), pieces.end(),
                           [&](const Piece& a, const Piece& b) { return place(a) == place(b); }),
               pieces.end());
  if (pieces.empty()) {
    if (std::find(shape.begin(), shape.end(), 0) == shape.end()) return bad_pieces();
    return TensorSnapshot::from_source("", memory_source(Bytes()), 0, 0, dtype, Shape(shape));
  }
  const Region whole{std::vector<std::uint64_t>(shape.size(), 0), shape};
  return assemble_region(pieces, whole, 0);
}

}  // namespace andiron::inline v1::detail
