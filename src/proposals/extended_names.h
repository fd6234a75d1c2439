// SPDX-License-Identifier: MIT OR Apache-2.0
// Names that go on where others end: fc.weight.absmax beside fc.weight, pos_embed.weight for
// pos_embed, features.0.0.weight for features.0.weight.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "src/proposals/name_rules.h"
#include "src/proposals/name_tree.h"
#include "src/proposals/proposals.h"

namespace andiron::inline v1::detail {

// Leaves out what a file keeps below the names of its weights: scales, averages, states.
void leave_out_extensions(std::vector<std::string_view>& names,
                          std::span<const WantedTensor> wanted);

// Settles the tensors in `rest`, of `wanted`, whose names differ from one of the source by a
// segment at the end, or by a 0 that stands alone in its list. Takes them out of `rest`.
void settle_extended(std::span<const TreeTensor> source, std::span<const TreeTensor> wanted,
                     std::vector<bool>& is_settled, std::vector<TreeTensor>& rest,
                     std::vector<Renaming>& settled);

}  // namespace andiron::inline v1::detail
