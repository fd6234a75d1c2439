// SPDX-License-Identifier: MIT OR Apache-2.0
// The names and shapes that a module asks a file for, under each adapter and with or without the
// names of variants.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/proposals/name_tree.h"
#include "src/proposals/proposals.h"
#include "src/proposals/recipe.h"

namespace andiron::inline v1::detail {

struct ModuleView {
  AdapterChoice choice;
  bool flips_variants;
  std::vector<TreeTensor> asked;  // as the file would have them
  // For each of these the wanted tensors that it feeds: several, where the adapter takes apart what
  // the file has in one tensor.
  std::vector<std::vector<std::size_t>> feeds;
};

// Numbers for kinds of dtypes, of which one cannot be loaded as another.
std::uint8_t kind_number(DType dtype);

// Whether a file says that PyTorch wrote it.
bool is_from_pytorch(const Archive& file);

// Returns one view per adapter that asks for something else than those before.
// `places`: the wanted tensors to look at. Of the names that an adapter looks for, those count that
// tensors of `file` end in.
std::vector<ModuleView> views_of(const ProposalInput& input, const Archive& file,
                                 std::span<const std::size_t> places);

}  // namespace andiron::inline v1::detail
