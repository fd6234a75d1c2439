// SPDX-License-Identifier: MIT OR Apache-2.0
// Modules with many small parameters: what a tensor costs beyond its bytes.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "andiron/nn/linear.h"
#include "andiron/open.h"
#include "andiron/stores.h"
#include "bench/cases.h"
#include "bench/files.h"
#include "bench/peer.h"

namespace andiron::bench {
namespace {

constexpr std::uint64_t width = 8;
constexpr std::size_t tensor_bytes = width * width * sizeof(float);

struct Layers {
  std::vector<nn::Linear> layers;
  ANDIRON_MODULE(Layers, layers)
};

// Parameters of 64 f32, computed from the start: a load does not meet lazy ones.
Layers make_layers(std::size_t count) {
  const auto config = nn::LinearConfig(width, width).with_bias(false);
  Layers module;
  for (std::size_t i = 0; i < count; ++i) {
    module.layers.push_back(config.init());
    module.layers.back().weight.set_val(module.layers.back().weight.val().value());
  }
  return module;
}

void expect(bool holds) {
  if (!holds) throw std::runtime_error("the programs disagree");
}

// A module with many parameters in a file, and how to load it by hand: a pread for each tensor into
// memory of its own, which replaces the old when all are read.
class SavedLayers {
 public:
  explicit SavedLayers(std::size_t count) : module_(make_layers(count)), loaded_(count) {
    save_into(module_, SafetensorsStore::from_file(path_).sync(false)).value();
    const Archive archive = open(path_).value();
    for (std::size_t i = 0; i < count; ++i) {
      const auto found = archive.find("layers." + std::to_string(i) + ".weight");
      offsets_.push_back(archive.info(found.value()).offset.value());
    }
  }

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return folder_.file(name); }
  Layers& module() { return module_; }
  std::size_t count() const { return offsets_.size(); }

  void load_raw() {
    const Descriptor file(path_, O_RDONLY);
    std::vector<std::unique_ptr<std::byte[]>> fresh(count());
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      fresh[i] = std::make_unique_for_overwrite<std::byte[]>(tensor_bytes);
      read_all(file, offsets_[i], {fresh[i].get(), tensor_bytes});
    }
    loaded_ = std::move(fresh);
  }

  void check() {
    load_raw();
    for (std::size_t i = 0; i < count(); ++i) {
      const Tensor tensor = module_.layers[i].weight.val().value();
      expect(std::ranges::equal(tensor.bytes().span(),
                                std::span<const std::byte>(loaded_[i].get(), tensor_bytes)));
    }
  }

 private:
  TempFolder folder_;
  std::string path_ = folder_.file("layers.safetensors");
  Layers module_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::unique_ptr<std::byte[]>> loaded_;
};

Job tensor_job(const std::string& name, SavedLayers& saved) {
  saved.check();
  Job job{.name = name, .unit = Unit::tensors};
  job.programs.push_back({.name = "raw", .run = [&] { saved.load_raw(); }});
  return job;
}

// A short run is done several times.
void measure(Harness& harness, Job job, std::size_t tensors) {
  const std::size_t times = std::max<std::size_t>(10'000 / tensors, 1);
  for (Program& program : job.programs) program = repeated(std::move(program), times);
  job.amount = times * tensors;
  harness.measure(job);
}

void load(Harness& harness, const std::string& name, std::size_t tensors) {
  SavedLayers saved(tensors);
  Layers& module = saved.module();
  const auto store = SafetensorsStore::from_file(saved.path());
  auto adapting = SafetensorsStore::from_file(saved.path());
  adapting.with_from_adapter(PyTorchToBurnAdapter());
  auto borrowing = SafetensorsStore::from_file(saved.path());
  borrowing.zero_copy(true);
  const auto load_with = [&module, tensors](const Store& from) {
    expect(load_from(module, from).value().applied.size() == tensors);
  };
  load_with(store);
  Job job = tensor_job(name, saved);
  job.programs.push_back(
      {.name = "andiron", .run = [&] { load_with(SafetensorsStore::from_file(saved.path())); }});
  job.programs.push_back({.name = "opened before", .run = [&] { load_with(store); }});
  job.programs.push_back({.name = "PyTorch adapter", .run = [&] { load_with(adapting); }});
  job.programs.push_back({.name = "zero_copy", .run = [&] { load_with(borrowing); }});
  job.programs.push_back({.name = "plan alone", .run = [&] {
                            expect(plan(module, store).value().tensors.size() == tensors);
                          }});
  const auto peer = Peer::start(harness, "load", saved.path());
  if (peer != nullptr) job.programs.push_back(peer->program());
  measure(harness, std::move(job), tensors);
}

// Loads that do not fit, with the whole report and what would make them fit.
void refuse(Harness& harness, const std::string& name, std::size_t tensors) {
  SavedLayers saved(tensors);
  Layers larger = make_layers(tensors + 1);
  const auto store = SafetensorsStore::from_file(saved.path());
  auto renamed = SafetensorsStore::from_file(saved.path());
  renamed.with_key_remapping("^", "model.");
  const auto refuse_with = [](Layers& module, const Store& from, std::size_t missing) {
    const Result<ApplyResult> result = load_from(module, from);
    expect(!result && result.error().report->missing.size() == missing);
    keep(result.error().report->to_string());
  };
  Job job = tensor_job(name, saved);
  job.programs.push_back({.name = "one is missing", .run = [&] { refuse_with(larger, store, 1); }});
  job.programs.push_back(
      {.name = "all have a prefix", .run = [&] { refuse_with(saved.module(), renamed, tensors); }});
  measure(harness, std::move(job), tensors);
}

void save(Harness& harness, const std::string& name, std::size_t tensors) {
  SavedLayers saved(tensors);
  const Layers& module = saved.module();
  const Mapping bytes(saved.path());
  const std::string raw_path = saved.file("raw");
  const std::string path = saved.file("saved.safetensors");
  const auto remove_old = [&] {
    ::unlink(raw_path.c_str());
    ::unlink(path.c_str());
  };
  const auto save_raw = [&] {
    const Descriptor file(raw_path, O_WRONLY | O_CREAT | O_EXCL);
    write_all(file, 0, bytes.bytes());
  };
  const auto save_module = [&] {
    auto store = SafetensorsStore::from_file(path).sync(false);
    expect(save_into(module, store).value().bytes == bytes.bytes().size());
  };
  const auto collect_module = [&] { expect(collect(module).value().size() == tensors); };
  harness.measure({.name = name,
                   .unit = Unit::tensors,
                   .amount = tensors,
                   .programs = {{.name = "raw", .run = save_raw, .prepare = remove_old},
                                {.name = "andiron", .run = save_module, .prepare = remove_old},
                                {.name = "collect alone", .run = collect_module}}});
}

using Measure = void (*)(Harness&, const std::string&, std::size_t);

Case many(const std::string& name, const std::string& what, std::size_t tensors, Measure measure) {
  return {name, what + " of " + std::to_string(tensors) + " parameters of 64 f32",
          [=](Harness& harness) { measure(harness, name, tensors); }};
}

}  // namespace

std::vector<Case> module_cases() {
  return {many("load_module_100", "load into a module", 100, load),
          many("load_module_1k", "load into a module", 1000, load),
          many("load_module_10k", "load into a module", 10'000, load),
          many("load_module_100k", "load into a module", 100'000, load),
          many("refuse_module_10k", "refused load into a module", 10'000, refuse),
          many("save_module_10k", "save of a module", 10'000, save)};
}

}  // namespace andiron::bench
