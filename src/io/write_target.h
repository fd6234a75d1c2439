// SPDX-License-Identifier: MIT OR Apache-2.0
// Where a file to be written will really be.
#pragma once

#include <optional>
#include <string>

#include "src/io/system_calls.h"

namespace andiron::inline v1 {

/// The end of a path, behind all symbolic links.
struct Target {
  Descriptor folder;
  std::string name;                ///< in `folder`, without a slash
  std::optional<struct stat> old;  ///< the file that is there now, if one is
  bool is_behind_link = false;     ///< the path itself is a symbolic link

  /// Something has the path already, be it a link that leads nowhere.
  bool is_taken() const { return old.has_value() || is_behind_link; }
};

/// Follows `path`. Nothing need be there yet, not even at the end of a symbolic link, but its
/// folder must. Unsupported when there is something that is not a regular file. In a folder that
/// everybody may write to (sticky, as /tmp), links of other users are not followed.
Result<Target> find_target(const std::string& path);

}  // namespace andiron::inline v1
