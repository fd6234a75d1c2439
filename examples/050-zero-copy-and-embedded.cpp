// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads a model from the program itself, from memory and from a mapped file, and shows which
// parameters borrow their data from there and which have a copy. Prints a line for each thing that
// it shows. CMakeLists.txt embeds the file:
//   andiron_embed_weights(example_050-zero-copy-and-embedded data/tiny.safetensors)
#include <andiron/andiron.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "embedded/tiny.h"

using namespace andiron;

namespace {

// The file has eleven of these, next to other tensors.
struct Net {
  std::vector<nn::Linear> layers = std::vector<nn::Linear>(11, nn::LinearConfig(8, 8).init());
  ANDIRON_MODULE(Net, layers)
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

const std::byte* address(const Param& param) { return param.val().value().bytes().data(); }

bool lies_in(std::span<const std::byte> memory, const Param& param) {
  const std::less<> before;  // < is not defined for pointers into different objects
  return !before(address(param), memory.data()) &&
         before(address(param), memory.data() + memory.size());
}

// How many of the 22 parameters borrow from `memory`.
int borrowed(std::span<const std::byte> memory, const Net& model) {
  int count = 0;
  for (const nn::Linear& layer : model.layers) {
    count += lies_in(memory, layer.weight) + lies_in(memory, *layer.bias);
  }
  return count;
}

// Weights in the program's read-only data. from_static() borrows without being asked.
Net from_the_program() {
  const std::span<const std::byte> file = embedded::tiny();
  Net model;
  load_from(model, SafetensorsStore::from_static(file)).value();
  expect(borrowed(file, model) == 22, "parameters borrow from the program");

  // What must be converted is copied: PyTorch's Linear weights are transposed.
  const auto store = SafetensorsStore::from_static(file).with_from_adapter(PyTorchToBurnAdapter());
  load_from(model, store).value();
  expect(borrowed(file, model) == 11 && lies_in(file, *model.layers[0].bias),
         "of a file from PyTorch, weights are copied and biases borrowed");
  return model;
}

// The same model in Burn's layout and format: from now on nothing needs a conversion.
void from_memory(const Net& model) {
  auto saved = BurnpackStore::from_bytes();
  save_into(model, saved).value();
  const Bytes file = saved.get_bytes().value();

  Net copy;
  load_from(copy, BurnpackStore::from_bytes(file)).value();
  expect(borrowed(file.span(), copy) == 0, "by default parameters have their own memory");

  Net view;
  load_from(view, BurnpackStore::from_bytes(file).zero_copy(true)).value();
  expect(borrowed(file.span(), view) == 22, "with zero_copy they borrow, and keep the bytes alive");
  expect((address(view.layers[3].weight) - file.span().data()) % 256 == 0,
         "Burnpack puts tensors at multiples of 256 bytes");
}

// A file that is mapped: the system reads a tensor when it is first used.
void from_a_mapped_file(const Net& model) {
  const TemporaryFolder folder;
  const auto path = folder.path / "model.bpk";
  auto store = BurnpackStore::from_file(path.string()).zero_copy(true);
  save_into(model, store).value();

  Net first, second;
  load_from(first, store).value();
  load_from(second, store).value();
  expect(address(first.layers[0].weight) == address(second.layers[0].weight),
         "two models share one mapping");

  // Never change or cut a file that is mapped. To remove or replace it is fine.
  std::filesystem::remove(path);
  expect(first.layers[10].weight.val().value().to_vector<float>().value() ==
             model.layers[10].weight.val().value().to_vector<float>().value(),
         "the data outlives the name of the file");

  first.layers[0].weight.as_mutable<float>().value()[0] = 42;
  expect(address(first.layers[0].weight) != address(second.layers[0].weight) &&
             second.layers[0].weight.at<float>({0, 0}).value() != 42,
         "the first write to a parameter makes a copy of it");
}

}  // namespace

int main() {
  try {
    const Net model = from_the_program();
    from_memory(model);
    from_a_mapped_file(model);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
