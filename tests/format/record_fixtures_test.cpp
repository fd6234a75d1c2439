// SPDX-License-Identifier: MIT OR Apache-2.0
// Records that Burn wrote, against what it says is in them.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "andiron/file.h"
#include "andiron/sha256.h"
#include "andiron/tensor.h"
#include "andiron/value.h"
#include "src/codec/gzip.h"
#include "tests/support/fixture_truth.h"
#include "tests/support/fixtures.h"
#include "tests/support/record_file.h"
#include "tests/support/temp_dir.h"

namespace andiron {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

using test::has_fixtures;

bool is_record(const std::string& name) {
  for (const char* ending : {".mpk", ".mpk.gz", ".json", ".json.gz"}) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

// Calls `check(file, its truth)` for every record; returns how many there are.
std::size_t for_each_record(
    const std::function<void(const std::string& file, const Json& truth)>& check) {
  std::size_t count = 0;
  test::for_each_fixture("mpk-", [&](const std::string& file, const Json& truth) {
    if (!is_record(file)) return;
    check(file, truth);
    ++count;
  });
  return count;
}

Archive read(const std::string& path) { return test::read_record(test::read_file(path)).value(); }

std::string inflated(const std::string& file) {
  const auto source = memory_source(test::bytes_of_text(file));
  return std::string(detail::inflate_gzip(*source, {}).value().text());
}

std::string dtype_of(const TensorSnapshot& tensor) {
  if (tensor.dtype() == DType::boolean) return "Bool";
  if (tensor.dtype() == DType::qfloat) return "QFloat";
  std::string text = tensor.dtype_text();
  for (char& c : text) c = static_cast<char>(std::toupper(c));
  return text;
}

TEST(RecordFixtures, EveryRecordHoldsWhatBurnStoredInIt) {
  const std::size_t count = for_each_record([](const std::string& file, const Json& truth) {
    const Archive archive = read(file);
    EXPECT_EQ(archive.format(), "mpk");
    EXPECT_EQ(archive.file_bytes(), fs::file_size(file));
    EXPECT_EQ(Json(archive.metadata()), truth["record_metadata"]);
    EXPECT_EQ(archive.size(), truth["tensors"].size());
    EXPECT_TRUE(archive.notes().empty());
    for (const auto& [name, expected] : truth["tensors"].items()) {
      SCOPED_TRACE(name);
      const TensorSnapshot tensor = archive.get(name).value();
      EXPECT_EQ(dtype_of(tensor), std::string(expected["dtype"]));
      EXPECT_EQ(Json(std::vector<std::uint64_t>(tensor.shape().begin(), tensor.shape().end())),
                expected["shape"]);
      EXPECT_EQ(tensor.byte_size(), expected["bytes"]);
      EXPECT_EQ(tensor.param_id().value().to_text(), std::string(expected["id"]));
      EXPECT_EQ(std::to_string(tensor.param_id().value().value), std::string(expected["param_id"]));
      EXPECT_EQ(to_hex(sha256(tensor).value()), std::string(expected["sha256"]));
    }
  });
  EXPECT_GE(count, has_fixtures() ? 110u : 20u);
}

TEST(RecordFixtures, ReadingAndWritingGivesTheSameBytes) {
  for_each_record([](const std::string& file, const Json& truth) {
    const bool gzip = file.ends_with(".gz");
    if (file.find(".json") != std::string::npos) return;
    const std::string settings = truth["record_metadata"]["settings"];
    WriteOptions options;
    if (settings.starts_with("Half")) options.settings = MpkSettings{RecordPrecision::half};
    if (settings.starts_with("Double")) options.settings = MpkSettings{RecordPrecision::doubled};
    const std::string original = test::read_file(file);
    const std::string written = test::write_record(read(file), options, gzip).value();
    if (gzip) {
      EXPECT_EQ(inflated(written), inflated(original));
    } else {
      EXPECT_EQ(written, original);
    }
  });
}

TEST(RecordFixtures, AJsonRecordBecomesTheMessagePackThatBurnWrites) {
  for_each_record([](const std::string& file, const Json& truth) {
    if (!file.ends_with(".json")) return;
    if (truth["record_metadata"]["settings"] != "FullPrecisionSettings") return;
    const Archive archive = read(file);
    const Archive again = test::read_record(test::write_record(archive).value()).value();
    EXPECT_EQ(again.size(), archive.size());
    EXPECT_EQ(to_json(*again.value()), to_json(*archive.value()));
    EXPECT_EQ(again.metadata().at("version"), std::string(truth["version"]));
    EXPECT_EQ(again.metadata().at("format"),
              "burn_core::record::file::NamedMpkFileRecorder<burn_core::record::settings::"
              "FullPrecisionSettings>");
    for (std::size_t i = 0; i < archive.size(); ++i) {
      EXPECT_EQ(sha256(again.snapshot(i)).value(), sha256(archive.snapshot(i)).value());
    }
  });
}

TEST(RecordFixtures, QuantizedTensorsCanBeDequantized) {
  std::size_t count = 0;
  for_each_record([&](const std::string& file, const Json&) {
    if (file.find("quantized") == std::string::npos) return;
    const Archive archive = read(file);
    for (std::size_t i = 0; i < archive.size(); ++i) {
      const Tensor numbers = dequantize(archive.snapshot(i).read().value()).value();
      EXPECT_EQ(numbers.dtype(), DType::f32);
      ++count;
    }
  });
  EXPECT_GE(count, 4u);
}

}  // namespace
}  // namespace andiron
