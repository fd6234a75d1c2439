// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the config of a PyTorch checkpoint into structs, builds the model that it describes, keeps
// the config as JSON, and prints what the errors say about a value that is missing or wrong.
// usage: 060-config CHECKPOINT. data/make_checkpoint.py makes the checkpoint.
#include <andiron/andiron.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace andiron;

namespace {

enum class Schedule { constant, cosine };
ANDIRON_CONFIG_ENUM(Schedule, constant, cosine)

// What the training script saved under the key "config".
struct NetConfig {
  std::uint64_t classes;  // no initializer: must be in the file
  double lr = 0.001;      // the default, for files that lack it
  std::uint64_t width = 16;
  Schedule schedule = Schedule::constant;
  std::vector<std::string> labels;
  ANDIRON_CONFIG(NetConfig, classes, lr, width, schedule, labels)
};

// The top of the file. A config can contain others.
struct Checkpoint {
  int epoch;
  NetConfig config;
  ANDIRON_CONFIG(Checkpoint, epoch, config)
};

// Names that are not those of the members.
struct Optimizer {
  double rate = 0;
  double momentum = 0;
  static void fields(auto& self, auto&& field) {
    field("lr", self.rate);
    field("momentum", self.momentum);
  }
};

struct Classifier {
  std::array<nn::Linear, 2> classifier;
  ANDIRON_MODULE(Classifier, classifier)

  static Classifier init(const NetConfig& config) {
    return {{nn::LinearConfig(8, config.width).init(),
             nn::LinearConfig(config.width, config.classes).init()}};
  }
};

struct TemporaryFolder {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("andiron-" + std::to_string(std::random_device()()));
  TemporaryFolder() { std::filesystem::create_directories(path); }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
};

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("this does not hold: ") + what);
  std::printf("ok: %s\n", what);
}

NetConfig read_config(const std::string& path) {
  std::vector<std::string> notes;
  const auto config = config_from_file<NetConfig>(path, "config", {.notes = &notes}).value();
  std::printf("%llu classes, from '%s' to '%s', learning rate %g\n",
              static_cast<unsigned long long>(config.classes), config.labels.front().c_str(),
              config.labels.back().c_str(), config.lr);
  for (const std::string& note : notes) std::printf("  note: %s\n", display_line(note).c_str());
  expect(config.classes == 10 && config.width == 16, "the file has classes, but no width");

  const auto whole = config_from_file<Checkpoint>(path).value();
  expect(whole.epoch == 3 && whole.config.lr == config.lr, "a config can contain others");

  // One opened file can give several configs, and single values.
  const Archive file = open(path).value();
  const auto optimizer = config_from<Optimizer>(file, "optimizer.param_groups.0").value();
  const auto first_label = config_from<std::string>(file, "config.labels.0").value();
  expect(optimizer.momentum == 0.9 && first_label == "0", "a key can lead to any value");
  return config;
}

void keep_as_json(const NetConfig& config) {
  const TemporaryFolder folder;
  const std::string path = (folder.path / "config.json").string();
  save_config(config, path).value();
  std::printf("%s\n", to_json(config_to_value(config)).c_str());
  const auto same = load_config<NetConfig>(path).value();
  expect(same.labels == config.labels && same.schedule == config.schedule, "JSON keeps it all");
}

void build_the_model(const NetConfig& config, const std::string& path) {
  Classifier model = Classifier::init(config);
  const auto store = PytorchStore::from_file(path).with_top_level_key("state_dict.module");
  const ApplyResult result = load_from(model, store).value();
  expect(result.applied.size() == 4, "the model that the config describes fits the file");
}

// What the file has, what the struct wants, and where.
void show_errors(const std::string& path) {
  const auto missing = config_from_file<NetConfig>(path, "optimizer");
  expect(missing.error().code == ErrorCode::missing_value, "a value can be missing");
  std::printf("  %s\n", missing.error().to_string().c_str());

  const auto wrong = config_from_file<std::vector<int>>(path, "config.labels");
  expect(wrong.error().code == ErrorCode::value_mismatch, "or have another type");
  std::printf("  %s\n", wrong.error().to_string().c_str());

  const auto strict =
      config_from_file<Optimizer>(path, "optimizer.param_groups.0", {.allow_unknown = false});
  expect(!strict, "on request, fields that the struct does not list are refused");
  std::printf("  %s\n", strict.error().to_string().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CHECKPOINT\n", argv[0]);
    return 4;
  }
  try {
    const NetConfig config = read_config(argv[1]);
    keep_as_json(config);
    build_the_model(config, argv[1]);
    show_errors(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
