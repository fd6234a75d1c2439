// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads handwritten digits with a network that PyTorch trained: loads the checkpoint into the
// struct of net.h, runs it, compares it with PyTorch, and saves it as Burnpack and SafeTensors.
// Exits with 1 if anything differs. train.py made both files.
// usage: 080-digits CHECKPOINT TEST_IMAGES OUTPUT_FOLDER
#include <andiron/andiron.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "net.h"

using namespace andiron;

namespace {

// What train.py put beside the weights.
struct Training {
  std::size_t test_correct;
  std::size_t test_total;
  ANDIRON_CONFIG(Training, test_correct, test_total)
};

// Images that the network was not trained with.
struct TestSet {
  Tensor images;  // u8 [count, 1, 8, 8], grey values from 0 to 16
  std::vector<std::uint8_t> labels;
  std::vector<float> outputs;  // what PyTorch computed for them

  Result<Tensor> input() const { return nn::multiply(nn::cast(images, DType::f32), 1.0 / 16); }

  static TestSet read(const std::string& path) {
    const Archive file = open(path).value();
    const auto tensor = [&](const char* name) { return file.get(name).value().read().value(); };
    return {tensor("images"), tensor("labels").to_vector<std::uint8_t>().value(),
            tensor("outputs").to_vector<float>().value()};
  }
};

using Clock = std::chrono::steady_clock;
double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

bool in_color() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
}

void heading(const char* text) {
  std::printf(in_color() ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
}

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("this does not hold: " + what);
}

// Shows where the weights go, and what the load reports. Returns how many milliseconds it took.
double load(Digits& model, const std::string& path) {
  heading("Loaded into a C++ struct");
  const Clock::time_point start = Clock::now();
  const PytorchStore store = checkpoint_store(path);
  const ApplyResult report = load_from(model, store).value();
  const double taken = milliseconds_since(start);

  for (const MappedKey& tensor : key_map(model, store).value().tensors) {
    if (tensor.uses.empty() || !tensor.name_in_file.ends_with("weight")) continue;
    const KeyUse& use = tensor.uses.front();
    std::printf("  %-37s %-14s -> %-13s %s%s\n", tensor.name_in_file.c_str(),
                tensor.shape.to_string().c_str(), use.path.c_str(), use.shape.to_string().c_str(),
                use.shape != tensor.shape ? ", transposed" : "");
  }
  std::printf("  %zu tensors loaded, %zu missing, %zu errors, %zu unused:", report.applied.size(),
              report.missing.size(), report.errors.size(), report.unused.size());
  for (const std::string& name : report.unused) std::printf(" %s", name.c_str());
  std::printf("\n");
  return taken;
}

// One row of an image, two columns to a pixel.
std::string drawn(std::span<const std::uint8_t> pixels) {
  constexpr std::string_view ramp = " .:-=+*#@";
  std::string line;
  for (const unsigned pixel : pixels) {
    if (in_color()) {
      line += "\033[48;5;" + std::to_string(232 + pixel * 23 / 16) + "m  \033[0m";
    } else {
      line.append(2, ramp[pixel / 2]);
    }
  }
  return line;
}

void draw_three(const TestSet& test, const Tensor& outputs) {
  heading("Three digits that it has not seen before");
  const auto pixels = test.images.as<std::uint8_t>().value();
  for (std::size_t row = 0; row < 8; ++row) {
    std::string line;
    for (std::size_t image = 0; image < 3; ++image) {
      line += "  " + drawn(pixels.subspan(image * 64 + row * 8, 8));
    }
    std::printf("%s\n", line.substr(0, line.find_last_not_of(' ') + 1).c_str());
  }
  const Tensor probabilities = nn::softmax(outputs).value();
  const Tensor answers = nn::argmax(outputs).value();
  for (std::uint64_t image = 0; image < 3; ++image) {
    const auto digit = static_cast<unsigned>(answers.at<std::int64_t>({image}).value());
    const float probability = probabilities.at<float>({image, digit}).value();
    std::printf("  a %u: %6.2f %%%s", digit, 100.0 * probability, image < 2 ? "   " : "\n");
  }
}

void compare(const Training& training, const TestSet& test, const Tensor& outputs) {
  heading("The same answers as PyTorch");
  const std::vector<std::int64_t> answers =
      nn::argmax(outputs).value().to_vector<std::int64_t>().value();
  std::size_t correct = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) correct += answers[i] == test.labels[i] ? 1 : 0;
  const auto show = [](const char* who, std::size_t right, std::size_t total) {
    std::printf("  %-22s %zu of %zu right, %.2f %%\n", who, right, total,
                100.0 * static_cast<double>(right) / static_cast<double>(total));
  };
  show("PyTorch, when trained:", training.test_correct, training.test_total);
  show("Andiron, now:", correct, answers.size());

  const auto ours = outputs.as<float>().value();
  expect(ours.size() == test.outputs.size(), "there are as many outputs as PyTorch has");
  double difference = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double here = std::abs(ours[i] - test.outputs[i]);
    if (!(here <= difference)) difference = here;  // also where it is NaN
  }
  std::printf("  The %zu outputs differ by at most %.0e.\n", ours.size(), difference);
  expect(correct == training.test_correct && answers.size() == training.test_total,
         "the accuracy is PyTorch's");
  expect(difference < 1e-3, "the outputs are PyTorch's");
}

// One hash of the names, shapes and elements of all parameters.
std::string hash(const Digits& model) {
  Sha256 all;
  for (const TensorSnapshot& tensor : collect(model).value()) {
    const std::string line = tensor.full_path() + " " + tensor.shape().to_string() + " " +
                             to_hex(sha256(tensor).value()) + "\n";
    all.update(std::as_bytes(std::span(line)));
  }
  return to_hex(all.finish());
}

void show_file(const std::string& path, const Digits& model, const char* note) {
  std::printf("  %-19s %6.1f KiB  sha256 of the model %.12s  %s\n",
              std::filesystem::path(path).filename().c_str(),
              static_cast<double>(std::filesystem::file_size(path)) / 1024, hash(model).c_str(),
              note);
}

// Saves the model, loads the file into a fresh one, and compares the two.
template <class FileStore>
void round_trip(const Digits& model, const TestSet& test, const Tensor& outputs,
                const std::filesystem::path& path) {
  save_into(model, FileStore::from_file(path.string()).overwrite(true)).value();
  Digits fresh;
  load_from(fresh, FileStore::from_file(path.string())).value();
  expect(hash(fresh) == hash(model), path.string() + " has the same weights");
  const Tensor again = fresh.forward(test.input()).value();
  expect(again.to_vector<float>().value() == outputs.to_vector<float>().value(),
         path.string() + " gives the same outputs");
  show_file(path.string(), fresh, "same outputs");
}

void run(const std::string& checkpoint, const std::string& images,
         const std::filesystem::path& folder) {
  Digits model;
  const double load_time = load(model, checkpoint);
  const TestSet test = TestSet::read(images);
  nn::set_threads(1);  // the network is small
  Clock::time_point start = Clock::now();
  const Tensor outputs = model.forward(test.input()).value();
  const double first_run = milliseconds_since(start);
  start = Clock::now();
  model.forward(test.input()).value();
  const double second_run = milliseconds_since(start);
  draw_three(test, outputs);
  compare(config_from_file<Training>(checkpoint).value(), test, outputs);

  heading("Saved, and loaded into fresh models");
  std::filesystem::create_directories(folder);
  show_file(checkpoint, model, "with its optimizer");
  round_trip<BurnpackStore>(model, test, outputs, folder / "digits.bpk");
  round_trip<SafetensorsStore>(model, test, outputs, folder / "digits.safetensors");

  std::uint64_t parameters = 0;
  for (const TensorSnapshot& tensor : collect(model).value()) {
    parameters += tensor.shape().element_count().value();
  }
  std::printf("\n%u parameters, loaded in %.1f ms\n", static_cast<unsigned>(parameters), load_time);
  std::printf("%.3f ms per image (%s, one thread), after a first run of %.0f ms that sets it up\n",
              second_run / static_cast<double>(test.labels.size()), nn::backend(), first_run);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s CHECKPOINT TEST_IMAGES OUTPUT_FOLDER\n", argv[0]);
    return 4;
  }
  try {
    run(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
