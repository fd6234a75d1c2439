// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that other systems wrote, against what those systems read in them. ANDIRON_FIXTURES names
// the folder.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "andiron/open.h"
#include "andiron/sha256.h"
#include "tests/support/temp_dir.h"

namespace andiron {
namespace {

namespace fs = std::filesystem;

// dtypes as torch or safetensors spells them.
std::string our_dtype(const std::string& theirs) {
  static const std::map<std::string, std::string> names = {{"float64", "f64"},
                                                           {"float32", "f32"},
                                                           {"float16", "f16"},
                                                           {"bfloat16", "bf16"},
                                                           {"int64", "i64"},
                                                           {"int32", "i32"},
                                                           {"int16", "i16"},
                                                           {"int8", "i8"},
                                                           {"uint8", "u8"},
                                                           {"uint16", "u16"},
                                                           {"uint32", "u32"},
                                                           {"uint64", "u64"},
                                                           {"complex64", "c64"},
                                                           {"float8_e4m3fn", "f8e4m3fn"},
                                                           {"float8_e5m2", "f8e5m2"},
                                                           {"float8_e4m3fnuz", "f8e4m3fnuz"},
                                                           {"float8_e5m2fnuz", "f8e5m2fnuz"},
                                                           {"float8_e8m0fnu", "f8e8m0"},
                                                           {"float4_e2m1fn_x2", "f4e2m1"}};
  const auto known = names.find(theirs);
  if (known != names.end()) return known->second;
  std::string lower = theirs;
  for (char& c : lower) c = static_cast<char>(std::tolower(c));
  return lower;
}

void check_file(const fs::path& file, const nlohmann::json& truth) {
  SCOPED_TRACE(file.string());
  Result<Archive> archive = open(file.string());
  ASSERT_TRUE(archive) << archive.error().to_string();
  EXPECT_EQ(archive->size(), truth["tensors"].size());
  for (const auto& [name, expected] : truth["tensors"].items()) {
    Result<TensorSnapshot> tensor = archive->get(name);
    ASSERT_TRUE(tensor) << tensor.error().to_string();
    EXPECT_EQ(tensor->dtype_text(), our_dtype(expected["dtype"])) << name;
    EXPECT_EQ(
        nlohmann::json(std::vector<std::uint64_t>(tensor->shape().begin(), tensor->shape().end())),
        expected["shape"])
        << name;
    EXPECT_EQ(to_hex(sha256(*tensor).value()), expected["sha256"]) << name;
  }
}

TEST(Fixtures, EverySafetensorsFileAndIndexHoldsWhatItsMakerReads) {
  const char* root = std::getenv("ANDIRON_FIXTURES");
  if (root == nullptr || *root == '\0') GTEST_SKIP() << "ANDIRON_FIXTURES is not set";
  std::size_t checked = 0;
  for (const auto& folder : fs::directory_iterator(root)) {
    const fs::path truth_file = folder.path() / "truth.json";
    if (!fs::exists(truth_file)) continue;
    const nlohmann::json all = nlohmann::json::parse(test::read_file(truth_file.string()));
    for (const auto& [name, truth] : all.items()) {
      if (!name.ends_with(".safetensors") && !name.ends_with(".safetensors.index.json")) continue;
      check_file(folder.path() / name, truth);
      ++checked;
    }
  }
  EXPECT_GT(checked, 0u);
}

}  // namespace
}  // namespace andiron
