// SPDX-License-Identifier: MIT OR Apache-2.0
// The models and files of the tests of recorders.
#pragma once

#include <string>
#include <string_view>

#include "andiron/nn/linear.h"
#include "andiron/open.h"
#include "andiron/write.h"
#include "tests/store/scope_models.h"
#include "tests/support/places.h"
#include "tests/support/temp_dir.h"

namespace andiron::test::recorder_cases {

using scope::Floats;
using scope::Names;
using scope::Net;

struct Layers {
  nn::Linear fc1 = nn::LinearConfig(2, 3).init();
  nn::Linear fc2 = nn::LinearConfig(3, 4).with_bias(false).init();
  ANDIRON_MODULE(Layers, fc1, fc2)
};

inline std::string torch_layer(const std::string& name) {
  return test_data() + "/torch-2.15/layers/" + name + ".pt";
}

// The same tensors as SafeTensors, as PyTorch users export them.
inline std::string as_safetensors(const TempDir& folder, const std::string& layer,
                                  const std::string& name) {
  const std::string path = folder.file(name + ".safetensors");
  write(open(torch_layer(layer)).value(), path).value();
  return path;
}

inline Floats stored(const std::string& path, std::string_view name, bool transposed = false) {
  TensorSnapshot tensor = open(path).value().get(name).value();
  if (transposed) tensor = tensor.transpose(0, 1).value();
  return tensor.read().value().to_vector<float>().value();
}

inline std::string refusal(const auto& result) {
  return result ? std::string("not refused") : result.error().to_string();
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace andiron::test::recorder_cases
