// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists of tensors that are aligned.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/proposals/name_tree.h"

namespace andiron::test {

using Side = std::vector<detail::TreeTensor>;

inline void add_layer(Side& side, const std::string& name, std::uint64_t out, std::uint64_t in) {
  side.push_back({name + ".weight", {out, in}});
  side.push_back({name + ".bias", {out}});
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
