// SPDX-License-Identifier: MIT OR Apache-2.0
// Selects parameters with filters, then loads a checkpoint with PyTorch's names and layouts into a
// typed model and saves it again. All files are in memory.
#include <andiron/andiron.h>

#include <cstdio>
#include <exception>
#include <set>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

using namespace andiron;

namespace {

struct Gated {
  nn::Linear gate, value;
  ANDIRON_MODULE(Gated, gate, value)
};

struct Net {
  std::vector<nn::Linear> encoder = {nn::LinearConfig(4, 6).init(), nn::LinearConfig(6, 6).init()};
  nn::LayerNorm norm = nn::LayerNormConfig(6).init();
  std::variant<nn::Linear, Gated> head = nn::LinearConfig(6, 2).init();
  ANDIRON_MODULE(Net, encoder, norm, head)
};

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("this does not hold: ") + what);
  std::printf("ok: %s\n", what);
}

using Names = std::vector<std::string>;

// The names that a save into memory with these settings writes.
Names saved(SafetensorsStore store) {
  save_into(Net(), store).value();
  return store.keys().value();
}

void choose_parameters() {
  // Criteria are joined by OR.
  expect(saved(SafetensorsStore().with_regex(R"(^norm\.)").with_full_path("encoder.0.bias")) ==
             Names{"encoder.0.bias", "norm.beta", "norm.gamma"},
         "a regular expression, or a full path");
  // A predicate sees the path and the container of a parameter, and may carry state.
  const std::set<std::string, std::less<>> frozen = {"encoder.0.weight", "encoder.0.bias"};
  const auto is_trained = [frozen](std::string_view path, const Container& container) {
    return container.is("Linear") && !frozen.contains(path);
  };
  expect(saved(SafetensorsStore().with_predicate(is_trained)) ==
             Names{"encoder.1.bias", "encoder.1.weight", "head.Linear.bias", "head.Linear.weight"},
         "the Linear layers that are trained");
  expect(saved(SafetensorsStore().match_all().exclude_regex("bias$").exclude_glob("norm.*")) ==
             Names{"encoder.0.weight", "encoder.1.weight", "head.Linear.weight"},
         "everything, less what is excluded");
}

// A checkpoint in the form of PyTorch's Sequential: weights are [out, in], indices have gaps, and a
// training script has put everything under a key.
Bytes checkpoint() {
  const std::vector<std::pair<std::string, Shape>> tensors = {{"h.0.weight", {6, 4}},
                                                              {"h.0.bias", {6}},
                                                              {"h.2.weight", {6, 6}},
                                                              {"h.2.bias", {6}},
                                                              {"ln.weight", {6}},
                                                              {"ln.bias", {6}},
                                                              {"head.gate.weight", {2, 6}},
                                                              {"head.gate.bias", {2}},  //
                                                              {"head.value.weight", {2, 6}},
                                                              {"head.value.bias", {2}}};
  Archive file;
  for (const auto& [name, shape] : tensors) {
    const Tensor numbers = nn::Initializer::uniform(-1, 1).init(shape).val().value();
    file.add(TensorSnapshot("state_dict.module." + name, numbers)).value();
  }
  return write_to_memory(file).value();
}

void read_and_write_for_pytorch() {
  const Bytes file = checkpoint();
  const KeyRemapper names =
      KeyRemapper().add_pattern(R"(^module\.)", "").add_pattern(R"(^h\.)", "encoder.");
  const auto store = SafetensorsStore::from_bytes(file)
                         .with_top_level_key("state_dict")
                         .remap(names)                             // several rules at once
                         .with_key_remapping(R"(^ln\.)", "norm.")  // and one more
                         .map_indices_contiguous(true)             // encoder.2 becomes encoder.1
                         .with_from_adapter(PyTorchToBurnAdapter())
                         .skip_enum_variants(true);  // head.gate.weight, not head.Gated.gate.weight
  expect(SafetensorsStore::from_bytes(file).suggest_top_level_key().value() == "state_dict.module",
         "the file shows where the model lies");

  // The head switches to the variant in the file.
  Net model;
  const std::vector<ChosenVariant> chosen = choose_variants(model, store).value();
  expect(chosen.size() == 1 && chosen[0].name == "Gated", "the file has a gated head");

  // A dry run: reads no tensor, changes nothing.
  const Plan planned = plan(model, store).value();
  for (const PlannedTensor& tensor : planned.tensors) {
    std::printf("  %-18s <- %-18s %s\n", tensor.path.c_str(), tensor.sources[0].c_str(),
                tensor.shape.to_string().c_str());
  }
  expect(planned.result.missing.empty() && planned.result.errors.empty(), "everything will fit");
  load_from(model, store).value();
  const Tensor theirs = store.get_snapshot("encoder.0.weight").value()->read().value();
  expect(model.encoder[0].weight.at<float>({3, 5}).value() == theirs.at<float>({5, 3}).value(),
         "Linear weights were transposed");

  // And back: the same names and bytes, except for the top-level key and the gaps.
  auto out = SafetensorsStore()
                 .with_to_adapter(BurnToPyTorchAdapter())
                 .skip_enum_variants(true)
                 .with_key_remapping(R"(^encoder\.)", "h.")
                 .with_key_remapping(R"(^norm\.)", "ln.");
  save_into(model, out).value();
  const Archive original = open(file).value();
  for (const char* name : {"h.0.weight", "ln.bias", "head.value.weight"}) {
    const TensorSnapshot before = original.get(std::string("state_dict.module.") + name).value();
    const TensorSnapshot after = out.get_snapshot(name).value().value();
    expect(sha256(before).value() == sha256(after).value(), name);
  }
}

}  // namespace

int main() {
  try {
    choose_parameters();
    read_and_write_for_pytorch();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
