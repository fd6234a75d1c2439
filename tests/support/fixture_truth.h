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

/// Calls `check(file, its truth)` for every file of the folders whose names begin so, of every set;
/// returns how many there are.
inline std::size_t for_each_fixture(
    std::string_view prefix,
    const std::function<void(const std::string& file, const nlohmann::json& truth)>& check) {
  std::size_t count = 0;
  for (const std::filesystem::path& folder : fixture_folders(prefix)) {
    const std::filesystem::path truths = folder / "truth.json";
    if (!std::filesystem::exists(truths)) continue;
    const nlohmann::json all = nlohmann::json::parse(read_file(truths.string()));
    for (const auto& [name, truth] : all.items()) {
      const std::string file = (folder / name).string();
      SCOPED_TRACE(file);
      check(file, truth);
      ++count;
    }
  }
  return count;
}

}  // namespace andiron::test
