// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds for each tensor of a module the tensor of a file that means the same.
//
// Both sides are trees of modules. Modules that hold the same forms are aligned first, the largest
// first, and then what they hold. Among modules that hold the same, the words of their names and
// their numbers decide; where these do not, order does, and the result is a guess.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/proposals/name_tree.h"
#include "src/proposals/work_budget.h"

namespace andiron::inline v1::detail {

// Why two tensors are thought to be the same, the best reason first.
enum class Evidence : std::uint8_t {
  name,     // they have the same name below their parents
  words,    // words that mean the same
  numbers,  // the same place in a numbered list
  shape,    // nothing else around has this shape
  rest,     // all others have found each other
  order,    // the order in which they are listed; a guess
  square,   // whether a square matrix is transposed, nothing tells; a guess
};

struct AlignedTensor {
  std::uint32_t source;
  std::uint32_t wanted;
  Evidence evidence;
  bool is_guess;
  bool is_doubtful;  // sure only if a guess beside it is right
};

// In the order of the wanted tensors, none twice. `source_is_sorted`: the order of the file's
// tensors says nothing.
std::vector<AlignedTensor> align(std::span<const TreeTensor> source,
                                 std::span<const TreeTensor> wanted, bool source_is_sorted,
                                 WorkBudget& budget);

}  // namespace andiron::inline v1::detail
