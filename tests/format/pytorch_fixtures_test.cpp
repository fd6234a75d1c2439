// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that PyTorch wrote, and Burn's own test data, against what PyTorch reads in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/open.h"
#include "andiron/sha256.h"
#include "tests/support/dtype_names.h"
#include "tests/support/fixture_truth.h"
#include "tests/support/fixtures.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_file.h"

namespace andiron::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Every file of one of these names. A set that lacks them would go unnoticed.
std::vector<std::string> files(std::initializer_list<std::string_view> names) {
  std::vector<std::string> found = fixtures_named(names);
  EXPECT_FALSE(found.empty()) << *names.begin();
  return found;
}

std::vector<Archive> opened(std::initializer_list<std::string_view> names) {
  std::vector<Archive> archives;
  for (const std::string& file : files(names)) archives.push_back(open(file).value());
  return archives;
}

// Whether a name is that of a tensor which is listed as its parts, or of one of these.
bool is_part(const std::string& name, const Json& tensors) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return false;
  const auto whole = tensors.find(name.substr(0, dot));
  return whole != tensors.end() && whole->at("sha256").is_null();
}

void expect_tensor(const TensorSnapshot& tensor, const Json& expected) {
  EXPECT_EQ(tensor.dtype_text(), our_dtype(expected["dtype"]));
  std::vector<std::uint64_t> shape(tensor.shape().begin(), tensor.shape().end());
  // Two to a byte, which PyTorch counts as one.
  if (tensor.dtype() == DType::f4e2m1) shape.back() /= 2;
  EXPECT_EQ(Json(shape), expected["shape"]);
  EXPECT_EQ(to_hex(sha256(tensor).value()), std::string(expected["sha256"]));
}

void expect_truth(const std::string& file, const Json& truth, std::string_view format = "pytorch") {
  const Json& tensors = truth["tensors"];
  for (IoMode mode : {IoMode::automatic, IoMode::pread}) {
    const Result<Archive> archive = open(file, {.io = mode});
    ASSERT_TRUE(archive) << archive.error().to_string();
    EXPECT_EQ(archive->format(), format);
    std::set<std::string> missing;
    for (const auto& [name, expected] : tensors.items()) {
      if (!expected["sha256"].is_null()) missing.insert(name);
    }
    for (std::size_t i = 0; i < archive->size(); ++i) {
      const std::string name(archive->info(i).name);
      SCOPED_TRACE(name);
      if (is_part(name, tensors)) {
        EXPECT_TRUE(archive->snapshot(i).read());
        continue;
      }
      ASSERT_EQ(missing.erase(name), 1u) << "a tensor that PyTorch does not have";
      expect_tensor(archive->snapshot(i), tensors[name]);
    }
    EXPECT_TRUE(missing.empty()) << *missing.begin();
    if (!truth.contains("skipped")) continue;
    std::set<std::string> skipped;
    for (const Skipped& one : archive->skipped()) skipped.insert(one.name);
    EXPECT_EQ(Json(skipped), truth["skipped"]);
  }
}

bool is_pytorch(const std::string& name) {
  for (const char* ending :
       {".pt", ".ptl", ".pt2", ".pkl", ".pt.gz", ".ckpt", ".tar", ".bin.index.json", "dcp"}) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

TEST(PytorchFixtures, EveryFileHoldsWhatPytorchReadsInIt) {
  std::size_t count = 0;
  for_each_fixture("", [&](const std::string& file, const Json& truth) {
    if (!is_pytorch(file) || !truth.contains("tensors")) return;
    expect_truth(file, truth);
    ++count;
  });
  EXPECT_GE(count, has_fixtures() ? 230u : 120u);
}

TEST(PytorchFixtures, NumpysFilesBesideThemHoldWhatNumpyReadsInThem) {
  std::size_t count = 0;
  for_each_fixture("", [&](const std::string& file, const Json& truth) {
    if (!file.ends_with(".npz") && !file.ends_with(".npy")) return;
    expect_truth(file, truth, "numpy");
    ++count;
  });
  EXPECT_GE(count, has_fixtures() ? 17u : 15u);
}

TEST(PytorchFixtures, ContainersAreToldApart) {
  const std::pair<const char*, const char*> containers[] = {
      {"proto5.pt", "zip"},
      {"dtypes_legacy.pt", "legacy"},
      {"torchscript.pt", "torchscript"},
      {"sharded_bin/pytorch_model.bin.index.json", "sharded"},
      {"dcp", "distributed"},
      {"reader/tar_float32.tar", "tar"}};
  for (const auto& [name, container] : containers) {
    for (const Archive& archive : opened({name})) EXPECT_EQ(archive.packaging(), container) << name;
  }
}

TEST(PytorchFixtures, AFolderOfShardsIsFound) {
  for (const std::string& folder : files({"sharded_bin"})) {
    const Archive archive = open(folder).value();
    const Json truth = Json::parse(read_file(fs::path(folder).parent_path() / "truth.json"));
    EXPECT_EQ(archive.size(), truth["sharded_bin/pytorch_model.bin.index.json"]["tensors"].size());
    EXPECT_TRUE(archive.notes().empty());
    for (std::size_t i = 0; i < archive.size(); ++i) {
      if (!archive.info(i).offset) continue;
      EXPECT_FALSE(archive.info(i).file.empty());
    }
  }
}

TEST(PytorchFixtures, SharingIsKept) {
  for (const Archive& tied : opened({"tied.pt"})) {
    EXPECT_EQ(tied.ties()[1], std::optional<std::size_t>(0));
  }
  for (const Archive& model : opened({"reader/full_model.pt", "reader-0.23/full_model.pt"})) {
    std::map<std::string, std::string> ties;
    for (std::size_t i = 0; i < model.size(); ++i) {
      if (const auto first = model.ties()[i]) {
        ties.emplace(model.info(i).name, model.info(*first).name);
      }
    }
    EXPECT_EQ(ties, (std::map<std::string, std::string>{{"tied.weight", "fc.weight"},
                                                        {"tied.bias", "fc.bias"}}));
  }
}

TEST(PytorchFixtures, AttributesOfAWholeModelThatAreNoStateAreSkipped) {
  for (const Archive& archive : opened({"reader/full_model.pt", "reader-0.23/full_model.pt"})) {
    std::set<std::string> skipped;
    for (const Skipped& one : archive.skipped()) skipped.insert(one.name);
    EXPECT_TRUE(skipped.contains("mask"));
    EXPECT_TRUE(skipped.contains("scale"));
  }
}

TEST(PytorchFixtures, QuantizedAndSparseTensorsAreTheirParts) {
  for (const Archive& archive : opened({"sparse.pt"})) {
    EXPECT_EQ(names_of(archive), (Names{"sparse.indices", "sparse.values", "dense"}));
  }
  for (const Archive& archive : opened({"sparse_csr.pt"})) {
    EXPECT_EQ(names_of(archive),
              (Names{"csr.crow_indices", "csr.col_indices", "csr.values", "dense"}));
  }
  for (const Archive& archive : opened({"quantized.pt"})) {
    EXPECT_EQ(names_of(archive), (Names{"q.int_repr", "q.scale", "q.zero_point", "qc.int_repr",
                                        "qc.scale", "qc.zero_point", "dense"}));
  }
}

std::vector<float> as_floats(const Archive& archive, std::string_view name) {
  const TensorSnapshot wide = archive.get(name).value().cast(DType::f32).value();
  return wide.read().value().to_vector<float>().value();
}

// The numbers that Burn's own tests name.
TEST(PytorchFixtures, TheNumbersAreThoseThatBurnsTestsExpect) {
  for (const std::string& folder : files({"reader", "reader-0.23"})) {
    SCOPED_TRACE(folder);
    const auto file = [&](const char* name) {
      return open((fs::path(folder) / name).string()).value();
    };
    EXPECT_EQ(floats(file("float32.pt"), "tensor"), (std::vector<float>{1, 2.5F, -3.7F, 0}));
    EXPECT_EQ(values_of<double>(file("float64.pt"), "tensor"), (std::vector{1.1, 2.2, 3.3}));
    EXPECT_EQ(values_of<std::int64_t>(file("int64.pt"), "tensor"),
              (std::vector<std::int64_t>{100, -200, 300, 0}));
    EXPECT_EQ(values_of<std::int32_t>(file("int32.pt"), "tensor"),
              (std::vector<std::int32_t>{10, 20, -30}));
    EXPECT_EQ(values_of<std::int16_t>(file("int16.pt"), "tensor"),
              (std::vector<std::int16_t>{1000, -2000, 3000}));
    EXPECT_EQ(read(file("bool.pt"), "tensor").bytes().text(), std::string("\1\0\1\1\0", 5));
    EXPECT_EQ(as_floats(file("float16.pt"), "tensor"), (std::vector<float>{1.5F, -2.25F, 3.125F}));
    EXPECT_EQ(as_floats(file("bfloat16.pt"), "tensor"), (std::vector<float>{1.5F, -2.5F, 3.5F}));
    EXPECT_EQ(floats(file("tensor_2d.pt"), "tensor"), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    const std::vector<float> special = floats(file("special_values.pt"), "tensor");
    EXPECT_TRUE(std::any_of(special.begin(), special.end(), [](float x) { return x != x; }));
    EXPECT_EQ(values_of<std::int8_t>(file("int8.pt"), "tensor"),
              (std::vector<std::int8_t>{127, -128, 0, 50}));
    EXPECT_EQ(values_of<std::uint8_t>(file("uint8.pt"), "tensor"),
              (std::vector<std::uint8_t>{0, 128, 255, 42}));
    EXPECT_EQ(floats(file("scalar.pt"), "tensor"), std::vector<float>{42});
    const std::vector<float> large = floats(file("large_shape.pt"), "tensor");
    EXPECT_EQ((std::vector{large[0], large[5050], large[9999]}), (std::vector<float>{1, 2, 3}));
    const Archive checkpoint = file("checkpoint.pt");
    EXPECT_EQ(*checkpoint.value()->find("epoch")->get<std::int64_t>(), 42);
    EXPECT_EQ(*checkpoint.value()->find("loss")->get<double>(), 0.123);
  }
  for (const Archive& strided :
       opened({"reader/non_contiguous.pt", "reader-0.23/non_contiguous.pt"})) {
    EXPECT_EQ(floats(strided, "expanded"), (std::vector<float>{1, 2, 3, 1, 2, 3}));
  }
  for (const Archive& window :
       opened({"reader/tar_storage_view.tar", "reader-0.23/tar_storage_view.tar"})) {
    EXPECT_EQ(floats(window, "window"), (std::vector<float>{2, 3, 4, 5}));
  }
}

TEST(PytorchFixtures, TarFilesThatFollowPytorchInPartAreReadToo) {
  for (const std::string& folder : files({"partial", "reader"})) {
    SCOPED_TRACE(folder);
    const auto file = [&](const char* name) {
      return open((fs::path(folder) / name).string()).value();
    };
    EXPECT_EQ(floats(file("tar_float32.tar"), "tensor"), (std::vector<float>{1, 2.5F, -3.7F, 0}));
    EXPECT_EQ(values_of<std::int64_t>(file("tar_int64.tar"), "tensor"),
              (std::vector<std::int64_t>{100, -200, 300, 0}));
    EXPECT_EQ(file("tar_weight_bias.tar").size(), 2u);
    EXPECT_EQ(file("tar_multi_dtype.tar").size(), 3u);
    EXPECT_EQ(file("tar_2d_tensor.tar").get("matrix").value().shape(), (Shape{3, 4}));
  }
}

TEST(PytorchFixtures, ABrokenFileIsRefused) {
  for (const std::string& file : files({"broken.pt", "reader/broken.pt"})) EXPECT_FALSE(open(file));
}

TEST(PytorchFixtures, EveryFileIsTheSameFromMemory) {
  std::size_t count = 0;
  for_each_fixture("torch-", [&](const std::string& file, const Json& truth) {
    if (!file.ends_with(".pt") && !file.ends_with(".ckpt")) return;
    if (!truth.contains("tensors")) return;
    const Archive on_disk = open(file).value();
    const Archive in_memory = open(source_of(read_file(file))).value();
    ASSERT_EQ(names_of(in_memory), names_of(on_disk));
    EXPECT_EQ(in_memory.ties(), on_disk.ties());
    for (std::size_t i = 0; i < on_disk.size(); ++i) {
      EXPECT_EQ(sha256(in_memory.snapshot(i)).value(), sha256(on_disk.snapshot(i)).value());
    }
    ++count;
  });
  EXPECT_GE(count, has_fixtures() ? 130u : 100u);
}

}  // namespace
}  // namespace andiron::test
