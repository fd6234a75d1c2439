// SPDX-License-Identifier: MIT OR Apache-2.0
// Notes on tensors that only training has, of which the weights are made first.
#pragma once

#include "andiron/apply.h"

namespace andiron::inline v1::detail {

// Adds a note for unused matrices of LoRA, and one for what FSDP has flattened. Returns whether
// they say why the source does not fit.
bool note_training_names(ApplyResult& result);

}  // namespace andiron::inline v1::detail
