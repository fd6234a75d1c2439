// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads a PyTorch checkpoint into a typed model: looks into the file, shows why a first load does
// not match, fixes that, loads part of the file into another model, and saves as Burnpack.
// usage: 020-import-from-pytorch CHECKPOINT. data/make_checkpoint.py makes the checkpoint.
#include <andiron/andiron.h>

#include <array>
#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using namespace andiron;

namespace {

// The model of make_checkpoint.py. Layers without parameters are left out.
struct Net {
  std::tuple<nn::Conv2d, nn::BatchNorm, nn::Conv2d, nn::BatchNorm> features = {
      nn::Conv2dConfig({1, 4}, {3, 3}).with_bias(false).init(), nn::BatchNormConfig(4).init(),
      nn::Conv2dConfig({4, 8}, {3, 3}).with_bias(false).init(), nn::BatchNormConfig(8).init()};
  std::array<nn::Linear, 2> classifier = {nn::LinearConfig(8, 16).init(),
                                          nn::LinearConfig(16, 10).init()};
  ANDIRON_MODULE(Net, features, classifier)
};

// Another model with the same features and a different head.
struct Detector {
  decltype(Net::features) backbone = Net().features;
  nn::Linear boxes = nn::LinearConfig(8, 4).init();
  ANDIRON_MODULE(Detector, backbone, boxes)
};

// What the script saved under the key "config".
struct Config {
  int classes;
  std::vector<std::string> labels;
  ANDIRON_CONFIG(Config, classes, labels)
};

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("this does not hold: ") + what);
  std::printf("ok: %s\n", what);
}

// The tensors of the file, and its other values: numbers, text and lists, nested as in Python.
void look_into(const std::string& path) {
  const Archive file = open(path).value();  // reads no tensor, runs nothing in the file
  for (std::size_t i : file.natural_order()) {
    const TensorSnapshot tensor = file.snapshot(i);
    std::printf("  %-50s %s %s\n", tensor.full_path().c_str(), tensor.dtype_text().c_str(),
                tensor.shape().to_string().c_str());
  }
  const Value tree = file.value().value();  // everything that is not a tensor
  std::printf("config: %s\n", to_json(*tree.find("config")).c_str());
  const Config config = config_from<Config>(file, "config").value();
  expect(config.classes == 10 && config.labels.size() == 10, "the config can be read");
}

Net import_model(const std::string& path) {
  // Without settings nothing matches; the report says why, and which settings would help.
  Net model;
  auto store = PytorchStore::from_file(path);
  const Result<ApplyResult> refused = load_from(model, store);
  expect(!refused, "the names in the file are not those of the model");
  std::cout << *refused.error().report << '\n';

  // The model is under a key, and DataParallel has put "module." before all names. By default,
  // Linear weights are transposed, a norm's weight feeds gamma, and features.3 becomes features.2.
  store.with_top_level_key("state_dict").with_key_remapping(R"(^module\.)", "");
  for (const PlannedTensor& tensor : plan(model, store).value().tensors) {
    std::printf("  %-26s <- %s\n", tensor.path.c_str(), tensor.sources[0].c_str());
  }
  const ApplyResult result = load_from(model, store).value();
  expect(result.applied.size() == 14 && result.missing.empty(), "every parameter has its tensor");
  expect(result.unused == std::vector<std::string>{"features.1.num_batches_tracked",
                                                   "features.4.num_batches_tracked"},
         "only the counters of the norms are left");
  const Tensor theirs = store.get_snapshot("classifier.0.weight").value()->read().value();
  expect(model.classifier[0].weight.at<float>({2, 5}).value() == theirs.at<float>({5, 2}).value(),
         "Linear weights are [in, out] now");
  return model;
}

// Loads a part of the file into a part of another model; the rest keeps its values.
void import_a_part(const std::string& path) {
  Detector model;
  const auto store = PytorchStore::from_file(path)
                         .with_top_level_key("state_dict.module")
                         .with_key_remapping(R"(^features\.)", "backbone.")
                         .allow_partial(true);
  const ApplyResult result = load_from(model, store).value();
  expect(result.applied.size() == 10, "the backbone is loaded");
  expect(result.missing.size() == 2 && result.missing[0].path == "boxes.bias",
         "the head is new, and says so");
}

// Converts once: Burn reads the result as it is.
void convert(const Net& model) {
  auto store = BurnpackStore::from_bytes();
  save_into(model, store.metadata("source", "pytorch")).value();
  Net copy;
  load_from(copy, store).value();
  const Snapshots before = collect(model).value();
  const Snapshots after = collect(copy).value();
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (sha256(before[i]).value() != sha256(after[i]).value()) {
      throw std::runtime_error("'" + before[i].full_path() + "' has changed");
    }
  }
  expect(before.size() == 14 && after.size() == 14, "as Burnpack it is the same model");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CHECKPOINT\n", argv[0]);
    return 4;
  }
  try {
    look_into(argv[1]);
    const Net model = import_model(argv[1]);
    import_a_part(argv[1]);
    convert(model);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
