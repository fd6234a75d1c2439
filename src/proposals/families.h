// SPDX-License-Identifier: MIT OR Apache-2.0
// Models of different families: transformers for text and for images have blocks of one form.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/proposals/name_tree.h"
#include "src/proposals/renaming_plan.h"

namespace andiron::inline v1::detail {

// Why a source is a model of another family than the module, as a sentence; empty where nothing
// tells. Their namings tell, or what they take in, where no tensor for that is in `plan`.
// `root`: what names of the source begin with that the plan is for.
std::string difference_of_families(std::span<const TreeTensor> source,
                                   std::span<const TreeTensor> wanted, const RenamingPlan& plan,
                                   std::string_view root);

}  // namespace andiron::inline v1::detail
