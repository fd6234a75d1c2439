// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that other systems wrote: those of tests/data, and a larger set beside the project.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/places.h"

namespace andiron::test {

/// The larger set; empty where ANDIRON_FIXTURES names no folder.
inline std::string fixtures_folder() {
  const char* root = std::getenv("ANDIRON_FIXTURES");
  return root == nullptr ? "" : root;
}

inline bool has_fixtures() { return !fixtures_folder().empty(); }

/// The folders of every set whose names begin so, each of which holds what one system wrote.
inline std::vector<std::filesystem::path> fixture_folders(std::string_view prefix = "") {
  std::vector<std::filesystem::path> folders;
  for (const std::string& set : {test_data(), fixtures_folder()}) {
    if (set.empty()) continue;
    for (const auto& entry : std::filesystem::directory_iterator(set)) {
      if (!entry.is_directory()) continue;
      if (entry.path().filename().string().starts_with(prefix)) folders.push_back(entry.path());
    }
  }
  return folders;
}

/// All files and folders that have one of these names below a folder of a set.
inline std::vector<std::string> fixtures_named(std::initializer_list<std::string_view> names) {
  std::vector<std::string> found;
  for (const std::filesystem::path& folder : fixture_folders()) {
    for (const std::string_view name : names) {
      const std::filesystem::path path = folder / name;
      if (std::filesystem::exists(path)) found.push_back(path.string());
    }
  }
  return found;
}

}  // namespace andiron::test
