// SPDX-License-Identifier: MIT OR Apache-2.0
// The tree of a record, with tensors as leaves, and the names that follow from it.
#pragma once

#include <string_view>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/value.h"

namespace andiron::inline v1::detail {

// The name of a tensor that is the whole record.
inline constexpr std::string_view name_of_root_tensor = "item";

// A parameter in a record's tree is its tensor's index. One whose id has another spelling than ours
// stays {"id": text, "param": index}: this gives the index, or nullptr for all other dicts.
const TensorIndex* parameter_of(const ValueDict& dict);

// Whether the tree holds every tensor of the archive once, in the place that its name tells.
bool is_tree_of(const Value& tree, const Archive& archive);

// The tree that names and tied names tell: nested by dots; a dict with keys from 0 on is a list.
// NameCollision when a name continues another one.
Result<Value> tree_from_names(const Archive& archive);

}  // namespace andiron::inline v1::detail
