// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that other systems wrote, in the folder that ANDIRON_FIXTURES names.
#pragma once

#include <cstdlib>
#include <string>

namespace andiron::test {

/// Empty where there are none: tests that need them then skip.
inline std::string fixtures_folder() {
  const char* root = std::getenv("ANDIRON_FIXTURES");
  return root == nullptr ? "" : root;
}

inline bool has_fixtures() { return !fixtures_folder().empty(); }

}  // namespace andiron::test
