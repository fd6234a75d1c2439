// SPDX-License-Identifier: MIT OR Apache-2.0
// Behavior that burn-store users rely on, tested on whole models (listed in tests/burn_parity.md).
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "andiron/nn/conv.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/stores.h"
#include "tests/support/module_fingerprint.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

using test::bytes_by_path;
using test::TempDir;
using Names = std::vector<std::string>;

struct Coder {
  nn::Linear fc1 = nn::LinearConfig(3, 4).init();
  nn::Linear fc2 = nn::LinearConfig(4, 3).init();
  nn::LayerNorm norm = nn::LayerNormConfig(3).init();
  ANDIRON_MODULE(Coder, fc1, fc2, norm)
};

// Fourteen tensors.
struct Net {
  Coder encoder, decoder;
  nn::Linear head = nn::LinearConfig(3, 2).init();
  ANDIRON_MODULE(Net, encoder, decoder, head)
};

// A store in memory that holds `module`.
template <class M>
SafetensorsStore saved(const M& module, SafetensorsStore store = {}) {
  save_into(module, store).value();
  return SafetensorsStore::from_bytes(store.get_bytes().value());
}

// ---- Collecting ----

struct Leaf4 {
  nn::Linear fc = nn::LinearConfig(2, 2).init();
  Param scale = Tensor::zeros(DType::f32, {2}).value();
  ANDIRON_MODULE(Leaf4, fc, scale)
};
struct Level3 {
  Leaf4 left, right;
  ANDIRON_MODULE(Level3, left, right)
};
struct Level2 {
  Level3 block;
  nn::Linear extra = nn::LinearConfig(2, 2).init();
  ANDIRON_MODULE(Level2, block, extra)
};
struct Deep {
  Level2 encoder, decoder;
  nn::Linear head = nn::LinearConfig(2, 2).init();
  ANDIRON_MODULE(Deep, encoder, decoder, head)
};

TEST(BurnParity, ADeepModelGivesEveryTensorUnderItsPath) {
  const Deep model;
  EXPECT_EQ(
      collect(model)->keys(),
      (Names{"encoder.block.left.fc.weight", "encoder.block.left.fc.bias",
             "encoder.block.left.scale", "encoder.block.right.fc.weight",
             "encoder.block.right.fc.bias", "encoder.block.right.scale", "encoder.extra.weight",
             "encoder.extra.bias", "decoder.block.left.fc.weight", "decoder.block.left.fc.bias",
             "decoder.block.left.scale", "decoder.block.right.fc.weight",
             "decoder.block.right.fc.bias", "decoder.block.right.scale", "decoder.extra.weight",
             "decoder.extra.bias", "head.weight", "head.bias"}));
}

TEST(BurnParity, FiltersTakePartsOfADeepModel) {
  const Deep model;
  const auto count = [&](PathFilter filter) {
    return collect(model, {.filter = std::move(filter)})->size();
  };
  EXPECT_EQ(count(PathFilter().with_regex(R"(^encoder\.)")), 8u);
  EXPECT_EQ(count(PathFilter().with_regex(R"(\.left\.)")), 6u);
  EXPECT_EQ(count(PathFilter().with_regex(R"(weight$)")), 7u);
  EXPECT_EQ(count(PathFilter().with_regex(R"(^encoder\.)").with_regex(R"(bias$)")), 12u);
  EXPECT_EQ(count(PathFilter().with_predicate([](std::string_view path, const Container&) {
              return path.starts_with("decoder.") && !path.ends_with("scale");
            })),
            6u);
}

TEST(BurnParity, EveryTensorOfAModelOfLinearsSitsInALinear) {
  struct Linears {
    std::vector<nn::Linear> list;
    nn::Linear input, output;
    ANDIRON_MODULE(Linears, list, input, output)
  };
  Linears model;
  const nn::Linear linear = nn::LinearConfig(2, 2).init();
  model.list = {linear, linear, linear};
  model.input = model.output = linear;
  const Snapshots all = collect(model).value();
  EXPECT_EQ(all.size(), 10u);
  for (const TensorSnapshot& snapshot : all) {
    EXPECT_EQ(snapshot.container().module_type(), "Struct:Linear") << snapshot.full_path();
  }
}

// ---- Snapshots ----

TEST(BurnParity, AContainerTellsItsInnermostKindAndModule) {
  const Container in_list({"Struct:Net", "Struct:Linear", "Vec"});
  EXPECT_EQ(in_list.last(), "Vec");
  EXPECT_EQ(in_list.module_type(), "Struct:Linear");
  EXPECT_EQ(Container({"Struct:Net", "Enum:Layer"}).module_type(), "Enum:Layer");
  EXPECT_EQ(Container({"Vec", "Tuple"}).module_type(), "");
  EXPECT_EQ(Container().last(), "");
}

TEST(BurnParity, ASourceThatDoesNotHoldWhatWasDeclaredIsRefused) {
  const auto source = std::make_shared<test::TestSource>(std::vector<std::byte>(24));
  const auto declare = [&](std::uint64_t bytes, DType dtype) {
    return TensorSnapshot::from_source("t", source, 0, bytes, dtype, {2, 3}).error().code;
  };
  EXPECT_EQ(declare(24, DType::f64), ErrorCode::size_mismatch);
  EXPECT_EQ(declare(20, DType::f32), ErrorCode::size_mismatch);
  EXPECT_EQ(declare(48, DType::f64), ErrorCode::truncated);
}

TEST(BurnParity, ATensorIsReadOnceAndOnlyWhenItIsWritten) {
  const auto source = std::make_shared<test::TestSource>(std::vector<std::byte>(24));
  Archive archive;
  for (std::uint64_t i = 0; i < 3; ++i) {
    archive
        .add(TensorSnapshot::from_source(std::to_string(i), source, i * 8, 8, DType::f32, {2})
                 .value())
        .value();
  }
  EXPECT_EQ(source->reads(), 0u);
  write_to_memory(archive, {.format = Format::safetensors}).value();
  EXPECT_EQ(source->bytes_read(), 24u);
}

TEST(BurnParity, AViewThatIsStoredTransposedStaysOneThroughRemapping) {
  const TensorSnapshot stored("model.fc.weight", Tensor::zeros(DType::f32, {3, 2}).value());
  Archive archive;
  archive.add(stored.transpose(0, 1).value()).value();
  const Archive renamed = remap(archive, KeyRemapper().add_pattern(R"(^model\.)", "")).value();
  const TensorSnapshot view = renamed.get("fc.weight").value();
  EXPECT_FALSE(view.can_borrow());
  EXPECT_TRUE(view.transpose(0, 1).value().can_borrow());
  EXPECT_FALSE(view.cast(DType::f16).value().transpose(0, 1).value().can_borrow());
}

TEST(BurnParity, OneSnapshotIsReadFromSeveralThreads) {
  const TensorSnapshot snapshot = collect(Net())->operator[](0);
  const Tensor expected = snapshot.read().value();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      EXPECT_EQ(snapshot.read().value().to_vector<float>().value(),
                expected.to_vector<float>().value());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// ---- A whole model in a SafeTensors store ----

TEST(BurnParity, AModelComesBackWhole) {
  const Net model;
  const SafetensorsStore store = saved(model);
  Net loaded;
  const ApplyResult result = load_from(loaded, store).value();
  EXPECT_EQ(result.applied.size(), 14u);
  EXPECT_TRUE(result.is_success());
  EXPECT_TRUE(result.missing.empty());
  EXPECT_TRUE(result.unused.empty());
  EXPECT_EQ(bytes_by_path(loaded), bytes_by_path(model));
}

TEST(BurnParity, AFilterOnTheLoadTakesPartOfAWholeFile) {
  const SafetensorsStore store = saved(Net()).with_regex(R"(^encoder\..*)");
  Net loaded;
  const ApplyResult result = load_from(loaded, store).value();
  EXPECT_EQ(result.applied.size(), 6u);
  EXPECT_EQ(result.skipped.size(), 8u);
}

TEST(BurnParity, APartThatWasSavedThroughAFilterIsLoaded) {
  const Net model;
  SafetensorsStore part = SafetensorsStore().with_regex(R"(^encoder\..*)");
  const SafetensorsStore store = saved(model, part);
  EXPECT_EQ(store.keys()->size(), 6u);

  Net whole;
  EXPECT_EQ(load_from(whole, store).error().code, ErrorCode::missing_tensor);
  const ApplyResult partial = load_from(whole, SafetensorsStore(store).allow_partial()).value();
  EXPECT_EQ(partial.applied.size(), 6u);
  EXPECT_EQ(partial.missing.size(), 8u);

  // What the filter leaves out is not missed.
  const ApplyResult filtered =
      load_from(whole, SafetensorsStore(store).with_regex(R"(^encoder\..*)")).value();
  EXPECT_EQ(filtered.applied.size(), 6u);
  EXPECT_TRUE(filtered.missing.empty());
}

TEST(BurnParity, EveryKindOfCriterionSelectsWhatIsSaved) {
  const Net model;
  const auto keys = [&](SafetensorsStore store) { return saved(model, store).keys().value(); };
  EXPECT_EQ(keys(SafetensorsStore().with_full_paths({"head.bias", "encoder.fc1.weight", "none"})),
            (Names{"encoder.fc1.weight", "head.bias"}));
  EXPECT_EQ(keys(SafetensorsStore().with_regex("^head").with_full_path("encoder.norm.beta")),
            (Names{"encoder.norm.beta", "head.bias", "head.weight"}));
  EXPECT_EQ(keys(SafetensorsStore().with_regex("^head").match_all()).size(), 14u);
  const auto in_decoder_norm = [](std::string_view path, const Container& container) {
    return path.starts_with("decoder.") && container.is("LayerNorm");
  };
  EXPECT_EQ(keys(SafetensorsStore().with_predicate(in_decoder_norm)),
            (Names{"decoder.norm.beta", "decoder.norm.gamma"}));
}

TEST(BurnParity, TuplesAndNestedModulesComeBack) {
  struct Compose {
    std::tuple<nn::Linear, Coder> parts = {nn::LinearConfig(2, 3).init(), {}};
    std::vector<std::pair<nn::Linear, nn::LayerNorm>> list = {
        {nn::LinearConfig(1, 2).init(), nn::LayerNormConfig(2).init()}};
    ANDIRON_MODULE(Compose, parts, list)
  };
  const Compose model;
  Compose loaded;
  const ApplyResult result = load_from(loaded, saved(model)).value();
  EXPECT_EQ(result.applied.size(), 12u);
  EXPECT_EQ(bytes_by_path(loaded), bytes_by_path(model));
}

TEST(BurnParity, AShapeThatDoesNotFitIsRefusedOrReported) {
  const SafetensorsStore store = saved(nn::LinearConfig(3, 5).init());
  nn::Linear target = nn::LinearConfig(3, 4).init();
  const auto before = bytes_by_path(target);
  const Result<ApplyResult> refused = load_from(target, store);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::shape_mismatch);
  const ApplyResult reported = load_from(target, SafetensorsStore(store).validate(false)).value();
  EXPECT_EQ(reported.errors.size(), 2u);
  EXPECT_EQ(reported.errors[0].code, ErrorCode::shape_mismatch);
  EXPECT_EQ(bytes_by_path(target), before);
}

TEST(BurnParity, RunningStatisticsTakeTheIdsOfASource) {
  const nn::BatchNorm source = nn::BatchNormConfig(2).init();
  nn::BatchNorm target = nn::BatchNormConfig(2).init();
  apply(target, collect(source).value()).value();
  EXPECT_EQ(target.gamma.id(), source.gamma.id());
  EXPECT_EQ(target.running_mean.id(), source.running_mean.id());
}

// ---- Looking into a store ----

TEST(BurnParity, FilesAndMemoryShowTheSameTensors) {
  const TempDir dir;
  const std::string path = dir.file("model.safetensors");
  const Net model;
  save_into(model, SafetensorsStore::from_file(path)).value();
  for (const SafetensorsStore& store : {saved(model), SafetensorsStore::from_file(path)}) {
    EXPECT_EQ(store.keys()->size(), 14u);
    EXPECT_EQ(store.keys()->front(), "decoder.fc1.bias");
    EXPECT_EQ(store.get_all_snapshots()->keys(), store.keys().value());
    const std::optional<TensorSnapshot> bias = store.get_snapshot("encoder.fc1.bias").value();
    ASSERT_TRUE(bias.has_value());
    EXPECT_EQ(bias->shape(), Shape({4}));
    EXPECT_EQ(bias->read()->bytes().text(), bytes_by_path(model).at("encoder.fc1.bias"));
    EXPECT_EQ(bias->read()->bytes().text(),
              store.get_snapshot("encoder.fc1.bias").value()->read()->bytes().text());
    EXPECT_FALSE(store.get_snapshot("encoder.fc9.bias").value().has_value());
  }
}

TEST(BurnParity, AnOverwrittenFileHasTheMetadataOfTheNewSave) {
  const TempDir dir;
  const auto store = SafetensorsStore::from_file(dir.file("model.safetensors")).overwrite();
  save_into(Coder(), SafetensorsStore(store).metadata("version", "1").metadata("old", "x")).value();
  save_into(Coder(), SafetensorsStore(store).metadata("version", "2")).value();
  const Metadata metadata = store.get_metadata().value();
  EXPECT_EQ(metadata.at("version"), "2");
  EXPECT_FALSE(metadata.contains("old"));
}

TEST(BurnParity, ClearedMetadataIsNotWritten) {
  EXPECT_TRUE(saved(Coder(), SafetensorsStore().clear_metadata()).get_metadata()->empty());
}

// ---- Dtypes ----

struct Mixed {
  Param floats = Tensor::from_values<float>({4}, {1.5F, -2, 0, 3.25F}).value();
  Param doubles = Tensor::from_values<double>({2}, {0.1, -1e300}).value();
  Param longs = Tensor::from_values<std::int64_t>({2}, {-7, 1LL << 40}).value();
  Param ints = Tensor::from_values<std::int32_t>({2}, {-7, 7}).value();
  Param shorts = Tensor::from_values<std::int16_t>({1}, {-300}).value();
  Param bytes = Tensor::from_values<std::uint8_t>({2}, {0, 255}).value();
  Param flags = Tensor::from_values<bool>({3}, {true, false, true}).value();
  ANDIRON_MODULE(Mixed, floats, doubles, longs, ints, shorts, bytes, flags)
};

TEST(BurnParity, AModelOfManyDtypesComesBack) {
  const Mixed model;
  const SafetensorsStore store = saved(model);
  const auto dtype = [&](const char* name) { return store.get_snapshot(name).value()->dtype(); };
  EXPECT_EQ(dtype("floats"), DType::f32);
  EXPECT_EQ(dtype("doubles"), DType::f64);
  EXPECT_EQ(dtype("longs"), DType::i64);
  EXPECT_EQ(dtype("ints"), DType::i32);
  EXPECT_EQ(dtype("shorts"), DType::i16);
  EXPECT_EQ(dtype("bytes"), DType::u8);
  EXPECT_EQ(dtype("flags"), DType::boolean);
  Mixed loaded;
  loaded.floats = Tensor::zeros(DType::f32, {4}).value();
  loaded.flags = Tensor::zeros(DType::boolean, {3}).value();
  EXPECT_EQ(load_from(loaded, store)->applied.size(), 7u);
  EXPECT_EQ(bytes_by_path(loaded), bytes_by_path(model));
}

// ---- Adapters ----

TEST(BurnParity, WithoutAnAdapterNamesAndLayoutStay) {
  const SafetensorsStore store = saved(Net());
  EXPECT_EQ(store.get_snapshot("encoder.fc1.weight").value()->shape(), Shape({3, 4}));
  EXPECT_TRUE(store.get_snapshot("encoder.norm.gamma").value().has_value());
}

struct Halved {
  nn::Linear fc = nn::LinearConfig(3, 4).init();
  nn::LayerNorm norm = nn::LayerNormConfig(4).init();
  Param scale = Tensor::from_values<float>({1}, {0.1F}).value();
  ANDIRON_MODULE(Halved, fc, norm, scale)
};

TEST(BurnParity, HalfPrecisionIsStoredAndComesBack) {
  const Halved model;
  const SafetensorsStore store =
      saved(model, SafetensorsStore().with_to_adapter(HalfPrecisionAdapter()));
  EXPECT_EQ(store.get_snapshot("fc.weight").value()->dtype(), DType::f16);
  EXPECT_EQ(store.get_snapshot("norm.gamma").value()->dtype(), DType::f16);
  EXPECT_EQ(store.get_snapshot("scale").value()->dtype(), DType::f32);
  Halved loaded;
  load_from(loaded, SafetensorsStore(store).with_from_adapter(HalfPrecisionAdapter())).value();
  ASSERT_EQ(loaded.fc.weight.dtype(), DType::f32);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR((*loaded.fc.weight.as<float>())[i], (*model.fc.weight.as<float>())[i], 0.01);
  }
  EXPECT_EQ(loaded.scale.at<float>({0}).value(), 0.1F);
}

TEST(BurnParity, HalfPrecisionLeavesOutWhatItIsTold) {
  const SafetensorsStore store =
      saved(Halved(),
            SafetensorsStore().with_to_adapter(HalfPrecisionAdapter().without_module("LayerNorm")));
  EXPECT_EQ(store.get_snapshot("fc.weight").value()->dtype(), DType::f16);
  EXPECT_EQ(store.get_snapshot("norm.gamma").value()->dtype(), DType::f32);
}

// ---- Files that PyTorch wrote ----

// The state dict of conv, batch norm and linear, as PyTorch names it.
SafetensorsStore pytorch_file() {
  Archive archive;
  const auto add = [&](const char* name, Shape shape, float first) {
    std::vector<float> values(shape.element_count().value());
    for (float& value : values) value = first++;
    archive.add(TensorSnapshot(name, Tensor::from_values<float>(std::move(shape), values).value()))
        .value();
  };
  add("conv1.weight", {2, 1, 3, 3}, 0);
  add("conv1.bias", {2}, 100);
  add("norm1.weight", {2}, 200);
  add("norm1.bias", {2}, 300);
  add("norm1.running_mean", {2}, 400);
  add("norm1.running_var", {2}, 500);
  add("fc1.weight", {3, 2}, 600);
  add("fc1.bias", {3}, 700);
  archive
      .add(TensorSnapshot("norm1.num_batches_tracked",
                          Tensor::from_values<std::int64_t>({}, {9}).value()))
      .value();
  return SafetensorsStore::from_bytes(
      write_to_memory(archive, {.format = Format::safetensors}).value());
}

struct MultiLayer {
  nn::Conv2d conv1 = nn::Conv2dConfig({1, 2}, {3, 3}).init();
  nn::BatchNorm norm1 = nn::BatchNormConfig(2).init();
  nn::Linear fc1 = nn::LinearConfig(2, 3).init();
  ANDIRON_MODULE(MultiLayer, conv1, norm1, fc1)
};

TEST(BurnParity, AFileOfPytorchIsLoadedThroughTheAdapter) {
  MultiLayer model;
  const ApplyResult result =
      load_from(model, pytorch_file().with_from_adapter(PyTorchToBurnAdapter())).value();
  EXPECT_EQ(result.applied.size(), 8u);
  EXPECT_EQ(result.unused, Names{"norm1.num_batches_tracked"});
  EXPECT_EQ(model.conv1.weight.at<float>({1, 0, 2, 2}).value(), 17);
  EXPECT_EQ(model.norm1.gamma.at<float>({1}).value(), 201);
  EXPECT_EQ(model.norm1.running_var.at<float>({0}).value(), 500);
  EXPECT_EQ(model.fc1.weight.at<float>({1, 0}).value(), 601);
  EXPECT_EQ(model.fc1.weight.at<float>({0, 1}).value(), 602);

  MultiLayer again;
  load_from(again, saved(model)).value();
  EXPECT_EQ(bytes_by_path(again), bytes_by_path(model));
}

TEST(BurnParity, PartOfAFileOfPytorchIsLoaded) {
  struct Part {
    nn::Conv2d conv1 = nn::Conv2dConfig({1, 2}, {3, 3}).init();
    nn::Linear fc2 = nn::LinearConfig(2, 3).init();
    ANDIRON_MODULE(Part, conv1, fc2)
  };
  Part model;
  const SafetensorsStore store = pytorch_file().with_from_adapter(PyTorchToBurnAdapter());
  const ApplyResult result = load_from(model, SafetensorsStore(store).allow_partial()).value();
  EXPECT_EQ(result.applied, (Names{"conv1.weight", "conv1.bias"}));
  EXPECT_EQ(result.missing.size(), 2u);
  EXPECT_EQ(result.unused.size(), 7u);
}

TEST(BurnParity, TheNamesOfAFileOfPytorchAreShownAsTheyAre) {
  EXPECT_EQ(pytorch_file().with_from_adapter(PyTorchToBurnAdapter()).keys().value(),
            (Names{"conv1.bias", "conv1.weight", "fc1.bias", "fc1.weight", "norm1.bias",
                   "norm1.num_batches_tracked", "norm1.running_mean", "norm1.running_var",
                   "norm1.weight"}));
}

// ---- Saving to files ----

TEST(BurnParity, AFailingTensorLeavesTheOldFileAndNothingElse) {
  const TempDir dir;
  const std::string path = dir.file("model.safetensors");
  Net model;
  save_into(model, SafetensorsStore::from_file(path)).value();
  const std::string before = test::read_file(path);
  model.head.weight = Param::lazy(DType::f32, {3, 2}, [] {
    return Result<Tensor>(Error{.code = ErrorCode::io, .message = "the test said so"});
  });
  const Result<WriteReport> failed =
      save_into(model, SafetensorsStore::from_file(path).overwrite());
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().tensor, "head.weight");
  EXPECT_EQ(test::read_file(path), before);
  EXPECT_EQ(dir.names(), Names{"model.safetensors"});
}

}  // namespace
}  // namespace andiron
