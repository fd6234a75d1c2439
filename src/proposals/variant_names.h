// SPDX-License-Identifier: MIT OR Apache-2.0
// The names of variants in the paths of a module.
#pragma once

#include <span>

#include "src/proposals/name_tree.h"
#include "src/proposals/proposals.h"

namespace andiron::inline v1::detail {

// Whether a name of the source has the name of a variant's alternative in it.
// `without`: the wanted tensors with paths that lack these names.
bool names_variants(std::span<const TreeTensor> source, std::span<const WantedTensor> wanted,
                    std::span<const WantedTensor> without);

}  // namespace andiron::inline v1::detail
