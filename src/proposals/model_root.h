// SPDX-License-Identifier: MIT OR Apache-2.0
// Where a model lies in a file.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/proposals/name_tree.h"

namespace andiron::inline v1::detail {

struct ModelRoot {
  std::string prefix = {};  // "model."; empty for the file itself
  std::string rival = {};   // the prefix of another tree that holds as much: a teacher
};

// What names begin with in the smallest tree of the file that holds as much of what is wanted as
// the whole file.
ModelRoot find_root(std::span<const TreeTensor> source, std::span<const TreeTensor> wanted);

// Whether a name tells of weights averaged over training, which checkpoints keep beside the model's
// own.
bool is_averaged(std::string_view name);

}  // namespace andiron::inline v1::detail
