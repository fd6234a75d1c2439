// SPDX-License-Identifier: MIT OR Apache-2.0
// Renaming tensors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/pattern.h"

namespace andiron {
inline namespace v1 {

/// Regular expressions with replacements, applied in order, each to the result of the one before
/// and to every match (see Pattern::replace_all). The first bad pattern is kept, as in PathFilter.
class KeyRemapper {
 public:
  KeyRemapper& add_pattern(std::string_view from, std::string to) &;
  KeyRemapper&& add_pattern(std::string_view from, std::string to) &&;

  bool is_empty() const noexcept { return rules_.empty() && !first_error_; }
  /// InvalidPattern for the first pattern that did not parse.
  Status status() const;
  /// REQUIRES: status() is ok.
  std::string remap(std::string name) const;
  /// Warnings about replacements that name groups their pattern lacks.
  std::vector<std::string> warnings() const;

 private:
  std::vector<std::pair<Pattern, std::string>> rules_;
  std::optional<Error> first_error_;
};

/// The tensors of `archive` under their new names, with the remapper's warnings as notes.
/// NameCollision when two become one.
Result<Archive> remap(const Archive& archive, const KeyRemapper& remapper);

/// Closes gaps in numbered names, as PyTorch's Sequential leaves them: fc.0 fc.2 fc.4 become fc.0
/// fc.1 fc.2. Every dotted segment that is a number is replaced by its rank among the numbers under
/// the same parent. NameCollision when two names become one (007 and 7).
Result<Archive> close_index_gaps(const Archive& archive);

/// The tensors below `key`, named from there. A dotted key goes down several levels. MissingTensor,
/// with the top-level keys there are, when nothing lies below it.
Result<Archive> at_top_level_key(const Archive& archive, std::string_view key);

}  // namespace v1
}  // namespace andiron
