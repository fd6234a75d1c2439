// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors of other models in a file: of texts beside images, of a decoder beside an encoder.
#pragma once

#include <span>
#include <vector>

#include "src/proposals/name_tree.h"
#include "src/proposals/tree_alignment.h"

namespace andiron::inline v1::detail {

// Where the module does not say which model it is, but almost all of it comes from one, none of it
// comes from another. Returns which tensors of the file are another's; empty if none was taken.
std::vector<bool> find_strangers(std::span<const TreeTensor> source,
                                 std::span<const TreeTensor> wanted,
                                 const std::vector<AlignedTensor>& alignment);

}  // namespace andiron::inline v1::detail
