// SPDX-License-Identifier: MIT OR Apache-2.0
// Load, change, save: based_on_interop.py gives the file to PyTorch, which must take it.
//
//   MODEL FROM TO   loads FROM into a model, adds 1 to every parameter, and saves it as TO
//
// FROM is a .pt or .safetensors file, TO a .safetensors file. The models are those of
// based_on_interop.py.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/andiron.h"

namespace {

using namespace andiron;

// nn.Sequential(Linear, ReLU, Dropout, Linear): two numbers are missing.
struct Gaps {
  std::vector<nn::Linear> layers;
  Gaps() {
    layers.push_back(nn::LinearConfig(4, 6).init());
    layers.push_back(nn::LinearConfig(6, 3).with_bias(false).init());
  }
  ANDIRON_MODULE(Gaps, layers)
};

// Convolutions and norms, with the counter that only PyTorch has.
struct Convolutions {
  nn::Conv2d conv = nn::Conv2dConfig({3, 4}, {3, 3}).init();
  nn::BatchNorm norm = nn::BatchNormConfig(4).init();
  nn::ConvTranspose2d up = nn::ConvTranspose2dConfig({4, 2}, {2, 2}).init();
  nn::GroupNorm group = nn::GroupNormConfig(1, 2).init();
  nn::LayerNorm layer = nn::LayerNormConfig(5).init();
  ANDIRON_MODULE(Convolutions, conv, norm, up, group, layer)
};

// An embedding, square matrices, and a checkpoint around it.
struct Wrapped {
  nn::Embedding embedding = nn::EmbeddingConfig(7, 4).init();
  nn::Linear query = nn::LinearConfig(4, 4).init();
  nn::Linear output = nn::LinearConfig(4, 4).init();
  ANDIRON_MODULE(Wrapped, embedding, query, output)
};

// Attention whose three projections PyTorch has in one tensor.
struct Projections {
  nn::Linear query = nn::LinearConfig(4, 4).init();
  nn::Linear key = nn::LinearConfig(4, 4).init();
  nn::Linear value = nn::LinearConfig(4, 4).init();
  nn::Linear output = nn::LinearConfig(4, 4).init();
  ANDIRON_MODULE(Projections, query, key, value, output)
};
struct Fused {
  Projections attention;
  ANDIRON_MODULE(Fused, attention)
};

AnyAdapter fused_adapter() {
  const auto split = [](const char* part, std::vector<AdapterStep> steps) {
    const std::string suffix = std::string(".") + part;
    return AdapterRule{.module_type = "Projections",
                       .from = {std::string("in_proj_") + part},
                       .to = {"query" + suffix, "key" + suffix, "value" + suffix},
                       .steps = std::move(steps)};
  };
  return PyTorchToBurnAdapter()
      .with_rule(split("weight", {SplitStep{0}, PermuteStep{{1, 0}}}))
      .with_rule(split("bias", {SplitStep{0}}));
}

template <class S>
S settings_for(std::string_view model, S store) {
  store.with_from_adapter(PyTorchToBurnAdapter()).map_indices_contiguous(true);
  if (model == "gaps") store.with_key_remapping("^", "layers.");
  if (model == "wrapped") {
    store.with_top_level_key("checkpoint.model").with_key_remapping("^module\\.", "");
  }
  if (model == "fused") {
    store.with_from_adapter(fused_adapter()).with_key_remapping(R"(\.out_proj\.)", ".output.");
  }
  return store;
}

// Adds 1 to every parameter, and to what the module has besides.
template <class M>
Status change(M& model) {
  Result<Snapshots> tensors = collect(model);
  if (!tensors) return std::move(tensors).error();
  Snapshots changed;
  for (const TensorSnapshot& tensor : *tensors) {
    Result<std::vector<float>> numbers = tensor.read().value().to_vector<float>();
    if (!numbers) return std::move(numbers).error();
    for (float& number : *numbers) number += 1;
    changed.push_back(TensorSnapshot(tensor.full_path(),
                                     Tensor::from_values<float>(tensor.shape(), *numbers).value()));
  }
  const Result<ApplyResult> applied = apply(model, changed);
  if (!applied) return applied.error();
  return {};
}

template <class M, class S>
Status load_change_save(S loaded, const std::string& to) {
  M model;
  if (const auto result = load_from(model, loaded); !result) return result.error();
  if (Status status = change(model); !status) return status;
  const auto saved = save_into(model, SafetensorsStore::from_file(to).based_on(loaded));
  if (!saved) return saved.error();
  return {};
}

template <class M>
Status run(std::string_view name, const std::string& from, const std::string& to) {
  if (from.ends_with(".pt")) {
    return load_change_save<M>(settings_for(name, PytorchStore::from_file(from)), to);
  }
  return load_change_save<M>(settings_for(name, SafetensorsStore::from_file(from)), to);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 64;
  const std::string_view name = arguments[1];
  const auto chosen = name == "gaps"           ? run<Gaps>
                      : name == "convolutions" ? run<Convolutions>
                      : name == "wrapped"      ? run<Wrapped>
                                               : run<Fused>;
  const Status status = chosen(name, arguments[2], arguments[3]);
  if (status) return 0;
  std::fprintf(stderr, "%s\n", status.error().to_string().c_str());
  return 1;
}
