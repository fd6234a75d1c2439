// SPDX-License-Identifier: MIT OR Apache-2.0
// A folder that lives as long as a test, and whole files in one call.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace andiron::test {

/// An empty folder under the system's temporary folder, removed with all its content.
class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "andiron-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      ADD_FAILURE() << "cannot make a temporary folder from " << pattern;
    }
    path_ = pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  /// The path of `name` in this folder.
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

  /// The names of all that is in the folder, in order, hidden files too.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::string path_;
};

/// The whole content; a test failure and "" when there is no such file.
inline std::string read_file(const std::string& path) {
  std::string content;
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    ADD_FAILURE() << "cannot read " << path;
    return content;
  }
  char buffer[65536];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, file)) {
    content.append(buffer, count);
  }
  std::fclose(file);
  return content;
}

/// Creates or replaces the file.
inline void write_file(const std::string& path, std::string_view content) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  const bool is_written =
      file != nullptr && std::fwrite(content.data(), 1, content.size(), file) == content.size();
  const bool is_closed = file != nullptr && std::fclose(file) == 0;
  if (!is_written || !is_closed) ADD_FAILURE() << "cannot write " << path;
}

}  // namespace andiron::test
