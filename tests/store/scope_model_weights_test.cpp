// SPDX-License-Identifier: MIT OR Apache-2.0
// The examples of the document on model weights, in its order. docs/scope-parity.md lists them.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "andiron/andiron.h"
#include "tests/store/scope_models.h"
#include "tests/support/module_fingerprint.h"
#include "tests/support/param_numbers.h"
#include "tests/support/places.h"
#include "tests/support/state_dict.h"
#include "tests/support/temp_dir.h"

namespace andiron::test::scope::model_weights {
namespace {

// ---- Quick start, and loading step by step ----

TEST(ScopeModelWeights, APytorchFileIsLoaded) {
  Net model;
  auto store = PytorchStore::from_file(conv2d_pt());
  const ApplyResult result = load_from(model, store).value();
  EXPECT_EQ(result.applied, (Names{"conv1.weight", "conv1.bias", "conv2.weight"}));
  EXPECT_EQ(numbers(model.conv1.weight), stored(store, "conv1.weight"));
  EXPECT_EQ(numbers(model.conv2.weight), stored(store, "conv2.weight"));
}

TEST(ScopeModelWeights, ASafetensorsFileOfPytorchIsLoadedThroughTheAdapter) {
  const TempDir folder;
  Net model;
  auto store = SafetensorsStore::from_file(conv2d_safetensors(folder))
                   .with_from_adapter(PyTorchToBurnAdapter());
  EXPECT_EQ(load_from(model, store).value().applied.size(), 3u);
  EXPECT_EQ(numbers(model.conv1.weight), stored(store, "conv1.weight"));
}

TEST(ScopeModelWeights, TheAdapterTransposesLinearWeightsAndRenamesNorms) {
  const TempDir folder;
  write(open(bytes_of_text(StateDict()
                               .add("layer0.weight", {4, 3})
                               .add("layer0.bias", {4}, 20)
                               .add("layer1.weight", {4, 4}, 30)
                               .add("layer1.bias", {4}, 50)
                               .add("norm.weight", {4}, 60)
                               .add("norm.bias", {4}, 70)
                               .file()))
            .value(),
        folder.file("model.safetensors"))
      .value();
  Encoder model;
  auto store = SafetensorsStore::from_file(folder.file("model.safetensors"))
                   .with_from_adapter(PyTorchToBurnAdapter());
  load_from(model, store).value();
  EXPECT_EQ(numbers(model.layer0.weight), (Floats{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
  EXPECT_EQ(numbers(model.norm.gamma), (Floats{60, 61, 62, 63}));
  EXPECT_EQ(numbers(*model.norm.beta), (Floats{70, 71, 72, 73}));
}

// ---- Saving ----

TEST(ScopeModelWeights, AModelIsSavedToBurnpackWithMetadata) {
  const TempDir folder;
  const Model model;
  auto store = BurnpackStore::from_file(folder.file("model.bpk"))
                   .metadata("version", "1.0")
                   .metadata("description", "My trained model");
  save_into(model, store).value();

  auto saved = BurnpackStore::from_file(folder.file("model.bpk"));
  EXPECT_EQ(saved.get_metadata().value().at("version"), "1.0");
  EXPECT_EQ(saved.get_metadata().value().at("description"), "My trained model");
  Model copy;
  load_from(copy, saved).value();
  EXPECT_EQ(fingerprint(copy), fingerprint(model));  // the same values and the same ids
}

TEST(ScopeModelWeights, AModelIsSavedToSafetensors) {
  const TempDir folder;
  const Model model;
  auto store = SafetensorsStore::from_file(folder.file("model.safetensors"));
  save_into(model, store).value();

  Model copy;
  load_from(copy, SafetensorsStore::from_file(folder.file("model.safetensors"))).value();
  EXPECT_EQ(bytes_by_path(copy), bytes_by_path(model));
}

TEST(ScopeModelWeights, AModelIsSavedForPytorch) {
  struct Classifier {
    nn::LayerNorm norm = nn::LayerNormConfig(3).init();
    std::variant<nn::Linear, nn::Conv1d> head = nn::LinearConfig(3, 2).init();
    ANDIRON_MODULE(Classifier, norm, head)
  };
  const TempDir folder;
  const Classifier model;
  auto store = SafetensorsStore::from_file(folder.file("for_pytorch.safetensors"))
                   .with_to_adapter(BurnToPyTorchAdapter())
                   .skip_enum_variants(true);
  save_into(model, store).value();
  EXPECT_EQ(store.keys().value(), (Names{"head.bias", "head.weight", "norm.bias", "norm.weight"}));
  EXPECT_EQ(store.get_snapshot("head.weight").value()->shape(), (Shape{2, 3}));
  EXPECT_EQ(store.get_metadata().value().at("format"), "pt");
}

// ---- Results ----

TEST(ScopeModelWeights, TheResultOfALoadIsPrintedAndInspected) {
  Net model;
  auto store = PytorchStore::from_file(conv2d_pt());
  const ApplyResult result = load_from(model, store).value();

  std::ostringstream out;
  out << result << '\n';
  out << "Applied: " << result.applied.size() << " tensors\n";
  for (const MissingTensor& missing : result.missing) out << "Missing: " << missing.path << '\n';
  for (const Error& error : result.errors) out << "Error: " << error << '\n';
  if (result.is_success()) out << "All tensors loaded successfully\n";

  EXPECT_NE(out.str().find("Successfully applied: 3 tensors"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("Applied: 3 tensors\nAll tensors loaded successfully\n"),
            std::string::npos);
}

// ---- Advanced features ----

TEST(ScopeModelWeights, AStateDictBelowAKeyIsLoaded) {
  const TempDir folder;
  write_file(
      folder.file("checkpoint.pt"),
      StateDict().add("weight", {2, 3}).add("bias", {2}, 6).file({"state_dict"}, {{"epoch", 7}}));
  nn::Linear model = nn::LinearConfig(3, 2).init();
  auto store =
      PytorchStore::from_file(folder.file("checkpoint.pt")).with_top_level_key("state_dict");
  load_from(model, store).value();
  EXPECT_EQ(numbers(model.weight), (Floats{0, 3, 1, 4, 2, 5}));
}

TEST(ScopeModelWeights, NamesAreRemappedByPatternsInOrder) {
  const TempDir folder;
  write_file(folder.file("model.pt"), StateDict()
                                          .add("model.layer0.weight", {4, 3})
                                          .add("model.layer0.bias", {4})
                                          .add("model.layer1.weight", {4, 4})
                                          .add("model.layer1.bias", {4}, 9)
                                          .add("norm.weight", {4})
                                          .file());
  auto store = PytorchStore::from_file(folder.file("model.pt"))
                   .with_key_remapping(R"(^model\.)", "")              // removes a prefix
                   .with_key_remapping(R"(^layer)", "encoder.layer");  // then renames
  EXPECT_EQ(store.keys().value(),
            (Names{"encoder.layer0.bias", "encoder.layer0.weight", "encoder.layer1.bias",
                   "encoder.layer1.weight", "norm.weight"}));
  Model model;
  EXPECT_EQ(load_from(model, store.with_regex(R"(^encoder\.layer)")).value().applied.size(), 4u);
  EXPECT_EQ(numbers(*model.encoder.layer1.bias), (Floats{9, 10, 11, 12}));
}

TEST(ScopeModelWeights, ARemapperHoldsSeveralPatterns) {
  const KeyRemapper remapper =
      KeyRemapper()
          .add_pattern(R"(^transformer\.h\.(\d+)\.)", "transformer.layer$1.")
          .add_pattern(R"(\.attn\.)", ".attention.");
  EXPECT_TRUE(remapper.status());

  TransformerModel model;
  Archive file;
  for (const TensorSnapshot& tensor : collect(TransformerModel()).value()) {
    std::string name = tensor.full_path();  // transformer.layer0.attention.query.weight
    name.replace(name.find("layer"), 5, "h.");
    if (const auto at = name.find("attention"); at != name.npos) name.replace(at, 9, "attn");
    file.add(tensor.with_path(name)).value();
  }
  ASSERT_TRUE(file.find("transformer.h.1.attn.query.weight"));
  auto store = SafetensorsStore::from_bytes(write_to_memory(file).value()).remap(remapper);
  EXPECT_EQ(load_from(model, store).value().applied.size(), 12u);
}

TEST(ScopeModelWeights, WhatTheFileLacksKeepsItsValues) {
  const TempDir folder;
  write_file(folder.file("pretrained.pt"),
             StateDict().add("output.weight", {2, 4}).add("output.bias", {2}).file());
  Decoder model;
  auto store = PytorchStore::from_file(folder.file("pretrained.pt"));
  EXPECT_EQ(load_from(model, store).error().code, ErrorCode::missing_tensor);

  const ApplyResult result = load_from(model, store.allow_partial(true)).value();
  ASSERT_EQ(result.missing.size(), 1u);
  EXPECT_EQ(result.missing[0].path, "scale");
  EXPECT_EQ(numbers(model.scale), (Floats{1, 1}));
  EXPECT_EQ(numbers(*model.output.bias), (Floats{0, 1}));
}

TEST(ScopeModelWeights, PartOfAModelIsLoadedAndSaved) {
  const TempDir folder;
  const Model trained;
  save_into(trained, SafetensorsStore::from_file(folder.file("model.safetensors"))).value();

  // Load only the encoder.
  Model model;
  const auto before = bytes_by_path(model.decoder);
  auto store = SafetensorsStore::from_file(folder.file("model.safetensors"))
                   .with_regex(R"(^encoder\..*)")
                   .allow_partial(true);
  const ApplyResult result = load_from(model, store).value();
  EXPECT_EQ(result.applied.size(), 6u);
  EXPECT_EQ(result.skipped.size(), 3u);
  EXPECT_EQ(bytes_by_path(model.encoder), bytes_by_path(trained.encoder));
  EXPECT_EQ(bytes_by_path(model.decoder), before);

  // Save only the encoder.
  auto encoder =
      SafetensorsStore::from_file(folder.file("encoder.safetensors")).with_regex(R"(^encoder\..*)");
  save_into(model, encoder).value();
  EXPECT_EQ(encoder.keys().value(), encoder_names);
}

// ---- Indices ----

TEST(ScopeModelWeights, GapsInIndicesAreClosedUnlessToldOtherwise) {
  const TempDir folder;
  StateDict dict;
  for (const char* name : {"fc.0.weight", "fc.2.weight", "fc.4.weight"}) dict.add(name, {2, 2});
  write_file(folder.file("model.pt"), dict.file());
  EXPECT_EQ(PytorchStore::from_file(folder.file("model.pt")).keys().value(),
            (Names{"fc.0.weight", "fc.1.weight", "fc.2.weight"}));

  auto store = PytorchStore::from_file(folder.file("model.pt")).map_indices_contiguous(false);
  EXPECT_EQ(store.keys().value(), (Names{"fc.0.weight", "fc.2.weight", "fc.4.weight"}));
}

// ---- Zero-copy ----

bool is_inside(const Param& param, std::span<const std::byte> memory) {
  const std::byte* data = param.val().value().bytes().data();
  return data >= memory.data() && data < memory.data() + memory.size();
}

TEST(ScopeModelWeights, AModelBorrowsFromTheProgramAndFromAMappedFile) {
  const TempDir folder;
  const Model trained;
  auto file = BurnpackStore::from_file(folder.file("large_model.bpk"));
  save_into(trained, file).value();

  // In place of a file that andiron_embed_weights() put into the program.
  alignas(256) static std::array<std::byte, 8192> model_data;
  const std::string content = read_file(folder.file("large_model.bpk"));
  ASSERT_LE(content.size(), model_data.size());
  std::memcpy(model_data.data(), content.data(), content.size());
  const std::span<const std::byte> embedded = std::span(model_data).first(content.size());
  Model from_program;
  load_from(from_program, BurnpackStore::from_static(embedded)).value();
  EXPECT_TRUE(is_inside(from_program.encoder.layer0.weight, embedded));
  EXPECT_EQ(bytes_by_path(from_program), bytes_by_path(trained));

  Model from_file;
  auto store = BurnpackStore::from_file(folder.file("large_model.bpk")).zero_copy(true);
  load_from(from_file, store).value();
  Tensor weight = from_file.encoder.layer0.weight.val().value();
  EXPECT_TRUE(weight.writable().empty());  // it is the mapping's memory, not the parameter's
  EXPECT_EQ(bytes_by_path(from_file), bytes_by_path(trained));
}

// ---- Without a model ----

TEST(ScopeModelWeights, TensorsAreInspectedWithoutAModel) {
  const TempDir folder;
  write_file(
      folder.file("model.pt"),
      StateDict().add("encoder.layer0.weight", {4, 3}).add("encoder.layer0.bias", {4}).file());
  auto store = PytorchStore::from_file(folder.file("model.pt"));
  EXPECT_EQ(store.keys().value(), (Names{"encoder.layer0.bias", "encoder.layer0.weight"}));

  std::ostringstream out;
  if (auto snapshot = store.get_snapshot("encoder.layer0.weight").value()) {
    out << "Shape: " << snapshot->shape() << ", DType: " << snapshot->dtype();
  }
  EXPECT_EQ(out.str(), "Shape: [4, 3], DType: f32");
  EXPECT_FALSE(store.get_snapshot("encoder.layer9.weight").value().has_value());
}

TEST(ScopeModelWeights, WeightsAreTransferredBetweenModels) {
  const Model model1;
  Model model2;
  apply(model2, collect(model1).value()).value();
  EXPECT_EQ(bytes_by_path(model2), bytes_by_path(model1));

  Model model3;
  const auto before = bytes_by_path(model3.decoder);
  const PathFilter filter = PathFilter().with_regex(R"(^encoder\..*)");
  const Snapshots snapshots = collect(model1, {.filter = filter}).value();
  EXPECT_EQ(snapshots.size(), 6u);
  apply(model3, snapshots, {.filter = filter}).value();
  EXPECT_EQ(bytes_by_path(model3.encoder), bytes_by_path(model1.encoder));
  EXPECT_EQ(bytes_by_path(model3.decoder), before);
}

// ---- Troubleshooting ----

TEST(ScopeModelWeights, AWholeModelOfPytorchIsReadLikeItsStateDict) {
  const std::string folder = test_data() + "/torch-2.15/";
  const Names names = PytorchStore::from_file(folder + "whole_module.pt").keys().value();
  EXPECT_EQ(names, PytorchStore::from_file(folder + "net_state_dict.pt").keys().value());
}

TEST(ScopeModelWeights, AnotherArchitectureIsRefusedWithBothShapes) {
  struct Wide {
    nn::Conv2d conv1 = nn::Conv2dConfig({2, 4}, {2, 2}).init();
    nn::Conv2d conv2 = nn::Conv2dConfig({4, 2}, {2, 2}).with_bias(false).init();
    ANDIRON_MODULE(Wide, conv1, conv2)
  } model;
  const Result<ApplyResult> refused = load_from(model, PytorchStore::from_file(conv2d_pt()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::shape_mismatch);
  EXPECT_EQ(refused.error().found, "[2, 2, 2, 2]");
  EXPECT_EQ(refused.error().expected, "[4, 2, 2, 2]");
}

TEST(ScopeModelWeights, NamesThatDoNotMatchAreListed) {
  const TempDir folder;
  write_file(folder.file("model.pt"), StateDict().add("net.scale", {2}).file());
  auto store = PytorchStore::from_file(folder.file("model.pt"));
  EXPECT_EQ(store.keys().value(), Names{"net.scale"});
  struct Scaled {
    Param scale = Tensor::zeros(DType::f32, {2}).value();
    ANDIRON_MODULE(Scaled, scale)
  } model;
  const Result<ApplyResult> refused = load_from(model, store);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().report->missing[0].did_you_mean, "net.scale");
  load_from(model, store.with_key_remapping(R"(^net\.)", "")).value();
  EXPECT_EQ(numbers(model.scale), (Floats{0, 1}));
}

}  // namespace
}  // namespace andiron::test::scope::model_weights
