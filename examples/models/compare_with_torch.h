// SPDX-License-Identifier: MIT OR Apache-2.0
// What the main functions of the models share: loads a model from a folder that make_weights.py has
// filled, computes, and compares with what PyTorch has computed.
//
//   weights.pt    {"config": numbers, "state_dict": parameters}
//   expected.pt   {"input": tensor, "output": tensor}, and "target" where forward() takes two
//
// A model has a Config, and `static Model init(const Config&)`. With a number after the folder, the
// fastest of as many forward passes is printed too.
#pragma once

#include <andiron/andiron.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>

/// The largest difference, divided by the largest element. NaN if an element is NaN.
inline double largest_difference(const andiron::Tensor& ours, const andiron::Tensor& theirs) {
  if (ours.shape() != theirs.shape()) {
    throw std::runtime_error("the output is " + ours.shape().to_string() + ", PyTorch's is " +
                             theirs.shape().to_string());
  }
  const std::span<const float> a = ours.as<float>().value();
  const std::span<const float> b = theirs.as<float>().value();
  double difference = 0;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double here = std::abs(static_cast<double>(a[i]) - b[i]);
    if (std::isnan(here)) return here;
    difference = std::max(difference, here);
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
  }
  return difference / largest;
}

/// The milliseconds that the fastest of `repetitions` calls takes.
template <class Compute>
double fastest(int repetitions, const Compute& compute) {
  double best = HUGE_VAL;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    static_cast<void>(compute());
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  return best;
}

/// The main function. `names` makes the settings that the names in the file need.
template <class Model>
int compare_with_torch(
    const char* model_name, int argc, char** argv,
    void (*names)(andiron::PytorchStore&) = [](andiron::PytorchStore&) {}) try {
  using namespace andiron;
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: %s FOLDER [REPETITIONS]\n", argv[0]);
    return 4;
  }
  const std::string folder = argv[1];
  auto weights = PytorchStore::from_file(folder + "/weights.pt").with_top_level_key("state_dict");
  names(weights);
  const auto config = config_from<typename Model::Config>(weights, "config").value();
  Model model = Model::init(config);
  const ApplyResult loaded = load_from(model, weights).value();

  const Archive expected = open(folder + "/expected.pt").value();
  const auto tensor = [&](const char* name) { return expected.get(name).value().read().value(); };
  const Tensor theirs = tensor("output");
  const Tensor input = tensor("input");
  const auto compute = [&] {
    if constexpr (requires(Tensor one) { model.forward(one, one); }) {
      return model.forward(input, tensor("target")).value();
    } else {
      return model.forward(input).value();
    }
  };
  const Tensor ours = compute();
  const double difference = largest_difference(ours, theirs);
  std::printf("%s: %zu tensors loaded, output %s, largest difference %.1e\n", model_name,
              loaded.applied.size(), ours.shape().to_string().c_str(), difference);
  if (argc == 3) std::printf("fastest %.3f ms\n", fastest(std::atoi(argv[2]), compute));
  return difference <= 1e-5 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", model_name, error.what());
  return 1;
}
