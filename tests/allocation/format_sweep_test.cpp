// SPDX-License-Identifier: MIT OR Apache-2.0
// Opening, reading and writing the files of each format when memory is short.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "andiron/config.h"
#include "andiron/file.h"
#include "andiron/open.h"
#include "andiron/sha256.h"
#include "andiron/write.h"
#include "tests/allocation/sweep.h"
#include "tests/support/long_tests.h"
#include "tests/support/places.h"
#include "tests/support/sample_net.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {
namespace {

std::string data_file(const std::string& name) { return test_data() + "/" + name; }

// All that opening tells, so that nothing can get lost in silence.
std::string description(const Archive& archive) {
  std::string text = archive.format() + " " + archive.packaging() + "\n";
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorInfo info = archive.info(i);
    text += std::string(info.name) + " " + std::string(info.file_dtype) + " " +
            Shape(info.shape).to_string() + "\n";
  }
  for (const auto& [alias, kept] : archive.aliases()) text += alias + " = " + kept + "\n";
  for (const auto& [key, value] : archive.metadata()) text += key + ": " + value + "\n";
  for (const std::string& note : archive.notes()) text += note + "\n";
  for (const Skipped& skipped : archive.skipped()) text += skipped.name + ": " + skipped.reason;
  return text;
}

// Reads all tensors into `out`, which has room for them.
Status read_all(const Archive& archive, std::vector<Sha256Digest>& out) {
  for (std::size_t i = 0; i < archive.size(); ++i) {
    Result<TensorSnapshot> tensor = archive.get(archive.info(i).name);
    if (!tensor) return std::move(tensor).error();
    Result<Tensor> data = tensor->read();
    if (!data) return std::move(data).error();
    Result<Sha256Digest> digest = sha256(*tensor);
    if (!digest) return std::move(digest).error();
    out.push_back(*digest);
  }
  return {};
}

void sweep_open_and_read(const std::string& path, const OpenOptions& options = {}) {
  std::vector<Sha256Digest> digests;
  digests.reserve(10000);
  sweep(
      path,
      [&]() -> Result<Archive> {
        Result<Archive> archive = open(path, options);
        if (!archive) return archive;
        if (Status status = read_all(*archive, digests); !status) return std::move(status).error();
        return archive;
      },
      [&](const Result<Archive>& archive) {
        std::string text = description(*archive);
        for (const Sha256Digest& digest : digests) text += to_hex(digest);
        return text;
      },
      {.restore = [&] { digests.clear(); }});
}

TEST(AllocationSweep, OpensAndReadsSafetensors) {
  for (const char* name : {"dtypes", "metadata", "names", "sharded"}) {
    const std::string path = data_file(std::string("safetensors-0.8/") + name);
    sweep_open_and_read(std::filesystem::is_directory(path) ? path : path + ".safetensors");
  }
}

TEST(AllocationSweep, OpensAndReadsBurnpack) {
  for (const char* name : {"burnpack-0.19.1/zoo.bpk", "burnpack-0.22.1/zoo_metadata.bpk",
                           "burnpack-0.22.1/scalars.bpk", "burnpack-0.22.1/quantized_block.bpk",
                           "burnpack-0.21.0/corrupt_duplicate_names.bpk"}) {
    sweep_open_and_read(data_file(name));
  }
}

TEST(AllocationSweep, OpensAndReadsRecords) {
  for (const char* name : {"constants.mpk", "linear.mpk.gz", "linear.json", "linear.json.gz",
                           "nested.half.mpk", "quantized.mpk", "typed_small.mpk"}) {
    sweep_open_and_read(data_file("mpk-0.21.0/" + std::string(name)));
  }
}

TEST(AllocationSweep, OpensAndReadsNumpy) {
  for (const char* name : {"arrays.npz", "deflated.npz", "skipped.npz", "fortran_big.npy",
                           "objects.npy", "version3.npy"}) {
    sweep_open_and_read(data_file("numpy-2.4/" + std::string(name)));
  }
}

TEST(AllocationSweep, OpensAndReadsPytorch) {
  for (const char* name :
       {"torch-2.15/views.pt", "torch-2.15/deflated.pt", "torch-2.15/tied.pt",
        "torch-2.15/big_endian.pt", "torch-2.15/sparse_csr.pt", "torch-2.15/quantized.pt",
        "torch-2.15/lightning.ckpt", "torch-2.15/weight_norm.pt", "torch-2.15/jagged.pt",
        "torch-2.15/broken.pt", "torch-2.15/gzipped.pt.gz", "torch-2.15/tensors_5.pkl",
        "torch-1.13/views_legacy.pt", "torch-1.13/sparse_legacy.pt",
        "torch-2.15/whole_module_legacy.pt", "torch-1.13/wrapped.pt"}) {
    sweep_open_and_read(data_file(name));
  }
}

TEST(AllocationSweep, OpensAndReadsWhatPytorchPacksOtherwise) {
  for (const char* name : {"torch-2.15/reader/tar_multi_dtype.tar", "torch-2.15/torchscript.pt",
                           "torch-1.13/torchscript_lite.ptl", "torch-2.15/exported.pt2",
                           "torch-2.15/dcp", "torch-2.15/pieces_dcp", "torch-2.15/sharded_bin"}) {
    sweep_open_and_read(data_file(name));
  }
}

TEST(AllocationSweep, OpensInEveryMode) {
  for (const IoMode io : {IoMode::mmap, IoMode::pread, IoMode::direct}) {
    sweep_open_and_read(data_file("torch-2.15/names.pt"), {.io = io});
  }
}

TEST(AllocationSweep, LenientReadingSkipsNothingForWantOfMemory) {
  for (const char* name : {"torch-2.15/views.pt", "torch-2.15/exported.pt2", "torch-2.15/dcp",
                           "burnpack-0.22.1/corrupt_wrong_length.bpk", "numpy-2.4/skipped.npz"}) {
    sweep_open_and_read(data_file(name), {.strictness = Strictness::lenient});
  }
}

TEST(AllocationSweep, ReadsEveryFileThereIs) {
  if (!is_long_run()) GTEST_SKIP() << "takes minutes; ANDIRON_LONG_TESTS runs it";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test_data())) {
    if (entry.is_regular_file() && entry.path().extension() != ".py") {
      sweep_open_and_read(entry.path().string());
    }
  }
}

TEST(AllocationSweep, BuildsTheTreeOfValues) {
  for (const char* name : {"torch-2.15/config.pt", "torch-2.15/lightning.ckpt"}) {
    std::optional<Archive> archive;
    sweep(
        name,
        [&]() -> Status {
          Result<Value> value = archive->value();
          if (!value) return std::move(value).error();
          return {};
        },
        [](const Status&) { return std::string(); },
        {.restore = [&] { archive = open(data_file(name)).value(); }});
  }
}

struct SweptConfig {
  int layers;
  std::vector<std::string> names;
  std::map<std::string, Value> others;
  ANDIRON_CONFIG(SweptConfig, layers, names, others)
};

TEST(AllocationSweep, FillsAndSavesConfigs) {
  const TempDir folder;
  const std::string path = folder.file("config.json");
  const std::string checkpoint = data_file("torch-2.15/config.pt");
  sweep(
      "config",
      [&]() -> Status {
        std::vector<std::string> notes;
        Result<SweptConfig> config =
            config_from_file<SweptConfig>(checkpoint, "config", {.notes = &notes});
        if (!config) return std::move(config).error();
        Status saved = save_config(*config, path);
        if (!saved) return saved;
        Result<SweptConfig> loaded = load_config<SweptConfig>(path);
        if (!loaded) return std::move(loaded).error();
        return {};
      },
      [](const Status&) { return std::string(); });
}

TEST(AllocationSweep, FillsConfigsFromMetadata) {
  Archive archive;
  archive.set_metadata({{"config", R"({"layers": 2, "names": ["a name that is long enough"]})"}});
  const Bytes file = write_to_memory(archive, {.format = Format::safetensors}).value();
  const Archive opened = open(file).value();
  sweep(
      "config in metadata", [&] { return config_from<SweptConfig>(opened, "config"); },
      [](const Result<SweptConfig>& config) { return config->names.front(); });
}

Archive sample_archive() {
  Archive archive = collect_archive(sample_net(3)).value();
  archive.set_metadata({{"title", "a sample that is longer than a short string"}});
  return archive;
}

std::string folder_text(const TempDir& folder) {
  std::string text;
  for (const std::string& name : folder.names()) {
    text += name + ": " + read_file(folder.file(name)) + "\n";
  }
  return text;
}

void clear(const TempDir& folder) {
  for (const std::string& name : folder.names()) std::filesystem::remove(folder.file(name));
}

std::string report_text(const Result<WriteReport>& report) {
  std::string text;
  for (const std::string& file : report->files) text += file + "\n";
  for (const std::string& note : report->notes) text += note + "\n";
  return text + std::to_string(report->bytes);
}

const std::array<std::string, 5> written_names = {"sample.safetensors", "sample.bpk", "sample.mpk",
                                                  "sample.mpk.gz", "sample.npz"};

TEST(AllocationSweep, AWriteThatFailsKeepsTheOldFile) {
  const Archive archive = sample_archive();
  for (const std::string& name : written_names) {
    const TempDir folder;
    const std::string path = folder.file(name);
    sweep(
        "replaces " + name,
        [&] { return write(archive, path, {.overwrite = true, .sync = false}); },
        [&](const Result<WriteReport>& report) { return report_text(report) + read_file(path); },
        {.restore = [&] { put_file(path, "what was there"); },
         .state = [&] { return folder_text(folder); }});
  }
}

TEST(AllocationSweep, AWriteThatFailsLeavesNoFile) {
  const Archive archive = sample_archive();
  for (const std::string& name : written_names) {
    const TempDir folder;
    const std::string path = folder.file(name);
    sweep(
        "creates " + name, [&] { return write(archive, path, {.sync = false}); },
        [&](const Result<WriteReport>& report) { return report_text(report) + read_file(path); },
        {.restore = [&] { clear(folder); }, .state = [&] { return folder_text(folder); }});
  }
}

TEST(AllocationSweep, WritesSnapshots) {
  const TempDir folder;
  const std::string path = folder.file("list.safetensors");
  const Snapshots list = collect(sample_net(5)).value();
  sweep(
      path, [&] { return write(list, path, {.overwrite = true, .sync = false}); },
      [&](const Result<WriteReport>& report) { return report_text(report) + read_file(path); },
      {.restore = [&] { put_file(path, "what was there"); },
       .state = [&] { return folder_text(folder); }});
}

TEST(AllocationSweep, WritesToMemory) {
  const Archive archive = sample_archive();
  for (const Format format : {Format::safetensors, Format::burnpack, Format::mpk, Format::numpy}) {
    sweep(
        std::string(format_name(format)),
        [&] { return write_to_memory(archive, {.format = format}); },
        [](const Result<Bytes>& bytes) { return std::string(bytes->text()); });
  }
}

TEST(AllocationSweep, WritesShards) {
  const Archive archive = sample_archive();
  const TempDir folder;
  const std::string path = folder.file("sample.safetensors");
  sweep(
      "shards", [&] { return write(archive, path, {.sync = false, .max_shard_bytes = 200}); },
      [&](const Result<WriteReport>& report) { return report_text(report) + folder_text(folder); },
      {.restore = [&] { clear(folder); }, .state = [&] { return folder_text(folder); }});
}

TEST(AllocationSweep, ConvertsEachFormat) {
  for (const char* name : {"burnpack-0.22.1/quantized_small.bpk", "mpk-0.21.0/zoo.half.mpk",
                           "numpy-2.4/arrays.npz", "torch-2.15/tied.pt"}) {
    const Archive archive = open(data_file(name)).value();
    sweep(
        name, [&] { return write_to_memory(archive, {.format = Format::burnpack}); },
        [](const Result<Bytes>& bytes) { return std::string(bytes->text()); });
  }
}

TEST(AllocationSweep, EditsMetadata) {
  const TempDir folder;
  const std::string path = folder.file("model.safetensors");
  const std::string original = std::string(
      write_to_memory(sample_archive(), {.format = Format::safetensors}).value().text());
  for (const bool in_place : {false, true}) {
    const MetadataEdit edit = {.set = {{"title", "another title that is as long as the old one"}},
                               .remove = {"format"},
                               .in_place = in_place,
                               .sync = false};
    sweep(
        in_place ? "in place" : "beside", [&] { return edit_safetensors_metadata(path, edit); },
        [&](const Status&) { return read_file(path); },
        {.restore = [&] { put_file(path, original); },
         .state = [&] { return folder_text(folder); }});
  }
}

TEST(AllocationSweep, AnAtomicFileNeverHasGaps) {
  const TempDir folder;
  const std::string path = folder.file("data");
  const std::array<std::byte, 100> data = {};
  sweep(
      path,
      [&]() -> Status {
        Result<std::unique_ptr<AtomicFile>> file = AtomicFile::create(path, {.sync = false});
        if (!file) return std::move(file).error();
        for (int i = 0; i < 3; ++i) {
          if (Status status = (*file)->write(data); !status) return status;
        }
        return (*file)->commit();
      },
      [&](const Status&) { return read_file(path); },
      {.restore = [&] { clear(folder); }, .state = [&] { return folder_text(folder); }});
}

}  // namespace
}  // namespace andiron::test
