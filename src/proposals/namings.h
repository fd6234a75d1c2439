// SPDX-License-Identifier: MIT OR Apache-2.0
// Well-known ways to name the tensors of a model.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/proposals/name_tree.h"

namespace andiron::inline v1::detail {

// Whose naming a list of tensors has: "LLaMA as Meta names it". Empty if it is none that is known.
// Names are taken as they are, and without one to four segments before them.
std::string_view naming_of(std::span<const TreeTensor> tensors);
// All that are there, the same one first: a file may hold several models.
std::vector<std::string_view> namings_of(std::span<const TreeTensor> tensors);

// What differs between two namings beside names, and no setting mends. Empty if nothing is known.
std::string_view caveat_between(std::string_view naming, std::string_view other);

}  // namespace andiron::inline v1::detail
