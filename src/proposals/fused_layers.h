// SPDX-License-Identifier: MIT OR Apache-2.0
// Layers whose parameters PyTorch joins into one tensor. Only its adapter can take them apart, so
// that they cannot be aligned one by one.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "andiron/adapter.h"
#include "andiron/archive.h"
#include "src/proposals/proposals.h"

namespace andiron::inline v1::detail {

// Whether PyTorch joins a parameter with others of its layer.
bool is_fused(const WantedTensor& wanted);

// What names of the file have before those that the adapter asks for, or the other way round.
struct FusedRoot {
  std::string of_file = {};
  std::string of_module = {};
};

// The prefixes with which the adapter finds all parameters of a module that has such layers, each
// in its shape; nothing if there are none.
std::optional<FusedRoot> root_of_fused_layers(const Archive& archive, const Adapter& adapter,
                                              std::span<const WantedTensor> wanted);

}  // namespace andiron::inline v1::detail
