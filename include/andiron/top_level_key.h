// SPDX-License-Identifier: MIT OR Apache-2.0
// Checkpoints that wrap a model's tensors in a dictionary of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "andiron/archive.h"
#include "andiron/error.h"

namespace andiron::inline v1 {

/// The tensors below `key`, named from there. A dotted key goes down several levels. MissingTensor,
/// with the top-level keys there are, when nothing lies below it.
Result<Archive> at_top_level_key(const Archive& archive, std::string_view key);

/// The key below which the model seems to lie, of those that checkpoints use: "state_dict", or
/// "state_dict.module" where one wraps the other. Nothing unless all tensors lie below it but for
/// what training keeps beside a model: optimizer state, averaged copies.
std::optional<std::string> suggest_top_level_key(const Archive& archive);

}  // namespace andiron::inline v1
