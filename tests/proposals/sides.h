// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists of tensors that are aligned.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/proposals/name_tree.h"
#include "src/proposals/tree_alignment.h"

namespace andiron::test {

using Side = std::vector<detail::TreeTensor>;

inline void add_layer(Side& side, const std::string& name, std::uint64_t out, std::uint64_t in) {
  side.push_back({name + ".weight", {out, in}});
  side.push_back({name + ".bias", {out}});
}

// Two blocks of vectors, which have one size, and a matrix.
inline Side vectors_named(const std::vector<std::string>& names) {
  Side side;
  for (const std::string block : {"blocks.0.", "blocks.1."}) {
    for (const std::string& name : names) side.push_back({block + name, {4}});
    side.push_back({block + "mlp.weight", {8, 4}});
  }
  return side;
}

// Wanted names to names of the file, without guesses.
inline std::map<std::string, std::string> sure_pairs(const Side& source, const Side& wanted) {
  detail::WorkBudget budget(1'000'000);
  std::map<std::string, std::string> pairs;
  for (const detail::AlignedTensor& one : detail::align(source, wanted, true, budget)) {
    if (!one.is_guess) pairs.emplace(wanted[one.wanted].name, source[one.source].name);
  }
  return pairs;
}

// Layers of one size.
inline Side layers_named(const std::vector<std::string>& names, std::uint64_t size = 4) {
  Side side;
  for (const std::string& name : names) add_layer(side, name, size, size);
  return side;
}

inline Side below_prefix(const std::string& prefix, Side side) {
  for (detail::TreeTensor& tensor : side) tensor.name = prefix + tensor.name;
  return side;
}

inline const Side small_model = [] {
  Side side;
  add_layer(side, "encoder.fc1", 4, 3);
  add_layer(side, "encoder.fc2", 5, 4);
  add_layer(side, "head", 2, 5);
  return side;
}();

}  // namespace andiron::test
