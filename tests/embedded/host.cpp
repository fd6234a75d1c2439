// SPDX-License-Identifier: MIT OR Apache-2.0
// What the firmware does, done with the hosted library, to compare.
//   host list FILE...       the listing of firmware/inspect.cpp
//   host digits DATA OUT    checks what embedded/digits/firmware.cpp left in OUT
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "andiron/andiron.h"
#include "andiron/bind.h"
#include "embedded/digits/net.h"

namespace {

using namespace andiron;

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void list(const std::string& path) {
  Result<Archive> archive = open(path);
  if (!archive) return;
  for (std::size_t i = 0; i < archive->size(); ++i) {
    const TensorInfo info = archive->info(i);
    std::string line = path + '\t' + std::string(info.name) + '\t';
    line += dtype_name(info.dtype);
    for (const std::uint64_t dim : info.shape) line += ' ' + std::to_string(dim);
    line += '\t' + to_hex(sha256(archive->snapshot(i)).value()) + '\n';
    std::fwrite(line.data(), 1, line.size(), stdout);
  }
}

int fail(const char* what) {
  std::fprintf(stderr, "host: %s\n", what);
  return 1;
}

// The model as the firmware saved it, written by the hosted library.
std::string changed_model(const Archive& original) {
  Archive archive;
  for (const char* name :
       {"conv1.weight", "norm1.weight", "norm1.bias", "norm1.running_mean", "norm1.running_var",
        "conv2.weight", "norm2.weight", "norm2.bias", "norm2.running_mean", "norm2.running_var",
        "hidden.weight", "hidden.bias", "output.weight", "output.bias"}) {
    Tensor tensor = original.get(name).value().read().value();
    if (name == std::string_view("output.bias")) {
      std::vector<float> values = tensor.to_vector<float>().value();
      values[0] += 100;
      tensor = Tensor::from_values<float>({10}, values).value();
    }
    archive.add({name, tensor}).value();
  }
  return std::string(write_to_memory(archive, {.format = Format::burnpack}).value().text());
}

int check_digits(const std::string& data, const std::string& out) {
  const std::string model = bytes_of_file(data + "/digits.bpk");
  const std::vector<std::byte> aligned(
      reinterpret_cast<const std::byte*>(model.data()),
      reinterpret_cast<const std::byte*>(model.data()) + model.size());
  BurnpackView view;
  digits::Net net;
  if (!BurnpackView::open(aligned, view).ok() || !bind(net, view).ok()) return fail("no model");
  const Archive test = open(data + "/test.safetensors").value();
  const Tensor images = test.get("images").value().read().value();
  const std::vector<float> pytorch =
      test.get("outputs").value().read().value().to_vector<float>().value();
  std::vector<float> here(pytorch.size());
  float largest_difference = 0;
  for (std::size_t i = 0; i < digits::image_count; ++i) {
    net.forward(reinterpret_cast<const std::uint8_t*>(images.bytes().data()) + i * 64,
                here.data() + i * 10);
  }
  for (std::size_t i = 0; i < here.size(); ++i) {
    largest_difference = std::max(largest_difference, std::fabs(here[i] - pytorch[i]));
  }
  if (largest_difference > 1e-4f) return fail("other outputs than PyTorch's");
  const std::vector<float> there = open(out + "/outputs.safetensors")
                                       .value()
                                       .get("outputs")
                                       .value()
                                       .read()
                                       .value()
                                       .to_vector<float>()
                                       .value();
  if (there.size() != here.size() ||
      std::memcmp(there.data(), here.data(), here.size() * sizeof(float)) != 0) {
    return fail("the board computes other outputs");
  }
  if (bytes_of_file(out + "/changed.bpk") != changed_model(open(data + "/digits.bpk").value())) {
    return fail("the board saves another file");
  }
  std::printf(
      "3600 outputs are those of the host, bit for bit, and within %.1e of PyTorch's; "
      "changed.bpk is what the hosted library writes\n",
      static_cast<double>(largest_difference));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "list") {
    for (int i = 2; i < argc; ++i) list(argv[i]);
    return 0;
  }
  if (verb == "digits" && argc == 4) return check_digits(argv[2], argv[3]);
  return fail("usage: host list FILE... | host digits DATA OUT");
}
