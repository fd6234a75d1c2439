// SPDX-License-Identifier: MIT OR Apache-2.0
// Burn's recorders, as the programs that used them did.
#include "andiron/recorder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/nn/conv.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/open.h"
#include "andiron/stores.h"
#include "tests/store/recorder_cases.h"
#include "tests/support/module_fingerprint.h"
#include "tests/support/param_numbers.h"
#include "tests/support/places.h"
#include "tests/support/state_dict.h"
#include "tests/support/temp_dir.h"

namespace andiron::test::recorder_cases {
namespace {

// ---- What the documents show ----

TEST(Recorder, LoadsAPytorchFileIntoAModel) {
  const std::string path = torch_layer("conv2d/conv2d");
  const Record record = PyTorchFileRecorder<FullPrecisionSettings>().load(path).value();
  Net model;
  const ApplyResult result = load_record(model, record).value();
  EXPECT_EQ(result.applied, (Names{"conv1.weight", "conv1.bias", "conv2.weight"}));
  EXPECT_TRUE(result.unused.empty());
  EXPECT_TRUE(result.notes.empty());
  EXPECT_EQ(numbers(model.conv1.weight), stored(path, "conv1.weight"));
}

TEST(Recorder, LoadsASafetensorsFileIntoAModel) {
  const TempDir folder;
  const std::string path = as_safetensors(folder, "conv2d/conv2d", "conv2d");
  const Record record = SafetensorsFileRecorder<FullPrecisionSettings>().load(path).value();
  Net model;
  EXPECT_EQ(load_record(model, record).value().applied.size(), 3u);
  EXPECT_EQ(numbers(model.conv2.weight), stored(path, "conv2.weight"));
}

TEST(Recorder, ConvertsAPytorchFileToBurnsOwnThroughAModel) {
  const TempDir folder;
  const std::string path = torch_layer("linear/linear");
  Layers converted;
  load_file(converted, path, PyTorchFileRecorder<FullPrecisionSettings>()).value();
  const NamedMpkFileRecorder<FullPrecisionSettings> recorder;
  recorder.record(into_record(converted).value(), folder.file("model.mpk")).value();

  Layers model;
  load_record(model, recorder.load(folder.file("model.mpk")).value()).value();
  EXPECT_EQ(numbers(model.fc1.weight), stored(path, "fc1.weight", true));
  EXPECT_EQ(fingerprint(model), fingerprint(converted));
}

TEST(Recorder, ARecordInPytorchsLayoutIsNotWrittenAndTheErrorSaysWhatToDo) {
  const TempDir folder;
  const Record record = PyTorchFileRecorder().load(torch_layer("linear/linear")).value();
  const auto refused = NamedMpkFileRecorder().record(record, folder.file("model"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_TRUE(contains(refusal(refused), "PyTorch's layout")) << refusal(refused);
  EXPECT_TRUE(contains(refusal(refused), "load_record(model, record), then write into_record"));
  EXPECT_TRUE(folder.names().empty());
}

TEST(Recorder, ARecordOfConvolutionsAloneIsTheSameInBothLayoutsAndIsWritten) {
  const TempDir folder;
  struct Convolutions {
    nn::Conv2d conv1 = nn::Conv2dConfig({2, 3}, {2, 2}).init();
    nn::ConvTranspose2d conv2 = nn::ConvTranspose2dConfig({3, 1}, {2, 2}).with_bias(false).init();
    ANDIRON_MODULE(Convolutions, conv1, conv2)
  } model;
  StateDict dict;
  dict.add("conv1.weight", {3, 2, 2, 2}).add("conv1.bias", {3}, 50);
  dict.add("conv2.weight", {3, 1, 2, 2}, 80);
  write_file(folder.file("model.pt"), dict.file());
  const Record record = PyTorchFileRecorder().load(folder.file("model.pt")).value();
  NamedMpkFileRecorder().record(record, folder.file("model.mpk")).value();
  load_file(model, folder.file("model.mpk"), NamedMpkFileRecorder()).value();
  EXPECT_EQ(numbers(*model.conv1.bias), (Floats{50, 51, 52}));
  EXPECT_EQ(numbers(model.conv2.weight)[11], 91);

  // A bias alone, or a norm beside them, is not known to be a convolution's.
  for (const char* name : {"scale.bias", "norm.weight", "conv1.running_mean"}) {
    StateDict more = dict;
    more.add(name, {3});
    write_file(folder.file("more.pt"), more.file());
    const Record other = PyTorchFileRecorder().load(folder.file("more.pt")).value();
    EXPECT_EQ(NamedMpkFileRecorder().record(other, folder.file("more")).error().code,
              ErrorCode::unsupported);
  }
}

TEST(Recorder, AModuleThatIsTooShortIsRefusedUnlessToldOtherwise) {
  const TempDir folder;
  const std::string path = folder.file("long.mpk");
  save_file(std::vector<nn::Linear>(3, nn::LinearConfig(2, 2).init()), path, DefaultRecorder())
      .value();
  std::vector<nn::Linear> two(2, nn::LinearConfig(2, 2).init());
  EXPECT_EQ(load_file(two, path, DefaultRecorder()).error().code, ErrorCode::unused_tensor);
  EXPECT_TRUE(load_file(two, LoadArgs(path).allow_unused(), DefaultRecorder()));
  EXPECT_TRUE(load_file(two, LoadArgs(path).allow_partial(), DefaultRecorder()));
}

TEST(Recorder, ARecordWithoutAnAdapterIsWrittenDirectly) {
  const TempDir folder;
  const std::string path = folder.file("burn.safetensors");
  const Layers original;
  save_into(original, SafetensorsStore::from_file(path)).value();
  const Record record = SafetensorsFileRecorder()
                            .load(LoadArgs(path).with_adapter_type(AdapterType::NoAdapter))
                            .value();
  NamedMpkFileRecorder().record(record, folder.file("model.mpk")).value();
  Layers model;
  load_file(model, folder.file("model.mpk"), NamedMpkFileRecorder()).value();
  EXPECT_EQ(bytes_by_path(model), bytes_by_path(original));
}

TEST(Recorder, SafetensorsAreInPytorchsLayoutUnlessToldOtherwise) {
  const TempDir folder;
  const std::string path = as_safetensors(folder, "linear/linear", "linear");
  Layers model;
  const SafetensorsFileRecorder<FullPrecisionSettings> recorder;
  load_record(model, recorder.load(path).value()).value();
  EXPECT_EQ(numbers(model.fc1.weight), stored(path, "fc1.weight", true));

  Layers again;
  load_file(again, LoadArgs(path).with_adapter_type(AdapterType::PyTorch), recorder).value();
  EXPECT_EQ(bytes_by_path(again), bytes_by_path(model));

  const auto refused =
      load_file(model, LoadArgs(path).with_adapter_type(AdapterType::NoAdapter), recorder);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::shape_mismatch);
}

TEST(Recorder, NormsOfPytorchAreRenamed) {
  struct Normed {
    nn::BatchNorm norm1 = nn::BatchNormConfig(5).init();
    ANDIRON_MODULE(Normed, norm1)
  } model;
  const std::string path = torch_layer("batch_norm/batch_norm2d");
  load_file(model, path, PyTorchFileRecorder()).value();
  EXPECT_EQ(numbers(model.norm1.gamma), stored(path, "norm1.weight"));
  EXPECT_EQ(numbers(model.norm1.running_var), stored(path, "norm1.running_var"));
}

TEST(Recorder, KeysAreRemapped) {
  const TempDir folder;
  const std::string path = torch_layer("key_remap/key_remap");
  Net model;
  const auto args = LoadArgs(path).with_key_remap("conv\\.(.*)", "$1");
  load_record(model, PyTorchFileRecorder().load(args).value()).value();
  EXPECT_EQ(numbers(model.conv1.weight), stored(path, "conv.conv1.weight"));
  const std::string safetensors = as_safetensors(folder, "key_remap/key_remap", "key_remap");
  load_file(model, LoadArgs(safetensors).with_key_remap("conv\\.(.*)", "$1"),
            SafetensorsFileRecorder())
      .value();
}

TEST(Recorder, RulesForKeysRunOneAfterTheOther) {
  LoadArgs args(torch_layer("key_remap_chained/key_remap"));
  args.with_key_remap(R"(^layer\.(\d+)\.block\.0\.)", "layer.$1.conv.");
  args.with_key_remap(R"(^layer\.(\d+)\.block\.1\.)", "layer.$1.bn.");
  const Archive tensors = PyTorchFileRecorder().load(args).value().archive().value();
  EXPECT_TRUE(tensors.find("layer.1.conv.weight"));
  EXPECT_TRUE(tensors.find("layer.0.bn.running_mean"));
}

constexpr std::string_view remapped_keys = R"(Debug information of keys and tensor shapes:
---
Original Key: conv.conv1.bias
Remapped Key: conv1.bias
Shape: [2]
Dtype: F32
---
Original Key: conv.conv1.weight
Remapped Key: conv1.weight
Shape: [2, 2, 2, 2]
Dtype: F32
---
Original Key: conv.conv2.weight
Remapped Key: conv2.weight
Shape: [2, 2, 2, 2]
Dtype: F32
---
)";

TEST(Recorder, PrintsOriginalAndRemappedKeys) {
  std::ostringstream out;
  const auto args = LoadArgs(torch_layer("key_remap/key_remap"))
                        .with_key_remap("conv\\.(.*)", "$1")
                        .with_debug_print(out);
  const Record record = PyTorchFileRecorder().load(args).value();
  EXPECT_EQ(out.str(), remapped_keys);
  Net model;
  load_record(model, record).value();
  EXPECT_EQ(out.str(), remapped_keys);
}

TEST(Recorder, GapsInIndicesAreClosedInBothForeignRecorders) {
  struct Listed {
    std::vector<nn::Conv2d> fc =
        std::vector<nn::Conv2d>(5, nn::Conv2dConfig({2, 2}, {3, 3}).init());
    ANDIRON_MODULE(Listed, fc)
  };
  const TempDir folder;
  const std::string layer = "non_contiguous_indexes/non_contiguous_indexes";
  const std::string path = torch_layer(layer);
  Listed model;
  EXPECT_EQ(load_file(model, path, PyTorchFileRecorder()).value().applied.size(), 10u);
  EXPECT_EQ(numbers(model.fc[4].weight), stored(path, "fc.8.weight"));
  Listed other;
  load_file(other, as_safetensors(folder, layer, "gaps"), SafetensorsFileRecorder()).value();
  EXPECT_EQ(bytes_by_path(other), bytes_by_path(model));
}

TEST(Recorder, ATopLevelKeyIsTakenOff) {
  struct One {
    nn::Conv2d conv1 = nn::Conv2dConfig({2, 2}, {2, 2}).init();
    ANDIRON_MODULE(One, conv1)
  } model;
  const std::string path = torch_layer("top_level_key/top_level_key");
  EXPECT_FALSE(load_file(model, path, PyTorchFileRecorder()));
  load_file(model, LoadArgs(path).with_top_level_key("my_state_dict"), PyTorchFileRecorder())
      .value();
  EXPECT_EQ(numbers(model.conv1.weight), stored(path, "my_state_dict.conv1.weight"));
  EXPECT_EQ(PyTorchFileRecorder().load(LoadArgs(path).with_top_level_key("other")).error().code,
            ErrorCode::missing_tensor);
}

TEST(Recorder, PartOfAFileIsLoadedIntoASmallerModel) {
  struct Head {
    nn::Linear fc2 = nn::LinearConfig(12, 10).init();
    ANDIRON_MODULE(Head, fc2)
  } head;
  const std::string path = torch_layer("complex_nested/complex_nested");
  const ApplyResult result = load_file(head, path, PyTorchFileRecorder()).value();
  EXPECT_EQ(result.applied, (Names{"fc2.weight", "fc2.bias"}));
  EXPECT_FALSE(result.unused.empty());
}

TEST(Recorder, VariantsAreFilledWithoutTheirNamesAndChosenByTheFile) {
  struct Depthwise {
    nn::Conv2d dconv = nn::Conv2dConfig({2, 2}, {3, 3}).with_groups(2).init();
    nn::Conv2d pconv = nn::Conv2dConfig({2, 2}, {1, 1}).init();
    ANDIRON_MODULE(Depthwise, dconv, pconv)
  };
  struct Chosen {
    std::variant<nn::Conv2d, Depthwise> conv = nn::Conv2dConfig({2, 2}, {3, 3}).init();
    ANDIRON_MODULE(Chosen, conv)
  } model;
  const TempDir folder;
  load_file(model, torch_layer("enum_module/enum_depthwise_false"), PyTorchFileRecorder()).value();
  const std::string layer = "enum_module/enum_depthwise_true";
  for (const std::string& path : {torch_layer(layer), as_safetensors(folder, layer, "enum")}) {
    model = Chosen();
    const Record record = PyTorchFileRecorder().load(path).value();
    EXPECT_EQ(load_record(model, record).value().applied.size(), 4u);
    EXPECT_TRUE(std::holds_alternative<Depthwise>(model.conv));
  }
  Chosen other;
  const Record record = into_record(model).value();
  EXPECT_EQ(choose_variants(other, record).value().front().name, "Depthwise");
  load_record(other, record).value();
  EXPECT_EQ(bytes_by_path(other), bytes_by_path(model));
}

// ---- What is missing ----

TEST(Recorder, AMissingTensorIsAnErrorWithTheReport) {
  Net model;
  const std::string before = fingerprint(model);
  const std::string path = torch_layer("missing_module_field/missing_module_field");
  const auto refused = load_file(model, path, PyTorchFileRecorder());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::missing_tensor);
  EXPECT_EQ(refused.error().tensor, "conv2.weight");
  ASSERT_NE(refused.error().report, nullptr);
  EXPECT_EQ(refused.error().report->missing.size(), 1u);
  EXPECT_FALSE(refused.error().report->proposals.empty());
  EXPECT_EQ(fingerprint(model), before);

  const ApplyResult part =
      load_file(model, LoadArgs(path).allow_partial(true), PyTorchFileRecorder()).value();
  EXPECT_EQ(part.missing.size(), 1u);
  EXPECT_EQ(part.applied.size(), 2u);
}

TEST(Recorder, AnOptionalParameterThatTheFileLacksIsMissingToo) {
  struct Both {
    nn::Linear fc1 = nn::LinearConfig(2, 3).init();
    nn::Linear fc2 = nn::LinearConfig(3, 4).init();  // the file has no bias for it
    ANDIRON_MODULE(Both, fc1, fc2)
  } model;
  const std::string path = torch_layer("linear/linear");
  const auto refused = load_file(model, path, PyTorchFileRecorder());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().tensor, "fc2.bias");
  load_file(model, LoadArgs(path).allow_partial(), PyTorchFileRecorder()).value();
  model.fc2.bias.reset();
  load_file(model, path, PyTorchFileRecorder()).value();
}

TEST(Recorder, ARecordOfAnotherModuleIsRefusedWithTheReport) {
  Net model;
  const auto refused = load_record(model, into_record(Layers()).value());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::missing_tensor);
  ASSERT_NE(refused.error().report, nullptr);
  EXPECT_EQ(refused.error().report->missing.size(), 3u);
}

TEST(Recorder, AParameterThatIsNotSetMakesNoRecord) {
  struct Unset {
    Param weight;
    ANDIRON_MODULE(Unset, weight)
  };
  EXPECT_EQ(into_record(Unset()).error().code, ErrorCode::missing_tensor);
  const TempDir folder;
  EXPECT_FALSE(save_file(Unset(), folder.file("m"), DefaultRecorder()));
  EXPECT_TRUE(folder.names().empty());
}

// ---- Files ----

TEST(Recorder, TheExtensionOfAPathIsSet) {
  const TempDir folder;
  const Net model;
  const auto written = [&](const std::string& path, const FileRecorder& recorder) {
    const std::string file = save_file(model, folder.file(path), recorder).value().files.front();
    Net loaded;
    load_file(loaded, folder.file(path), recorder).value();
    EXPECT_EQ(bytes_by_path(loaded), bytes_by_path(model)) << path;
    return std::filesystem::path(file).filename().string();
  };
  const NamedMpkFileRecorder<FullPrecisionSettings> plain;
  EXPECT_EQ(written("a", plain), "a.mpk");
  EXPECT_EQ(written("a.mpk", plain), "a.mpk");
  EXPECT_EQ(written("a.bin", plain), "a.mpk");
  EXPECT_EQ(written("a.v1.x", plain), "a.v1.mpk");
  EXPECT_EQ(written("a.", plain), "a.mpk");
  EXPECT_EQ(written(".hidden", plain), ".hidden.mpk");
  EXPECT_EQ(written(".mpk", plain), ".mpk.mpk");
  const NamedMpkGzFileRecorder<FullPrecisionSettings> compressed;
  EXPECT_EQ(written("b", compressed), "b.mpk.gz");
  EXPECT_EQ(written("b.mpk", compressed), "b.mpk.gz");
  // Burn would write b.mpk.mpk.gz.
  EXPECT_EQ(written("b.mpk.gz", compressed), "b.mpk.gz");
  EXPECT_TRUE(read_file(folder.file("b.mpk.gz")).starts_with("\x1f\x8b"));
  EXPECT_EQ(PrettyJsonFileRecorder().file_extension(), ".json");
  EXPECT_EQ(PyTorchFileRecorder().file_extension(), "");
}

TEST(Recorder, AFileThatIsNotThereIsNamedWithTheExtensionThatWasSet) {
  const TempDir folder;
  const auto missing = DefaultRecorder().load(folder.file("model.v1"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_TRUE(contains(missing.error().file, "model.mpk"));
  EXPECT_TRUE(contains(missing.error().hint, "model.v1")) << missing.error().hint;
  EXPECT_EQ(PyTorchFileRecorder().load(folder.file("none.pt")).error().code, ErrorCode::not_found);
  EXPECT_EQ(BinFileRecorder().load(folder.file("none")).error().code, ErrorCode::not_found);
  Net model;
  EXPECT_EQ(load_file(model, folder.file("none"), DefaultRecorder()).error().code,
            ErrorCode::not_found);
}

TEST(Recorder, AnExistingFileIsReplaced) {
  const TempDir folder;
  const std::string path = folder.file("model");
  save_file(Net(), path, DefaultRecorder()).value();
  const Net second;
  save_file(second, path, DefaultRecorder()).value();
  Net loaded;
  load_file(loaded, path, DefaultRecorder()).value();
  EXPECT_EQ(fingerprint(loaded), fingerprint(second));
  EXPECT_EQ(folder.names(), Names{"model.mpk"});
}

TEST(Recorder, ARecordMayReplaceTheFileItComesFrom) {
  const TempDir folder;
  const std::string path = folder.file("model.mpk");
  const Net model;
  save_file(model, path, DefaultRecorder()).value();
  const std::string before = read_file(path);
  DefaultRecorder().record(DefaultRecorder().load(path).value(), path).value();
  EXPECT_EQ(read_file(path), before);
}

TEST(Recorder, AFolderThatIsNotThereIsAnError) {
  const TempDir folder;
  const auto refused = save_file(Net(), folder.file("no/model"), DefaultRecorder());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
}

TEST(Recorder, WhatCannotBeWrittenSaysWhatToUse) {
  const TempDir folder;
  const Net model;
  struct Case {
    FileRecorder recorder;
    std::string_view name;
    std::string_view instead;
  };
  const Case cases[] = {
      {PyTorchFileRecorder(), "PyTorchFileRecorder", "with_to_adapter(BurnToPyTorchAdapter())"},
      {SafetensorsFileRecorder(), "SafetensorsFileRecorder", "SafetensorsStore"},
      {BinFileRecorder(), "BinFileRecorder", "NamedMpkFileRecorder"},
      {BinGzFileRecorder(), "BinGzFileRecorder", "NamedMpkGzFileRecorder"},
      {PrettyJsonFileRecorder(), "PrettyJsonFileRecorder", "NamedMpkFileRecorder"},
      {JsonGzFileRecorder(), "JsonGzFileRecorder", "NamedMpkGzFileRecorder"},
      {SensitiveCompactRecorder(), "BinGzFileRecorder", "NamedMpkGzFileRecorder"},
  };
  for (const Case& one : cases) {
    const auto refused = save_file(model, folder.file("model"), one.recorder);
    ASSERT_FALSE(refused) << one.name;
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_TRUE(contains(refused.error().message, one.name)) << refused.error().message;
    EXPECT_TRUE(contains(refused.error().hint, one.instead)) << refused.error().hint;
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(Recorder, ABadPatternIsToldByLoad) {
  const auto refused =
      PyTorchFileRecorder().load(LoadArgs(torch_layer("conv2d/conv2d")).with_key_remap("(", ""));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_pattern);
}

TEST(Recorder, NamesThatBecomeOneAreToldByLoad) {
  const auto refused = PyTorchFileRecorder().load(
      LoadArgs(torch_layer("conv2d/conv2d")).with_key_remap(R"(conv\d)", "conv"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::name_collision);
}

// ---- Debug print ----

std::string printed(LoadArgs args, const FileRecorder& recorder = SafetensorsFileRecorder()) {
  std::ostringstream out;
  const auto loaded = recorder.load(args.with_debug_print(out));
  EXPECT_TRUE(loaded) << loaded.error().to_string();
  return out.str();
}

TEST(RecorderDebugPrint, AKeyThatDoesNotChangeIsOneLine) {
  const TempDir folder;
  Archive archive;
  archive.add({"b", Tensor::zeros(DType::boolean, {}).value()}).value();
  archive.add({"a", Tensor::zeros(DType::bf16, {2, 0}).value()}).value();
  archive.add({"c", Tensor::zeros(DType::i64, {1}).value()}).value();
  write(archive, folder.file("m.safetensors")).value();
  EXPECT_EQ(printed(folder.file("m.safetensors")), R"(Debug information of keys and tensor shapes:
---
Key: a
Shape: [2, 0]
Dtype: BF16
---
Key: b
Shape: []
Dtype: Bool
---
Key: c
Shape: [1]
Dtype: I64
---
)");
}

TEST(RecorderDebugPrint, ShowsTheNamesThatTheModuleMustHave) {
  const TempDir folder;
  Archive archive;
  for (const char* name : {"top.net.0.w", "top.net.2.w", "other.w"}) {
    archive.add({name, Tensor::zeros(DType::f16, {1}).value()}).value();
  }
  write(archive, folder.file("m.safetensors")).value();
  const auto args = LoadArgs(folder.file("m.safetensors"))
                        .with_top_level_key("top")
                        .with_key_remap("^net", "layers");
  EXPECT_EQ(printed(args), R"(Debug information of keys and tensor shapes:
---
Original Key: net.0.w
Remapped Key: layers.0.w
Shape: [1]
Dtype: F16
---
Original Key: net.2.w
Remapped Key: layers.1.w
Shape: [1]
Dtype: F16
---
)");
}

TEST(RecorderDebugPrint, IsSortedByTheNewNames) {
  const TempDir folder;
  Archive archive;
  for (const char* name : {"a", "b"}) {
    archive.add({name, Tensor::zeros(DType::f32, {1}).value()}).value();
  }
  write(archive, folder.file("m.safetensors")).value();
  const std::string text =
      printed(LoadArgs(folder.file("m.safetensors")).with_key_remap("^a$", "z"));
  EXPECT_LT(text.find("Key: b\n"), text.find("Remapped Key: z\n")) << text;
}

TEST(RecorderDebugPrint, NamesAreSafeToPrint) {
  const TempDir folder;
  Archive archive;
  archive.add({"a\x1b[2J\nKey: b", Tensor::zeros(DType::f32, {1}).value()}).value();
  write(archive, folder.file("m.safetensors")).value();
  const std::string text = printed(folder.file("m.safetensors"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_TRUE(contains(text, "Key: a\\x1b[2J\\nKey: b\n")) << text;
}

TEST(RecorderDebugPrint, PrintsQuantizedTensorsOfARecord) {
  const std::string text = printed(test_data() + "/mpk-0.21.0/quantized.mpk", DefaultRecorder());
  EXPECT_TRUE(contains(text, "Key: weight\nShape: [4, 8]\nDtype: QFloat\n")) << text;
}

TEST(RecorderDebugPrint, NothingIsPrintedOfAFileThatCannotBeLoaded) {
  std::ostringstream out;
  EXPECT_FALSE(PyTorchFileRecorder().load(
      LoadArgs(torch_layer("conv2d/conv2d")).with_key_remap("(", "").with_debug_print(out)));
  EXPECT_EQ(out.str(), "");
}

// ---- Lifetimes ----

static_assert(std::is_same_v<decltype(std::declval<LoadArgs>().with_key_remap("", "")), LoadArgs>);
static_assert(std::is_same_v<decltype(std::declval<LoadArgs>().with_top_level_key("")), LoadArgs>);
static_assert(
    std::is_same_v<decltype(std::declval<LoadArgs>().with_adapter_type(AdapterType::PyTorch)),
                   LoadArgs>);
static_assert(std::is_same_v<
              decltype(std::declval<LoadArgs>().with_debug_print(std::declval<std::ostream&>())),
              LoadArgs>);
static_assert(std::is_same_v<decltype(std::declval<LoadArgs>().allow_partial()), LoadArgs>);
static_assert(
    std::is_same_v<decltype(std::declval<LoadArgs&>().with_key_remap("", "")), LoadArgs&>);

template <class Out>
concept CanBePrintedTo = requires(LoadArgs args) { args.with_debug_print(std::declval<Out>()); };
static_assert(CanBePrintedTo<std::ostringstream&>);
static_assert(!CanBePrintedTo<std::ostringstream>);  // it would be gone when load() prints

TEST(RecorderLifetime, ARecordOutlivesTheRecorderTheArgumentsTheStreamAndTheFilesName) {
  const TempDir folder;
  const std::string path = folder.file("m.safetensors");
  const Layers original;
  save_into(original, SafetensorsStore::from_file(path).with_to_adapter(BurnToPyTorchAdapter()))
      .value();
  std::optional<Record> record;
  {
    auto out = std::make_unique<std::ostringstream>();
    auto args = std::make_unique<LoadArgs>(path);
    record = SafetensorsFileRecorder().load(args->with_debug_print(*out)).value();
  }
  std::filesystem::remove(path);
  Layers model;
  load_record(model, *record).value();
  const Record copy = *record;
  record.reset();
  Layers again;
  load_record(again, copy).value();
  EXPECT_EQ(bytes_by_path(again), bytes_by_path(original));
}

TEST(RecorderLifetime, ARecordOfAModuleKeepsItsValues) {
  const TempDir folder;
  std::optional<Layers> original = Layers();
  const auto bytes = bytes_by_path(*original);
  const Record record = into_record(*original).value();
  original->fc1.weight.as_mutable<float>().value()[0] += 1;
  original.reset();
  Layers model;
  load_record(model, record).value();
  EXPECT_EQ(bytes_by_path(model), bytes);
  DefaultRecorder().record(record, folder.file("m")).value();
}

TEST(Recorder, APathMayBeOfTheStandardLibrary) {
  const TempDir folder;
  const std::filesystem::path path = std::filesystem::path(folder.path()) / "layers.mpk";
  const Layers original;
  save_file(original, path, DefaultRecorder()).value();
  Layers model;
  load_record(model, DefaultRecorder().load(path).value()).value();
  EXPECT_EQ(bytes_by_path(model), bytes_by_path(original));
}

TEST(RecorderLifetime, ANamedLoadArgsCanBeUsedAgain) {
  LoadArgs args(torch_layer("key_remap/key_remap"));
  LoadArgs& same = args.with_key_remap("conv\\.(.*)", "$1");
  EXPECT_EQ(&same, &args);
  Net model;
  for (int i = 0; i < 2; ++i) load_file(model, args, PyTorchFileRecorder()).value();
}

TEST(Recorder, ARecordCanBeMadeOfAnyTensors) {
  const Layers original;
  Layers model;
  load_record(model, Record(collect_archive(original).value())).value();
  EXPECT_EQ(bytes_by_path(model), bytes_by_path(original));
}

TEST(Recorder, TheAliasesAreThoseOfBurn) {
  static_assert(std::is_same_v<DefaultRecorder, NamedMpkFileRecorder<FullPrecisionSettings>>);
  static_assert(std::is_same_v<CompactRecorder, NamedMpkFileRecorder<HalfPrecisionSettings>>);
  static_assert(std::is_same_v<SensitiveCompactRecorder, BinGzFileRecorder<HalfPrecisionSettings>>);
  static_assert(std::is_same_v<DefaultFileRecorder<DoublePrecisionSettings>,
                               NamedMpkFileRecorder<DoublePrecisionSettings>>);
  EXPECT_EQ(DefaultRecorder().file_extension(), ".mpk");
  EXPECT_EQ(SensitiveCompactRecorder().file_extension(), ".bin.gz");
}

}  // namespace
}  // namespace andiron::test::recorder_cases
