// SPDX-License-Identifier: MIT OR Apache-2.0
// The examples of burn-store's own pages, in their order. docs/scope-parity.md lists them.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "andiron/andiron.h"
#include "tests/store/scope_models.h"
#include "tests/support/module_fingerprint.h"
#include "tests/support/param_numbers.h"
#include "tests/support/state_dict.h"
#include "tests/support/temp_dir.h"

namespace andiron::test::scope::burn_store {
namespace {

// A new model that was saved to this path.
template <class S>
Model saved_model(const std::string& path) {
  Model model;
  save_into(model, S::from_file(path)).value();
  return model;
}

// ---- Saving and loading ----

TEST(ScopeBurnStore, BurnpackSavesAModelWithMetadataAndLoadsIt) {
  const TempDir folder;
  const Model trained;
  auto target = BurnpackStore::from_file(folder.file("model.bpk"))
                    .metadata("version", "1.0")
                    .metadata("description", "My trained model");
  save_into(trained, target).value();

  Model model;
  auto store = BurnpackStore::from_file(folder.file("model.bpk"));
  load_from(model, store).value();
  EXPECT_EQ(store.get_metadata().value().at("description"), "My trained model");
  EXPECT_EQ(bytes_by_path(model), bytes_by_path(trained));
}

TEST(ScopeBurnStore, BurnpackKeepsTheIdsOfParametersForTraining) {
  const TempDir folder;
  const Model trained = saved_model<BurnpackStore>(folder.file("model.bpk"));
  Model model;
  ASSERT_NE(model.encoder.layer0.weight.id(), trained.encoder.layer0.weight.id());
  load_from(model, BurnpackStore::from_file(folder.file("model.bpk"))).value();
  EXPECT_EQ(model.encoder.layer0.weight.id(), trained.encoder.layer0.weight.id());
}

// ---- Filters ----

TEST(ScopeBurnStore, OnlyTheEncoderIsSaved) {
  const TempDir folder;
  auto store = SafetensorsStore::from_file(folder.file("encoder.safetensors"))
                   .with_regex(R"(^encoder\..*)")
                   .metadata("subset", "encoder_only");
  save_into(Model(), store).value();
  EXPECT_EQ(store.keys().value(), encoder_names);
  EXPECT_EQ(store.get_metadata().value().at("subset"), "encoder_only");
}

TEST(ScopeBurnStore, CriteriaAreJoinedByOr) {
  const TempDir folder;
  saved_model<SafetensorsStore>(folder.file("model.safetensors"));
  auto store = SafetensorsStore::from_file(folder.file("model.safetensors"))
                   .with_regex(R"(^encoder\..*)")     // the encoder
                   .with_regex(R"(.*\.bias$)")        // or any bias
                   .with_full_path("decoder.scale");  // or this tensor
  Model model;
  const ApplyResult result = load_from(model, store).value();
  const std::set<std::string> applied(result.applied.begin(), result.applied.end());
  EXPECT_EQ(applied.size(), 8u);
  EXPECT_TRUE(applied.contains("decoder.scale"));
  EXPECT_TRUE(applied.contains("decoder.output.bias"));
  EXPECT_EQ(result.skipped, Names{"decoder.output.weight"});
}

// ---- PyTorch ----

struct Classifier {
  std::variant<nn::Linear, nn::Conv1d> feature = nn::LinearConfig(3, 4).init();
  nn::Linear classifier = nn::LinearConfig(4, 2).init();
  ANDIRON_MODULE(Classifier, feature, classifier)
};

StateDict of_classifier() {
  return StateDict()
      .add("feature.weight", {4, 3})
      .add("feature.bias", {4}, 12)
      .add("classifier.weight", {2, 4}, 16)
      .add("classifier.bias", {2}, 24)
      .add("unknown", {7});
}

TEST(ScopeBurnStore, APytorchFileIsLoadedFromBelowAKeyWithoutNamesOfVariants) {
  const TempDir folder;
  write_file(folder.file("pytorch_model.pth"), of_classifier().file({"state_dict"}));
  Classifier model;
  auto store = PytorchStore::from_file(folder.file("pytorch_model.pth"))
                   .with_top_level_key("state_dict")
                   .allow_partial(true);
  const ApplyResult result = load_from(model, store).value();
  EXPECT_EQ(result.applied.size(), 4u);
  EXPECT_EQ(result.unused, Names{"unknown"});
  EXPECT_EQ(numbers(model.classifier.weight), (Floats{16, 20, 17, 21, 18, 22, 19, 23}));
}

TEST(ScopeBurnStore, ASafetensorsFileGoesFromPytorchToAModelAndBack) {
  const TempDir folder;
  const std::string path = folder.file("pytorch_model.safetensors");
  write(open(of_classifier().bytes()).value(), path).value();
  Classifier model;
  auto store = SafetensorsStore::from_file(path)
                   .with_from_adapter(PyTorchToBurnAdapter())  // transposes Linear weights
                   .skip_enum_variants(true)  // feature.weight, not feature.Linear.weight
                   .allow_partial(true);
  EXPECT_EQ(load_from(model, store).value().applied.size(), 4u);
  EXPECT_EQ(std::get<nn::Linear>(model.feature).weight.shape(), (Shape{3, 4}));

  auto target = SafetensorsStore::from_file(folder.file("for_pytorch.safetensors"))
                    .with_to_adapter(BurnToPyTorchAdapter())
                    .skip_enum_variants(true);
  save_into(model, target).value();
  for (const std::string& name : target.keys().value()) {
    EXPECT_EQ(stored(target, name), stored(store, name)) << name;
  }
  EXPECT_EQ(target.keys().value().size(), 4u);
}

// ---- Indices ----

TEST(ScopeBurnStore, SafetensorsKeepGapsInIndicesUnlessAskedToCloseThem) {
  const TempDir folder;
  struct Sequential {
    std::vector<nn::Conv2d> fc =
        std::vector<nn::Conv2d>(3, nn::Conv2dConfig({1, 1}, {2, 2}).init());
    ANDIRON_MODULE(Sequential, fc)
  } model;
  StateDict dict;  // of a Sequential with ReLU between the convolutions
  dict.add("fc.0.weight", {1, 1, 2, 2}).add("fc.0.bias", {1}, 10);
  dict.add("fc.2.weight", {1, 1, 2, 2}).add("fc.2.bias", {1}, 12);
  dict.add("fc.4.weight", {1, 1, 2, 2}).add("fc.4.bias", {1}, 14);
  write_file(folder.file("model.pth"), dict.file());
  load_from(model, PytorchStore::from_file(folder.file("model.pth"))).value();
  EXPECT_EQ(numbers(*model.fc[1].bias), Floats{12});
  EXPECT_FALSE(load_from(
      model, PytorchStore::from_file(folder.file("model.pth")).map_indices_contiguous(false)));

  const std::string path = folder.file("model.safetensors");
  write(open(folder.file("model.pth")).value(), path).value();
  EXPECT_FALSE(load_from(model, SafetensorsStore::from_file(path)));
  model = Sequential();
  auto store = SafetensorsStore::from_file(path).map_indices_contiguous(true);
  load_from(model, store).value();
  EXPECT_EQ(numbers(*model.fc[2].bias), Floats{14});
}

// ---- Names ----

// The names that a store gives to a file with these.
template <class S>
Names renamed(const std::vector<std::string>& names, const auto& with_rules) {
  StateDict dict;
  for (const std::string& name : names) dict.add(name, {2});
  const Bytes file = std::is_same_v<S, PytorchStore>
                         ? dict.bytes()
                         : write_to_memory(open(dict.bytes()).value()).value();
  return with_rules(S::from_bytes(file)).keys().value();
}

TEST(ScopeBurnStore, NamesAreRemappedByPatterns) {
  const Names names = renamed<SafetensorsStore>(
      {"old_model.norm.beta", "old_model.norm.gamma"}, [](SafetensorsStore store) {
        return store.with_key_remapping(R"(^old_model\.)", "new_model.")
            .with_key_remapping(R"(\.gamma$)", ".weight")
            .with_key_remapping(R"(\.beta$)", ".bias");
      });
  EXPECT_EQ(names, (Names{"new_model.norm.bias", "new_model.norm.weight"}));
}

TEST(ScopeBurnStore, NamesAreRemappedByARemapper) {
  const KeyRemapper remapper =
      KeyRemapper()
          .add_pattern(R"(^transformer\.h\.(\d+)\.)", "transformer.layer$1.")
          .add_pattern(R"(^(.*?)\.attn\.)", "$1.attention.");
  const Names names =
      renamed<SafetensorsStore>({"transformer.h.0.attn.bias", "transformer.h.10.attn.bias"},
                                [&](SafetensorsStore store) { return store.remap(remapper); });
  EXPECT_EQ(names,
            (Names{"transformer.layer0.attention.bias", "transformer.layer10.attention.bias"}));
}

TEST(ScopeBurnStore, NamesOfPytorchAreRemappedOnTheWay) {
  const Names names =
      renamed<PytorchStore>({"model.norm1.weight", "model.norm2.weight"}, [](PytorchStore store) {
        return store.with_key_remapping(R"(^model\.)", "")
            .with_key_remapping(R"(norm(\d+))", "norm_$1");
      });
  EXPECT_EQ(names, (Names{"norm_1.weight", "norm_2.weight"}));
}

// ---- Memory ----

template <class S>
void expect_part_passes_through_memory() {
  const Model trained;
  auto target = S::from_bytes().with_regex(R"(^encoder\..*)").metadata("subset", "encoder_only");
  save_into(trained, target).value();
  const Bytes bytes = target.get_bytes().value();

  Model model;
  auto store = S::from_bytes(bytes).allow_partial(true);
  const ApplyResult result = load_from(model, store).value();
  EXPECT_EQ(result.applied.size(), 6u);
  EXPECT_EQ(result.missing.size(), 3u);
  EXPECT_EQ(store.get_metadata().value().at("subset"), "encoder_only");
  EXPECT_EQ(bytes_by_path(model.encoder), bytes_by_path(trained.encoder));
}

TEST(ScopeBurnStore, PartOfAModelPassesThroughMemory) {
  expect_part_passes_through_memory<BurnpackStore>();
  expect_part_passes_through_memory<SafetensorsStore>();
}

TEST(ScopeBurnStore, SharedMemoryIsBorrowedAndKeptAlive) {
  const Model trained;
  auto saved = BurnpackStore::from_bytes();
  save_into(trained, saved).value();
  const auto file = saved.get_bytes().value().span();
  auto owner = std::make_shared<std::vector<std::byte>>(file.begin(), file.end());
  const std::weak_ptr<std::vector<std::byte>> memory = owner;

  Model model;
  {
    const Bytes bytes = Bytes::share(owner, *owner);
    auto store = BurnpackStore::from_bytes(bytes).zero_copy(true);
    load_from(model, store).value();
  }
  owner.reset();
  EXPECT_EQ(bytes_by_path(model), bytes_by_path(trained));
  EXPECT_FALSE(memory.expired());
  model = Model();
  EXPECT_TRUE(memory.expired());
}

// ---- Surgery ----

TEST(ScopeBurnStore, CompatibleTensorsAreTransferredAndOthersReported) {
  struct Wide {
    Encoder encoder = {.layer0 = nn::LinearConfig(7, 4).init()};
    ANDIRON_MODULE(Wide, encoder)
  } model2;
  const Model model1;
  const ApplyResult result =
      apply(model2, collect(model1).value(), {.allow_partial = true, .validate = false}).value();
  EXPECT_EQ(result.applied.size(), 5u);
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_EQ(result.errors[0].tensor, "encoder.layer0.weight");
  EXPECT_EQ(bytes_by_path(model2.encoder.layer1), bytes_by_path(model1.encoder.layer1));
}

// The same parts, one level deeper.
struct Wrapped {
  Model transformer;
  ANDIRON_MODULE(Wrapped, transformer)
};

TEST(ScopeBurnStore, TensorsAreRenamedBetweenModels) {
  const Model model1;
  Snapshots snapshots = collect(model1).value();
  for (TensorSnapshot& snapshot : snapshots) {
    std::string path = snapshot.full_path();
    if (path.starts_with("encoder.")) snapshot.set_full_path("transformer." + path);
  }
  Wrapped model2;
  const auto before = bytes_by_path(model2.transformer.decoder);
  const ApplyResult result = apply(model2, snapshots, {.allow_partial = true}).value();
  EXPECT_EQ(result.applied.size(), 6u);
  EXPECT_EQ(bytes_by_path(model2.transformer.encoder), bytes_by_path(model1.encoder));
  EXPECT_EQ(bytes_by_path(model2.transformer.decoder), before);
}

TEST(ScopeBurnStore, PartOfAModelIsExportedAndAFileThatLacksSomethingIsLoaded) {
  const TempDir folder;
  const Model trained;
  auto target = SafetensorsStore::from_file(folder.file("encoder_only.safetensors"))
                    .with_regex(R"(^encoder\..*)");
  save_into(trained, target).value();

  Model model;
  auto store =
      SafetensorsStore::from_file(folder.file("encoder_only.safetensors")).allow_partial(true);
  const ApplyResult result = load_from(model, store).value();
  EXPECT_EQ(result.applied.size(), 6u);
  EXPECT_EQ(result.missing.size(), 3u);
  EXPECT_EQ(bytes_by_path(model.encoder), bytes_by_path(trained.encoder));
}

TEST(ScopeBurnStore, WeightsOfTwoModelsAreMerged) {
  const Model base_model;
  const Model specialized_model;
  Snapshots merged;
  merged.extend(collect(base_model).value());
  const PathFilter encoder_filter = PathFilter().with_regex(R"(^encoder\..*)");
  merged.extend(collect(specialized_model, {.filter = encoder_filter}).value());

  Model target_model;
  apply(target_model, merged).value();
  EXPECT_EQ(bytes_by_path(target_model.encoder), bytes_by_path(specialized_model.encoder));
  EXPECT_EQ(bytes_by_path(target_model.decoder), bytes_by_path(base_model.decoder));
}

TEST(ScopeBurnStore, OneFileIsLoadedOverAnother) {
  const TempDir folder;
  const Model base = saved_model<SafetensorsStore>(folder.file("base.safetensors"));
  const Model specialized = saved_model<SafetensorsStore>(folder.file("encoder.safetensors"));
  Model model;
  auto base_store = SafetensorsStore::from_file(folder.file("base.safetensors"));
  load_from(model, base_store).value();
  auto encoder_store = SafetensorsStore::from_file(folder.file("encoder.safetensors"))
                           .with_regex(R"(^encoder\..*)")
                           .allow_partial(true);
  load_from(model, encoder_store).value();
  EXPECT_EQ(bytes_by_path(model.encoder), bytes_by_path(specialized.encoder));
  EXPECT_EQ(bytes_by_path(model.decoder), bytes_by_path(base.decoder));
}

// ---- The complete example ----

TEST(ScopeBurnStore, ATransformerIsMigratedFromPytorch) {
  const TempDir folder;
  StateDict dict;
  for (const std::string layer : {"transformer.h.0.", "transformer.h.1."}) {
    for (const char* name : {"attn.query", "attn.output"}) {
      dict.add(layer + name + ".weight", {2, 2}).add(layer + name + ".bias", {2});
    }
    dict.add(layer + "norm_1.weight", {2}, 30);
  }
  dict.add("lm_head.weight", {9, 2});
  write_file(folder.file("pytorch_transformer.pth"), dict.file({"state_dict"}));

  auto store = PytorchStore::from_file(folder.file("pytorch_transformer.pth"))
                   .with_top_level_key("state_dict")
                   .with_regex(R"(^transformer\..*)")
                   .with_key_remapping(R"(^transformer\.h\.(\d+)\.)", "transformer.layer$1.")
                   .with_key_remapping(R"(\.attn\.)", ".attention.")
                   .allow_partial(true);
  TransformerModel model;
  const ApplyResult result = load_from(model, store).value();
  EXPECT_EQ(result.applied.size(), 10u);
  EXPECT_TRUE(result.errors.empty());
  EXPECT_EQ(result.missing.size(), 2u);  // the betas
  EXPECT_EQ(result.unused, Names{"lm_head.weight"});
  EXPECT_EQ(numbers(model.transformer.layer1.attention.query.weight), (Floats{0, 2, 1, 3}));
  EXPECT_EQ(numbers(model.transformer.layer0.norm_1.gamma), (Floats{30, 31}));

  auto save_store = SafetensorsStore::from_file(folder.file("migrated_model.safetensors"))
                        .metadata("source", "pytorch")
                        .metadata("converted_by", "andiron");
  save_into(model, save_store).value();
  TransformerModel migrated;
  load_from(migrated, save_store).value();
  EXPECT_EQ(bytes_by_path(migrated), bytes_by_path(model));
  EXPECT_EQ(save_store.get_metadata().value().at("source"), "pytorch");
}

// ---- Without a model ----

// What any store tells of its tensors.
std::string inspected(const Store& store) {
  std::ostringstream out;
  const Names names = store.keys().value();
  out << "Model contains " << names.size() << " tensors:\n";
  for (const std::string& name : names) out << "  - " << name << '\n';
  for (const TensorSnapshot& tensor : store.get_all_snapshots().value()) {
    out << tensor.full_path() << ": " << tensor.shape() << ' ' << tensor.dtype() << '\n';
  }
  if (auto snapshot = store.get_snapshot("layer0.weight").value()) {
    const TensorData data = snapshot->to_data().value();  // read now
    out << "Shape: " << data.shape() << ", DType: " << data.dtype() << '\n';
  }
  return out.str();
}

TEST(ScopeBurnStore, AnyStoreShowsItsTensorsWithoutAModel) {
  const TempDir folder;
  write_file(folder.file("model.pth"),
             StateDict().add("layer0.weight", {2, 3}).add("layer0.bias", {2}).file());
  const Archive file = open(folder.file("model.pth")).value();
  write(file, folder.file("model.bpk")).value();  // one format to another
  write(file, folder.file("model.safetensors")).value();
  const std::string expected =
      "Model contains 2 tensors:\n  - layer0.bias\n  - layer0.weight\n"
      "layer0.bias: [2] f32\nlayer0.weight: [2, 3] f32\nShape: [2, 3], DType: f32\n";
  EXPECT_EQ(inspected(PytorchStore::from_file(folder.file("model.pth"))), expected);
  EXPECT_EQ(inspected(BurnpackStore::from_file(folder.file("model.bpk"))), expected);
  EXPECT_EQ(inspected(SafetensorsStore::from_file(folder.file("model.safetensors"))), expected);
}

// ---- Predicates ----

TEST(ScopeBurnStore, APredicateSeesThePath) {
  const TempDir folder;
  saved_model<SafetensorsStore>(folder.file("model.safetensors"));
  auto store = SafetensorsStore::from_file(folder.file("model.safetensors"))
                   .with_predicate([](std::string_view path, const Container&) {
                     return path.find("weight") != path.npos && path.find("bias") == path.npos;
                   });
  Model model;
  EXPECT_EQ(load_from(model, store).value().applied,
            (Names{"encoder.layer0.weight", "encoder.layer1.weight", "decoder.output.weight"}));
}

TEST(ScopeBurnStore, APredicateSeesTheContainer) {
  const TempDir folder;
  saved_model<SafetensorsStore>(folder.file("model.safetensors"));
  auto store = SafetensorsStore::from_file(folder.file("model.safetensors"))
                   .with_predicate([](std::string_view, const Container& container) {
                     return container.last() == "Linear";
                   });
  Model model;
  const ApplyResult result = load_from(model, store).value();
  EXPECT_EQ(result.applied.size(), 6u);
  EXPECT_EQ(result.skipped, (Names{"decoder.scale", "encoder.norm.beta", "encoder.norm.gamma"}));
}

// ---- Results ----

TEST(ScopeBurnStore, TheResultOfALoadTellsOfEveryTensor) {
  auto store = SafetensorsStore::from_bytes(
      write_to_memory(open(StateDict()
                               .add("encoder.layer0.weight", {3, 4})
                               .add("encoder.layer0.bias", {5})  // does not fit
                               .add("optimizer.step", {1})
                               .bytes())
                          .value())
          .value());
  Model model;
  const ApplyResult result =
      load_from(model, store.with_regex("^encoder").allow_partial(true).validate(false)).value();
  EXPECT_EQ(result.applied, Names{"encoder.layer0.weight"});
  EXPECT_EQ(result.skipped.size(), 3u);
  EXPECT_EQ(result.missing.size(), 4u);
  EXPECT_EQ(result.unused, Names{"optimizer.step"});
  std::ostringstream out;
  for (const Error& error : result.errors) {
    out << "Error loading " << error.tensor << ": " << error.message << '\n';
  }
  EXPECT_EQ(out.str(), "Error loading encoder.layer0.bias: the shape does not match\n");
}

}  // namespace
}  // namespace andiron::test::scope::burn_store
