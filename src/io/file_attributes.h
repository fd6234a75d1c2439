// SPDX-License-Identifier: MIT OR Apache-2.0
// What a file takes over from the one that it replaces: owner, group, permissions and extended
// attributes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/io/system_calls.h"

namespace andiron::inline v1 {

/// A file in a folder, and what the system said about it.
struct OldFile {
  int folder = -1;
  std::string name;
  struct stat status{};
};

struct TakenAttributes {
  std::vector<std::string> lost;  ///< what the process may not set: "owner"
  int error_number = 0;           ///< not 0 if the permissions could not be set
};

/// All of them, or only those that say who may do what.
enum class Attributes : std::uint8_t { all, access };

/// Gives an open file the attributes of another as far as the process may. If the group cannot be
/// kept, the new group may do no more than everybody.
TakenAttributes take_attributes(int file, const OldFile& old, Attributes which = Attributes::all);

}  // namespace andiron::inline v1
