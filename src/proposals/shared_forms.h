// SPDX-License-Identifier: MIT OR Apache-2.0
// Which tensors of two sides could take each other's place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/proposals/name_tree.h"

namespace andiron::inline v1::detail {

// Numbers for the shapes and kinds of tensors; 0 for those that only one side has.
struct SharedForms {
  SharedForms(std::span<const TreeTensor> in_source, std::span<const TreeTensor> in_wanted);

  std::vector<std::uint32_t> source;  // for each tensor
  std::vector<std::uint32_t> wanted;
};

}  // namespace andiron::inline v1::detail
