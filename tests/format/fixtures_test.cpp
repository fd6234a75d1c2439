// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that other systems wrote, against what those systems read in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "andiron/open.h"
#include "andiron/sha256.h"
#include "andiron/tensor.h"
#include "andiron/write.h"
#include "src/format/burnpack/header_listing.h"
#include "tests/support/dtype_names.h"
#include "tests/support/fixture_truth.h"
#include "tests/support/fixtures.h"
#include "tests/support/temp_dir.h"

namespace andiron {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

using test::for_each_fixture;
using test::has_fixtures;
using test::our_dtype;

Json shape_of(const TensorSnapshot& tensor) {
  return std::vector<std::uint64_t>(tensor.shape().begin(), tensor.shape().end());
}

void check_file(const std::string& file, const Json& truth) {
  Result<Archive> archive = open(file);
  ASSERT_TRUE(archive) << archive.error().to_string();
  EXPECT_EQ(archive->size(), truth["tensors"].size());
  for (const auto& [name, expected] : truth["tensors"].items()) {
    Result<TensorSnapshot> tensor = archive->get(name);
    ASSERT_TRUE(tensor) << tensor.error().to_string();
    EXPECT_EQ(tensor->dtype_text(), our_dtype(expected["dtype"])) << name;
    EXPECT_EQ(shape_of(*tensor), expected["shape"]) << name;
    EXPECT_EQ(to_hex(sha256(*tensor).value()), std::string(expected["sha256"])) << name;
  }
}

TEST(Fixtures, EverySafetensorsFileAndIndexHoldsWhatItsMakerReads) {
  std::size_t checked = 0;
  for_each_fixture("", [&](const std::string& file, const Json& truth) {
    if (!file.ends_with(".safetensors") && !file.ends_with(".safetensors.index.json")) return;
    check_file(file, truth);
    ++checked;
  });
  EXPECT_GE(checked, has_fixtures() ? 80u : 14u);
}

// A scheme in Burn's words, of any release, as our text.
std::string scheme_text(const Json& scheme) {
  const auto size = [](const Json& block) {
    std::string text = "[";
    for (std::size_t i = 0; i < block["len"]; ++i) {
      text += (i == 0 ? "" : ",") + block["storage"][i].dump();
    }
    return text + "]:";
  };
  std::string store = "PackedU32(0)";
  if (scheme["store"].is_object()) {
    const auto packed = scheme["store"].begin();
    store = packed.key() + "(" + packed.value().dump() + ")";
  } else if (scheme["store"] == "Native") {
    store = "Native";
  }
  std::string tensor;
  std::string block;
  if (scheme.contains("level")) {
    const Json& level = scheme["level"];
    const std::string param = scheme["param"];
    if (level == "Tensor") {
      tensor = param;
    } else if (level.contains("Block")) {
      block = size(level["Block"]) + param;
    } else {
      tensor = level["BlockTensor"]["global"];
      block = size(level["BlockTensor"]["block"]) + param;
    }
  } else {
    if (scheme["tensor"].is_string()) tensor = scheme["tensor"];
    if (scheme["block"].is_object()) {
      block = size(scheme["block"]["size"]) + std::string(scheme["block"]["dtype"]);
    }
  }
  return "QFloat(" + std::string(scheme["value"]) + "," + store + "," +
         std::string(scheme["mode"]) + (tensor.empty() ? "" : ",tensor=" + tensor) +
         (block.empty() ? "" : ",block=" + block) + ")";
}

void check_tensor_of_burn(const TensorSnapshot& tensor, const Json& expected) {
  const Json& detail = expected.contains("dtype_detail") ? expected["dtype_detail"] : Json();
  if (detail == Json{{"Bool", "U32"}}) {
    EXPECT_EQ(tensor.dtype_text(), "raw:Bool(U32)");
  } else {
    EXPECT_EQ(tensor.dtype_text(), our_dtype(expected["dtype"]));
  }
  if (detail.contains("QFloat")) {
    EXPECT_EQ(quant_scheme_text(tensor.scheme().value()), scheme_text(detail["QFloat"]));
  }
  EXPECT_EQ(shape_of(tensor), expected["shape"]);
  EXPECT_EQ(tensor.byte_size(), expected["bytes"]);
  EXPECT_EQ(tensor.param_id() ? Json(std::to_string(tensor.param_id()->value)) : Json(),
            expected["param_id"]);
  EXPECT_EQ(to_hex(sha256(tensor).value()), std::string(expected["sha256"]));
}

void check_tensors_of_burn(const Archive& archive, const Json& tensors) {
  for (const auto& [name, expected] : tensors.items()) {
    SCOPED_TRACE(name);
    const Result<TensorSnapshot> tensor = archive.get(name);
    ASSERT_TRUE(tensor) << tensor.error().to_string();
    check_tensor_of_burn(*tensor, expected);
  }
}

Json scalars_of(const Archive& archive) {
  Json scalars = Json::object();
  const ValueDict* dict = archive.value()->get<ValueDict>();
  if (dict == nullptr) return scalars;
  for (const auto& [name, value] : *dict) {
    if (const auto* truth = value.get<bool>()) {
      scalars[name] = {{"Bool", *truth}};
    } else if (const auto* integer = value.get<std::int64_t>()) {
      scalars[name] = {{"Int", *integer}};
    } else if (const auto* number = value.get<std::uint64_t>()) {
      scalars[name] = {{"UInt", *number}};
    } else {
      char bits[17];
      std::snprintf(bits, sizeof bits, "%016llx",
                    std::bit_cast<unsigned long long>(*value.get<double>()));
      scalars[name] = {{"Float", {{"f64_bits", bits}}}};
    }
  }
  return scalars;
}

// One line a tensor, in byte order of names.
std::string listing(const Archive& archive) {
  std::map<std::string, std::string> lines;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorInfo info = archive.info(i);
    std::string& line = lines[std::string(info.name)];
    line = std::string(info.name) + " " + std::string(info.file_dtype) + " [";
    for (std::size_t d = 0; d < info.shape.size(); ++d) {
      line += (d == 0 ? "" : ", ") + std::to_string(info.shape[d]);
    }
    line += "] " + std::to_string(info.param_id.value().value) + " " +
            to_hex(sha256(archive.snapshot(i)).value()) + "\n";
  }
  std::string text;
  for (const auto& [name, line] : lines) text += line;
  return text;
}

TEST(Fixtures, EveryBurnpackFileHoldsWhatItsReleaseOfBurnReads) {
  const std::size_t count = for_each_fixture("burnpack-", [](const std::string& file,
                                                             const Json& truth) {
    const bool has_wrong_length = file.ends_with("corrupt_wrong_length.bpk");
    Result<Archive> archive = open(file);
    if (truth.contains("refused") || has_wrong_length) {
      ASSERT_FALSE(archive);
      EXPECT_EQ(archive.error().code,
                has_wrong_length ? ErrorCode::size_mismatch : ErrorCode::truncated);
      return;
    }
    ASSERT_TRUE(archive) << archive.error().to_string();
    EXPECT_EQ(archive->format(), "burnpack");
    EXPECT_EQ(archive->file_bytes(), fs::file_size(file));
    EXPECT_TRUE(archive->notes().empty() || truth.contains("corrupt"));
    EXPECT_EQ(Json(archive->metadata()), truth["metadata"]);
    EXPECT_EQ(scalars_of(*archive), truth.contains("scalars") ? truth["scalars"] : Json::object());
    if (truth.contains("tensors")) {
      EXPECT_EQ(archive->size(), truth["tensors"].size());
      check_tensors_of_burn(*archive, truth["tensors"]);
    } else {
      EXPECT_EQ(archive->size(), truth["tensor_count"]);
      check_tensors_of_burn(*archive, truth["tensors_some"]);
      Sha256 digest;
      const std::string text = listing(*archive);
      digest.update(std::as_bytes(std::span(text)));
      EXPECT_EQ(to_hex(digest.finish()), std::string(truth["tensors_sha256"]));
    }
  });
  EXPECT_GE(count, has_fixtures() ? 460u : 75u);
}

TEST(Fixtures, ABurnpackFileOfTheWrongLengthIsReadAsRawBytesWhenLenient) {
  std::size_t found = 0;
  for_each_fixture("burnpack-", [&](const std::string& file, const Json& truth) {
    if (!file.ends_with("corrupt_wrong_length.bpk")) return;
    ++found;
    const Archive archive = open(file, {.strictness = Strictness::lenient}).value();
    const TensorSnapshot tensor = archive.get("w").value();
    EXPECT_EQ(tensor.dtype_text(), "raw:F32");
    EXPECT_EQ(tensor.byte_size(), truth["tensors"]["w"]["bytes"]);
    EXPECT_EQ(to_hex(sha256(tensor).value()), std::string(truth["tensors"]["w"]["sha256"]));
    EXPECT_EQ(archive.notes().size(), 1u);
  });
  EXPECT_GE(found, 1u);
}

TEST(Fixtures, EveryBurnpackFileSaysWhichReleaseWroteIt) {
  for_each_fixture("burnpack-", [](const std::string& file, const Json& truth) {
    BurnpackGeneration generation{};
    ASSERT_TRUE(burnpack_generation_of(std::string(truth["version"]), generation));
    const detail::BurnpackHead head = detail::read_burnpack_head(file).value();
    EXPECT_LE(head.layout.earliest, generation);
    EXPECT_GE(head.layout.latest, generation);
    if (truth.contains("refused")) return;
    EXPECT_EQ(head.layout.is_aligned, head.layout.data_begin % 256 == 0);
    const Json& metadata = truth["metadata"];
    if (metadata.value("producer", "") == "burn" &&
        metadata.value("version", "") == std::string(truth["version"])) {
      EXPECT_EQ(head.generation, "Burn " + std::string(truth["version"]));
    }
    // Every byte up to the data has its label.
    std::uint64_t at = 0;
    for (const detail::BurnpackField& field : detail::burnpack_fields(head).value()) {
      ASSERT_EQ(field.offset, at);
      at += field.size;
    }
    EXPECT_EQ(at, head.bytes.size());
  });
}

TEST(Fixtures, WritingABurnpackFileForItsReleaseGivesTheSameBytes) {
  for_each_fixture("burnpack-", [](const std::string& file, const Json& truth) {
    if (truth.contains("refused") || truth.contains("corrupt")) return;
    const Archive archive = open(file).value();
    std::vector<std::size_t> order(archive.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    // A tensor without elements shares its offset with the next one.
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(archive.info(a).offset.value(), archive.info(a).byte_size) <
             std::pair(archive.info(b).offset.value(), archive.info(b).byte_size);
    });
    BurnpackSettings settings;
    ASSERT_TRUE(burnpack_generation_of(std::string(truth["version"]), settings.release));
    const WriteOptions options{.format = Format::burnpack, .settings = settings};
    const Result<Bytes> written = write_to_memory(archive.select(order).value(), options);
    ASSERT_TRUE(written) << written.error().to_string();
    EXPECT_TRUE(written->text() == test::read_file(file));
  });
}

TEST(Fixtures, EveryRecordOfBurnOpensByItsContent) {
  const std::size_t count =
      for_each_fixture("mpk-", [](const std::string& file, const Json& truth) {
        Result<Archive> archive = open(file);
        if (file.ends_with(".bin") || file.ends_with(".bin.gz")) {
          // bincode has no names: only a module can read it.
          ASSERT_FALSE(archive);
          EXPECT_EQ(archive.error().code, ErrorCode::unsupported);
          EXPECT_NE(archive.error().to_string().find("names"), std::string::npos)
              << archive.error().to_string();
          return;
        }
        ASSERT_TRUE(archive) << archive.error().to_string();
        EXPECT_EQ(archive->format(), "mpk");
        EXPECT_EQ(Json(archive->metadata()), truth["record_metadata"]);
        EXPECT_EQ(archive->size(), truth["tensors"].size());
        check_tensors_of_burn(*archive, truth["tensors"]);
      });
  EXPECT_GE(count, has_fixtures() ? 150u : 30u);
}

}  // namespace
}  // namespace andiron
