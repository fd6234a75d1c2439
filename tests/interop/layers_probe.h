// SPDX-License-Identifier: MIT OR Apache-2.0
// A case of layers_interop.py, and the functions that compute it.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/andiron.h"

namespace andiron::layers_probe {

using Json = nlohmann::json;
using Outputs = std::vector<Tensor>;

// A layer in another module, so that its names have a prefix.
template <class L>
struct Wrapper {
  L layer;
  static constexpr std::string_view module_name = "Wrapper";
  static void fields(auto& self, auto&& field) { field("layer", self.layer); }
};

struct Case {
  std::string number;
  const Json& config;
  const Archive& inputs;
  std::string parameters;  // the path of a .pt file; empty for a layer without parameters
  bool wrapped = false;
  bool zero_copy = false;

  template <class T>
  T get(const char* key) const {
    return config.at(key).get<T>();
  }
  template <class T>
  T get(const char* key, T otherwise) const {
    return config.value(key, otherwise);
  }
  std::uint64_t size(const char* key) const { return get<std::uint64_t>(key); }

  Result<Tensor> input(std::string_view key) const {
    const Result<TensorSnapshot> found = inputs.get(number + "." + std::string(key));
    if (!found) return found.error();
    return found->read();
  }
  bool has(std::string_view key) const {
    return inputs.find(number + "." + std::string(key)).has_value();
  }
  std::optional<Tensor> maybe(std::string_view key) const {
    if (!has(key)) return std::nullopt;
    return input(key).value();
  }

  template <class L>
  Status load(L& layer) const {
    if (parameters.empty()) return {};
    auto store = PytorchStore::from_file(parameters).zero_copy(zero_copy);
    if (wrapped) {
      Wrapper<L> wrapper{std::move(layer)};
      if (const auto result = load_from(wrapper, store); !result) return result.error();
      layer = std::move(wrapper.layer);
      return {};
    }
    if (const auto result = load_from(layer, store); !result) return result.error();
    return {};
  }
};

inline Result<Outputs> one(Result<Tensor> tensor) {
  if (!tensor) return std::move(tensor).error();
  return Outputs{*std::move(tensor)};
}

// Loads a layer and passes "x" through it.
template <class L>
Result<Outputs> forward(const Case& it, L layer) {
  if (Status status = it.load(layer); !status) return status.error();
  return one(layer.forward(it.input("x")));
}

nn::Activation activation_of(std::string_view name);

// By the kind of case.
using Kinds = std::map<std::string, Result<Outputs> (*)(const Case&), std::less<>>;
void add_layers(Kinds& kinds);
void add_sequences(Kinds& kinds);
void add_functions(Kinds& kinds);

}  // namespace andiron::layers_probe
