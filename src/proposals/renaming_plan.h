// SPDX-License-Identifier: MIT OR Apache-2.0
// What must be renamed, split, joined and transposed so that aligned tensors find each other.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "src/proposals/edit_rules.h"
#include "src/proposals/name_rules.h"
#include "src/proposals/regrouping.h"
#include "src/proposals/tree_alignment.h"

namespace andiron::inline v1::detail {

struct RenamingPlan {
  std::vector<Renaming> renamings;  // of tensors of the file
  std::vector<std::string> others;  // names of the file that nothing is taken from
  std::vector<NeededEdit> edits;    // after renaming, in this order
  std::size_t matched = 0;          // wanted tensors that are fed
};

// `source` and `wanted`: the sides as they were before they were regrouped.
RenamingPlan plan_renaming(std::span<const TreeTensor> source, std::span<const TreeTensor> wanted,
                           const Regrouping& regrouping, std::span<const AlignedTensor> alignment);

}  // namespace andiron::inline v1::detail
