// SPDX-License-Identifier: MIT OR Apache-2.0
// Says in one sentence what differs between a file and a module.
#pragma once

#include <span>
#include <string>

#include "src/proposals/name_tree.h"

namespace andiron::inline v1::detail {

// "the source has 12 blocks at 'h', the module 24 at 'layers'"; empty if nothing stands out.
// `are_whole`: the lists have all tensors, so that they can be counted.
std::string difference_between(std::span<const TreeTensor> source,
                               std::span<const TreeTensor> wanted, bool are_whole);

}  // namespace andiron::inline v1::detail
