// SPDX-License-Identifier: MIT OR Apache-2.0
// Closing gaps in numbered names.
#pragma once

#include <string>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"

namespace andiron::inline v1 {

struct IndexGapOptions {
  /// Regular expressions for the lists to leave alone. Each is looked for in the path before the
  /// number, with the numbers that the file has: "flows.2.layers" for flows.2.layers.4.weight. For
  /// a number at the start of a name that is the empty string.
  std::vector<std::string> except = {};
};

/// Closes gaps in numbered names, as PyTorch's Sequential leaves them: fc.0 fc.2 fc.4 become fc.0
/// fc.1 fc.2. Every dotted segment that is a number is replaced by its rank among the numbers under
/// the same parent. NameCollision when two names become one (007 and 7).
Result<Archive> close_index_gaps(const Archive& archive, const IndexGapOptions& options = {});

}  // namespace andiron::inline v1
