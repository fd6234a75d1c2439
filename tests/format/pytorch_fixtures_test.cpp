// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that PyTorch wrote, and Burn's own test data, against what PyTorch reads in them.
// ANDIRON_FIXTURES names the folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "andiron/open.h"
#include "andiron/sha256.h"
#include "tests/support/dtype_names.h"
#include "tests/support/fixtures.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_file.h"

namespace andiron::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class PytorchFixtures : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_fixtures()) GTEST_SKIP() << "ANDIRON_FIXTURES is not set";
    root_ = fixtures_folder();
  }

  std::string path(const std::string& name) const { return (root_ / name).string(); }
  Archive opened(const std::string& name) const { return open(path(name)).value(); }
  Json truth(const std::string& folder) const {
    return Json::parse(read_file((root_ / folder / "truth.json").string()));
  }

  fs::path root_;
};

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
  EXPECT_EQ(to_hex(sha256(tensor).value()), expected["sha256"]);
}

void expect_truth(const std::string& file, const Json& tensors,
                  std::string_view format = "pytorch") {
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
  }
}

bool is_pytorch(const std::string& name) {
  for (const char* ending : {".pt", ".ckpt", ".tar", ".bin.index.json", "dcp"}) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

TEST_F(PytorchFixtures, EveryFileHoldsWhatPytorchReadsInIt) {
  std::size_t count = 0;
  for (const char* folder : {"torch-2.11", "burn"}) {
    const Json all = truth(folder);
    for (const auto& [name, expected] : all.items()) {
      if (!is_pytorch(name) || !expected.contains("tensors")) continue;
      SCOPED_TRACE(name);
      expect_truth((root_ / folder / name).string(), expected["tensors"]);
      ++count;
    }
  }
  EXPECT_GE(count, 110u);
}

TEST_F(PytorchFixtures, NumpysFilesBesideThemHoldWhatNumpyReadsInThem) {
  const Json all = truth("torch-2.11");
  for (const char* name : {"arrays.npz", "fortran.npy"}) {
    SCOPED_TRACE(name);
    expect_truth(path(std::string("torch-2.11/") + name), all[name]["tensors"], "numpy");
  }
}

TEST_F(PytorchFixtures, ContainersAreToldApart) {
  const std::pair<const char*, const char*> containers[] = {
      {"torch-2.11/proto5.pt", "zip"},
      {"torch-2.11/dtypes_legacy.pt", "legacy"},
      {"torch-2.11/torchscript.pt", "torchscript"},
      {"torch-2.11/sharded_bin/pytorch_model.bin.index.json", "sharded"},
      {"torch-2.11/dcp", "distributed"},
      {"burn/reader-0.23/tar_float32.tar", "tar"}};
  for (const auto& [name, container] : containers) {
    EXPECT_EQ(opened(name).packaging(), container) << name;
  }
}

TEST_F(PytorchFixtures, AFolderOfShardsIsFound) {
  const Archive archive = opened("torch-2.11/sharded_bin");
  EXPECT_EQ(archive.size(), 56u);
  EXPECT_TRUE(archive.notes().empty());
  EXPECT_FALSE(archive.info(0).file.empty());
}

TEST_F(PytorchFixtures, SharingIsKept) {
  const Archive tied = opened("torch-2.11/tied.pt");
  EXPECT_EQ(tied.ties()[1], std::optional<std::size_t>(0));
  const Archive model = opened("burn/reader-0.23/full_model.pt");
  std::map<std::string, std::string> ties;
  for (std::size_t i = 0; i < model.size(); ++i) {
    if (const auto first = model.ties()[i]) {
      ties.emplace(model.info(i).name, model.info(*first).name);
    }
  }
  EXPECT_EQ(ties, (std::map<std::string, std::string>{{"tied.weight", "fc.weight"},
                                                      {"tied.bias", "fc.bias"}}));
}

TEST_F(PytorchFixtures, AttributesOfAWholeModelThatAreNoStateAreSkipped) {
  const Archive archive = opened("burn/reader-0.23/full_model.pt");
  std::set<std::string> skipped;
  for (const Skipped& one : archive.skipped()) skipped.insert(one.name);
  EXPECT_TRUE(skipped.contains("mask"));
  EXPECT_TRUE(skipped.contains("scale"));
}

TEST_F(PytorchFixtures, QuantizedAndSparseTensorsAreTheirParts) {
  EXPECT_EQ(names_of(opened("torch-2.11/sparse.pt")),
            (Names{"sparse.indices", "sparse.values", "dense"}));
  EXPECT_EQ(names_of(opened("torch-2.11/sparse_csr.pt")),
            (Names{"csr.crow_indices", "csr.col_indices", "csr.values", "dense"}));
  EXPECT_EQ(names_of(opened("torch-2.11/quantized.pt")),
            (Names{"q.int_repr", "q.scale", "q.zero_point", "qc.int_repr", "qc.scale",
                   "qc.zero_point", "dense"}));
}

std::vector<float> as_floats(const Archive& archive, std::string_view name) {
  const TensorSnapshot wide = archive.get(name).value().cast(DType::f32).value();
  return wide.read().value().to_vector<float>().value();
}

// The numbers that Burn's own tests name.
TEST_F(PytorchFixtures, TheNumbersAreThoseThatBurnsTestsExpect) {
  for (const char* folder : {"burn/reader/", "burn/reader-0.23/"}) {
    const auto file = [&](const char* name) { return opened(std::string(folder) + name); };
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
    EXPECT_EQ(*checkpoint.value().find("epoch")->get<std::int64_t>(), 42);
    EXPECT_EQ(*checkpoint.value().find("loss")->get<double>(), 0.123);
  }
  const Archive strided = opened("burn/reader-0.23/non_contiguous.pt");
  EXPECT_EQ(floats(strided, "expanded"), (std::vector<float>{1, 2, 3, 1, 2, 3}));
  const Archive window = opened("burn/reader-0.23/tar_storage_view.tar");
  EXPECT_EQ(floats(window, "window"), (std::vector<float>{2, 3, 4, 5}));
}

TEST_F(PytorchFixtures, TarFilesThatFollowPytorchInPartAreReadToo) {
  EXPECT_EQ(floats(opened("burn/reader/tar_float32.tar"), "tensor"),
            (std::vector<float>{1, 2.5F, -3.7F, 0}));
  EXPECT_EQ(values_of<std::int64_t>(opened("burn/reader/tar_int64.tar"), "tensor"),
            (std::vector<std::int64_t>{100, -200, 300, 0}));
  EXPECT_EQ(opened("burn/reader/tar_weight_bias.tar").size(), 2u);
  EXPECT_EQ(opened("burn/reader/tar_multi_dtype.tar").size(), 3u);
  EXPECT_EQ(opened("burn/reader/tar_2d_tensor.tar").get("matrix").value().shape(), (Shape{3, 4}));
}

TEST_F(PytorchFixtures, ABrokenFileIsRefused) { EXPECT_FALSE(open(path("burn/reader/broken.pt"))); }

TEST_F(PytorchFixtures, EveryFileIsTheSameFromMemory) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(root_ / "torch-2.11")) {
    const std::string file = entry.path().string();
    if (!file.ends_with(".pt") && !file.ends_with(".ckpt")) continue;
    SCOPED_TRACE(file);
    const Archive on_disk = open(file).value();
    const Archive in_memory = open(source_of(read_file(file))).value();
    ASSERT_EQ(names_of(in_memory), names_of(on_disk));
    EXPECT_EQ(in_memory.ties(), on_disk.ties());
    for (std::size_t i = 0; i < on_disk.size(); ++i) {
      EXPECT_EQ(sha256(in_memory.snapshot(i)).value(), sha256(on_disk.snapshot(i)).value());
    }
    ++count;
  }
  EXPECT_GE(count, 25u);
}

}  // namespace
}  // namespace andiron::test
