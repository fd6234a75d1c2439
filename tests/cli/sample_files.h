// SPDX-License-Identifier: MIT OR Apache-2.0
// Small files and short calls for tests of the tool.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/places.h"
#include "tests/support/run.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {

/// Runs the tool.
inline Outcome tool(std::vector<std::string> arguments, const Environment& environment = {},
                    const char* stdout_path = nullptr) {
  arguments.insert(arguments.begin(), tool_path());
  return run(arguments, environment, stdout_path);
}

/// A tensor of a sample file; its data counts up from zero, byte by byte.
struct Sample {
  std::string name;
  std::string dtype = "F32";
  std::vector<std::uint64_t> shape = {};
  std::size_t bytes = 4;
};

/// A SafeTensors file, written by hand.
inline std::string safetensors(const std::vector<Sample>& samples,
                               const std::map<std::string, std::string>& metadata = {}) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::string data;
  for (const Sample& sample : samples) {
    const std::size_t begin = data.size();
    for (std::size_t i = 0; i < sample.bytes; ++i) data += static_cast<char>(i);
    header[sample.name] = {
        {"dtype", sample.dtype}, {"shape", sample.shape}, {"data_offsets", {begin, data.size()}}};
  }
  const std::string text = header.dump();
  std::string file;
  for (unsigned shift = 0; shift < 64; shift += 8) {
    file += static_cast<char>(static_cast<std::uint64_t>(text.size()) >> shift & 0xff);
  }
  return file + text + data;
}

/// A test with a folder of its own.
class ToolTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }

  std::string write_text(const std::string& name, const std::string& content) const {
    write_file(path(name), content);
    return path(name);
  }

  std::string write(const std::string& name, const std::vector<Sample>& samples,
                    const std::map<std::string, std::string>& metadata = {}) const {
    return write_text(name, safetensors(samples, metadata));
  }

 private:
  TempDir folder_;
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The JSON objects that a run printed, one for each line.
inline std::vector<nlohmann::json> objects_of(const Outcome& run) {
  std::vector<nlohmann::json> objects;
  for (const std::string& line : lines_of(run.out)) objects.push_back(nlohmann::json::parse(line));
  return objects;
}

/// The tensors' names in the order that the tool printed them.
inline std::vector<std::string> names_of(const nlohmann::json& object) {
  std::vector<std::string> names;
  for (const auto& tensor : object.at("tensors")) names.push_back(tensor.at("name"));
  return names;
}

using Names = std::vector<std::string>;

}  // namespace andiron::test
