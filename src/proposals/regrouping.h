// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds tensors that one side holds as several and the other as one, and matrices that are
// transposed: what no change of names can mend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/proposals/name_tree.h"

namespace andiron::inline v1::detail {

// One of the tensors that stand for another, which was taken apart.
struct TornPart {
  std::size_t whole;         // the tensor, as it was given
  std::size_t number;        // of the part, from 0
  std::string segment;       // of the whole's name that the part's name has another for: "qkv"
  std::string part_segment;  // "q"
};

// The tensors of one side, some taken apart along their first dimension.
struct TornList {
  std::vector<TreeTensor> tensors;
  std::vector<TornPart> origins;         // for each; number and segments are for parts only
  std::vector<std::size_t> part_counts;  // for each tensor as it was given; 1 for a whole one
};

struct Regrouping {
  std::vector<bool> transposed;  // for each tensor of the file
  TornList source;               // after that
  TornList wanted;
};

// Which matrices of the file are transposed.
std::vector<bool> find_transposed(std::span<const TreeTensor> source,
                                  std::span<const TreeTensor> wanted);

Regrouping regroup(std::span<const TreeTensor> source, std::span<const TreeTensor> wanted);

}  // namespace andiron::inline v1::detail
