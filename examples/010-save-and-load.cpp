// SPDX-License-Identifier: MIT OR Apache-2.0
// Saves a typed model, looks into the file, loads it into a new model, and shows what happens when
// a load does not fit.
#include <andiron/andiron.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace andiron;

namespace {

struct Block {
  nn::Conv2d conv;
  nn::BatchNorm norm;
  ANDIRON_MODULE(Block, conv, norm)

  static Block init(std::uint64_t channels_in, std::uint64_t channels_out) {
    return {nn::Conv2dConfig({channels_in, channels_out}, {3, 3}).with_bias(false).init(),
            nn::BatchNormConfig(channels_out).init()};
  }
};

struct Net {
  std::vector<Block> blocks;
  nn::Linear head;
  ANDIRON_MODULE(Net, blocks, head)

  static Net init(std::uint64_t classes) {
    return {{Block::init(3, 8), Block::init(8, 16)}, nn::LinearConfig(16, classes).init()};
  }
};

struct TemporaryFolder {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("andiron-" + std::to_string(std::random_device()()));
  TemporaryFolder() { std::filesystem::create_directories(path); }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
};

// A hash of the names and values of a model.
std::string fingerprint(const Net& model) {
  std::string text;
  for (const TensorSnapshot& tensor : collect(model).value()) {
    text += tensor.full_path() + ' ' + to_hex(sha256(tensor).value()) + '\n';
  }
  return text;
}

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("this does not hold: ") + what);
  std::printf("ok: %s\n", what);
}

void run() {
  const TemporaryFolder folder;
  const Net model = Net::init(10);

  // Save. .overwrite(true) allows it to replace an existing file.
  auto store = SafetensorsStore::from_file((folder.path / "model.safetensors").string())
                   .metadata("version", "1.0")
                   .metadata("description", "two blocks and a head");
  const WriteReport written = save_into(model, store).value();
  std::printf("wrote %llu bytes\n", static_cast<unsigned long long>(written.bytes));
  expect(save_into(model, store).error().code == ErrorCode::already_exists,
         "a second save does not replace the file");

  // Look into the file without a model.
  for (const std::string& key : store.keys().value()) {
    const TensorSnapshot tensor = *store.get_snapshot(key).value();
    std::printf("  %-28s %s %s\n", key.c_str(), tensor.dtype_text().c_str(),
                tensor.shape().to_string().c_str());
  }
  expect(store.get_metadata().value().at("version") == "1.0", "the metadata is in the file");

  // Load. Until then the new model has other values.
  Net copy = Net::init(10);
  expect(fingerprint(copy) != fingerprint(model), "a fresh model has numbers of its own");
  const ApplyResult result = load_from(copy, store).value();
  std::cout << result << '\n';
  expect(fingerprint(copy) == fingerprint(model), "the loaded model is equal");

  // The same in memory.
  auto memory = SafetensorsStore::from_bytes();
  save_into(model, memory).value();
  const Bytes bytes = memory.get_bytes().value();
  Net from_memory = Net::init(10);
  load_from(from_memory, SafetensorsStore::from_bytes(bytes)).value();
  expect(fingerprint(from_memory) == fingerprint(model), "so is the one that was in memory");

  // A model with a different head: the load is refused, and the model stays as it was.
  Net other = Net::init(7);
  const std::string before = fingerprint(other);
  const Result<ApplyResult> refused = load_from(other, store);
  expect(!refused, "a load that does not fit is refused");
  std::cout << refused.error().to_string() << '\n' << *refused.error().report << '\n';
  expect(fingerprint(other) == before, "a refused load changes nothing");

  // Everything except the head.
  const ApplyResult rest = load_from(other, store.exclude_regex(R"(^head\.)")).value();
  expect(rest.applied.size() == 10 && rest.skipped.size() == 2, "the rest can be loaded");
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
