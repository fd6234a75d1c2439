// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that other systems wrote, with what those systems read in them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tests/support/fixtures.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {

/// Calls `check(file, its truth)` for every file of the folders whose names begin so; returns how
/// many there are.
inline std::size_t for_each_fixture(
    std::string_view prefix,
    const std::function<void(const std::string& file, const nlohmann::json& truth)>& check) {
  std::size_t count = 0;
  for (const auto& folder : std::filesystem::directory_iterator(fixtures_folder())) {
    const std::filesystem::path truths = folder.path() / "truth.json";
    if (!folder.path().filename().string().starts_with(prefix)) continue;
    if (!std::filesystem::exists(truths)) continue;
    const nlohmann::json all = nlohmann::json::parse(read_file(truths.string()));
    for (const auto& [name, truth] : all.items()) {
      const std::string file = (folder.path() / name).string();
      SCOPED_TRACE(file);
      check(file, truth);
      ++count;
    }
  }
  return count;
}

}  // namespace andiron::test
