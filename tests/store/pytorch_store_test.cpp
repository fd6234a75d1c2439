// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/stores.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "andiron/nn/conv.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "tests/support/bytes_of_text.h"
#include "tests/support/param_numbers.h"
#include "tests/support/state_dict.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_containers.h"

namespace andiron::test {
namespace {

using Floats = std::vector<float>;

StateDict two_layers() {
  return StateDict()
      .add("fc1.weight", {3, 2}, 0)
      .add("fc1.bias", {3}, 10)
      .add("fc2.weight", {4, 3}, 20)
      .add("fc2.bias", {4}, 40);
}

PytorchStore store_of(const std::string& file) {
  return PytorchStore::from_bytes(bytes_of_text(file));
}
PytorchStore store_of(const StateDict& dict) { return store_of(dict.file()); }

struct TorchNet {
  nn::Linear fc1 = nn::LinearConfig(2, 3).init();
  nn::Linear fc2 = nn::LinearConfig(3, 4).init();
  ANDIRON_MODULE(TorchNet, fc1, fc2)
};

TEST(PytorchStore, TransposesLinearWeights) {
  TorchNet net;
  const ApplyResult result = load_from(net, store_of(two_layers())).value();
  EXPECT_EQ(result.applied, (Names{"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}));
  EXPECT_TRUE(result.unused.empty());
  EXPECT_TRUE(result.notes.empty());
  EXPECT_EQ(numbers(net.fc1.weight), (Floats{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(numbers(*net.fc1.bias), (Floats{10, 11, 12}));
  EXPECT_EQ(net.fc2.weight.shape(), (Shape{3, 4}));
}

TEST(PytorchStore, AWeightThatIsStoredTransposedComesOutTheSame) {
  // fc.weight saved as a view of its transpose.
  const Py view = torch_tensor({.shape = {3, 2}, .strides = {{1, 3}}, .elements = 6});
  const std::string file = zip_file(
      torch_records(py::dict({{"weight", view}}), {{"0", memory_of<float>({0, 2, 4, 1, 3, 5})}}));
  nn::Linear linear = nn::LinearConfig(2, 3).with_bias(false).init();
  load_from(linear, store_of(file)).value();
  EXPECT_EQ(numbers(linear.weight), (Floats{0, 2, 4, 1, 3, 5}));
}

TEST(PytorchStore, FindsNormsUnderPytorchsNames) {
  struct Norms {
    nn::BatchNorm norm1 = nn::BatchNormConfig(2).init();
    nn::LayerNorm norm2 = nn::LayerNormConfig(2).init();
    nn::GroupNorm norm3 = nn::GroupNormConfig(1, 2).init();
    ANDIRON_MODULE(Norms, norm1, norm2, norm3)
  } norms;
  StateDict dict;
  dict.add("norm1.weight", {2}, 1).add("norm1.bias", {2}, 3);
  dict.add("norm1.running_mean", {2}, 5).add("norm1.running_var", {2}, 7);
  dict.add("norm1.num_batches_tracked", {}, 9);
  dict.add("norm2.weight", {2}, 11).add("norm2.bias", {2}, 13);
  dict.add("norm3.weight", {2}, 15).add("norm3.bias", {2}, 17);
  const ApplyResult result = load_from(norms, store_of(dict)).value();
  EXPECT_EQ(result.applied.size(), 8u);
  EXPECT_EQ(result.unused, Names{"norm1.num_batches_tracked"});
  EXPECT_EQ(numbers(norms.norm1.gamma), (Floats{1, 2}));
  EXPECT_EQ(numbers(norms.norm1.running_var), (Floats{7, 8}));
  EXPECT_EQ(numbers(norms.norm2.gamma), (Floats{11, 12}));
  EXPECT_EQ(numbers(*norms.norm3.gamma), (Floats{15, 16}));
}

TEST(PytorchStore, LeavesConvolutionsAlone) {
  struct Convs {
    nn::Conv1d conv1 = nn::Conv1dConfig(2, 3, 2).init();
    nn::Conv2d conv2 = nn::Conv2dConfig({1, 2}, {2, 2}).with_bias(false).init();
    nn::ConvTranspose2d up = nn::ConvTranspose2dConfig({2, 1}, {2, 2}).init();
    ANDIRON_MODULE(Convs, conv1, conv2, up)
  } convs;
  StateDict dict;
  dict.add("conv1.weight", {3, 2, 2}, 0).add("conv1.bias", {3}, 20);
  dict.add("conv2.weight", {2, 1, 2, 2}, 30).add("up.weight", {2, 1, 2, 2}, 40);
  dict.add("up.bias", {1}, 50);
  EXPECT_EQ(load_from(convs, store_of(dict)).value().applied.size(), 5u);
  EXPECT_EQ(numbers(convs.conv1.weight)[11], 11);
  EXPECT_EQ(numbers(convs.conv2.weight)[0], 30);
  EXPECT_EQ(numbers(convs.up.weight)[7], 47);
}

TEST(PytorchStore, VariantNamesAreNoPartOfPathsUnlessAsked) {
  struct Choice {
    std::variant<nn::Linear, nn::Conv1d> layer = nn::LinearConfig(2, 3).init();
    ANDIRON_MODULE(Choice, layer)
  };
  StateDict dict;
  dict.add("layer.weight", {3, 2}).add("layer.bias", {3});
  Choice model;
  EXPECT_EQ(load_from(model, store_of(dict)).value().applied,
            (Names{"layer.weight", "layer.bias"}));
  const Result<ApplyResult> with_names = load_from(model, store_of(dict).skip_enum_variants(false));
  ASSERT_FALSE(with_names);
  EXPECT_NE(with_names.error().to_string().find("layer.Linear.bias"), std::string::npos)
      << with_names.error().to_string();
  // The alternative that the file has is found by its shapes.
  Choice other;
  StateDict conv;
  conv.add("layer.weight", {3, 2, 4}).add("layer.bias", {3});
  other.layer = nn::Conv1dConfig(2, 3, 4).init();
  EXPECT_EQ(load_from(other, store_of(conv)).value().applied.size(), 2u);
}

struct Listed {
  std::vector<nn::Linear> fc = {nn::LinearConfig(2, 2).init(), nn::LinearConfig(2, 2).init(),
                                nn::LinearConfig(2, 2).init()};
  ANDIRON_MODULE(Listed, fc)
};

StateDict with_gaps() {
  StateDict dict;
  for (const char* index : {"0", "2", "4"}) {
    dict.add(std::string("fc.") + index + ".weight", {2, 2});
    dict.add(std::string("fc.") + index + ".bias", {2}, static_cast<float>(index[0]));
  }
  return dict;
}

TEST(PytorchStore, ClosesGapsInIndices) {
  Listed model;
  EXPECT_EQ(load_from(model, store_of(with_gaps())).value().applied.size(), 6u);
  EXPECT_EQ(numbers(*model.fc[2].bias)[0], static_cast<float>('4'));
  EXPECT_EQ(store_of(with_gaps()).keys().value().back(), "fc.2.weight");
}

TEST(PytorchStore, TellsWhenClosingGapsHasMovedWhatTheModuleWants) {
  Listed model;
  StateDict dict;
  for (const char* index : {"1", "2"}) {
    dict.add(std::string("fc.") + index + ".weight", {2, 2});
    dict.add(std::string("fc.") + index + ".bias", {2});
  }
  const ApplyResult moved = load_from(model, store_of(dict).allow_partial()).value();
  ASSERT_EQ(moved.notes.size(), 2u);
  EXPECT_EQ(moved.notes[1], "the source has 2 blocks at 'fc', the module 3 at 'fc'");
  EXPECT_EQ(
      moved.notes[0],
      "the module's list 'fc' has 3 elements, the source 2; closing index gaps gave them other "
      "numbers: 0 is 1 in the file, 1 is 2; .map_indices_contiguous(false) keeps the source's "
      "numbers");
  EXPECT_TRUE(load_from(model, store_of(with_gaps())).value().notes.empty());
}

TEST(PytorchStore, TellsOfWeightsOfWhichThereArePartsAlone) {
  Listed model;
  StateDict dict;
  for (const char* index : {"0", "1", "2"}) {
    const bool is_normed = *index == '1';
    dict.add(std::string("fc.") + index + (is_normed ? ".weight_v" : ".weight"), {2, 2});
    dict.add(std::string("fc.") + index + ".bias", {2});
  }
  const ApplyResult result = load_from(model, store_of(dict).allow_partial()).value();
  ASSERT_EQ(result.missing.size(), 1u);
  for (const Proposal& proposal : result.proposals) {
    EXPECT_EQ(proposal.text.find("weight_v"), std::string::npos) << proposal.text;
  }
  EXPECT_TRUE(result.notes.back().starts_with("PyTorch computes a weight from 'fc.1.weight_v';"));
}

TEST(PytorchStore, LeavesGapsInIndicesWhenTold) {
  Listed model;
  const auto store = store_of(with_gaps()).map_indices_contiguous(false);
  EXPECT_EQ(store.keys().value().back(), "fc.4.weight");
  const ApplyResult result = load_from(model, PytorchStore(store).allow_partial()).value();
  EXPECT_EQ(result.applied.size(), 4u);
  ASSERT_EQ(result.missing.size(), 2u);
  EXPECT_EQ(result.missing[0].path, "fc.1.bias");
  EXPECT_FALSE(load_from(model, store));
}

TEST(PytorchStore, SavesNothing) {
  const TempDir folder;
  const TorchNet net;
  const Result<WriteReport> report = save_into(net, PytorchStore::from_file(folder.file("net.pt")));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::unsupported);
  EXPECT_NE(report.error().to_string().find("SafeTensors"), std::string::npos);
  EXPECT_TRUE(folder.names().empty());
  EXPECT_EQ(save_into(net, PytorchStore()).error().code, ErrorCode::unsupported);
  EXPECT_EQ(save_into(net, PytorchStore::from_file(folder.file("net.pt")).overwrite()).error().code,
            ErrorCode::unsupported);
}

TEST(PytorchStore, TakesWhatLiesBelowATopLevelKey) {
  const py::Pairs beside = {{"epoch", 3}};
  TorchNet net;
  auto store = store_of(two_layers().file({"my_state_dict"}, beside));
  EXPECT_FALSE(load_from(net, store));
  EXPECT_EQ(load_from(net, store.with_top_level_key("my_state_dict")).value().applied.size(), 4u);
  auto deeper = store_of(two_layers().file({"a", "b"}, beside)).with_top_level_key("a.b");
  EXPECT_EQ(load_from(net, deeper).value().applied.size(), 4u);
  const Result<ApplyResult> none =
      load_from(net, store_of(two_layers().file({"model"})).with_top_level_key("modle"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::missing_tensor);
  EXPECT_NE(none.error().found.find("'model'"), std::string::npos);
}

TEST(PytorchStore, AKeyThatHoldsNoTensorsIsRefused) {
  const auto store = store_of(two_layers().file({"model"}, {{"epoch", 42}}));
  const Result<Names> keys = PytorchStore(store).with_top_level_key("epoch").keys();
  ASSERT_FALSE(keys);
  EXPECT_EQ(keys.error().code, ErrorCode::missing_tensor);
  // The number itself is in the tree.
  EXPECT_EQ(*store.archive().value().value()->find("epoch")->get<std::int64_t>(), 42);
}

TEST(PytorchStore, AWholeModuleIsTakenFromBelowAKey) {
  const Py module = py::module(
      "Linear", {{"weight", torch_tensor({.shape = {1, 2}, .elements = 2})}, {"bias", nullptr}}, {},
      {});
  const Py checkpoint = py::dict({{"model", module}, {"epoch", 3}});
  const std::string file = zip_file(torch_records(checkpoint, {{"0", memory_of<float>({5, 6})}}));
  nn::Linear linear = nn::LinearConfig(2, 1).with_bias(false).init();
  load_from(linear, store_of(file).with_top_level_key("model")).value();
  EXPECT_EQ(numbers(linear.weight), (Floats{5, 6}));
}

TEST(PytorchStore, NamesTheKeyThatAModelSeemsToLieBelow) {
  const auto notes = [](const PytorchStore& store) { return store.archive().value().notes(); };
  auto store = store_of(two_layers().file({"state_dict"}, {{"epoch", 3}}));
  ASSERT_EQ(notes(store).size(), 1u);
  EXPECT_NE(notes(store)[0].find("with_top_level_key(\"state_dict\")"), std::string::npos);
  EXPECT_EQ(store.suggest_top_level_key().value(), "state_dict");
  // Nothing is stripped by itself.
  EXPECT_EQ(store.keys().value().front(), "state_dict.fc1.bias");
  // Once it is given, there is nothing to say.
  EXPECT_TRUE(notes(store.with_top_level_key("state_dict")).empty());
  EXPECT_TRUE(notes(store_of(two_layers())).empty());
  auto deeper = store_of(two_layers().file({"state_dict", "module"}));
  EXPECT_NE(notes(deeper)[0].find("\"state_dict.module\""), std::string::npos);
}

struct BelowModel {
  TorchNet model;
  ANDIRON_MODULE(BelowModel, model)
};

TEST(PytorchStore, ALoadThatMatchesIsToldOfNoKey) {
  BelowModel net;
  const auto below = store_of(two_layers().file({"model"}));
  EXPECT_EQ(below.archive().value().notes().size(), 1u);
  EXPECT_TRUE(load_from(net, below).value().notes.empty());
}

TEST(PytorchStore, NamesNoKeyThatOnlyARemappingMade) {
  auto store = store_of(two_layers());
  EXPECT_TRUE(store.with_key_remapping("^", "model.").archive().value().notes().empty());
}

TEST(PytorchStore, TheNoteIsPartOfWhatALoadTells) {
  TorchNet net;
  const ApplyResult result =
      load_from(net, store_of(two_layers().file({"model"})).allow_partial()).value();
  EXPECT_EQ(result.missing.size(), 4u);
  EXPECT_NE(result.to_string().find("model"), std::string::npos);
  const Result<ApplyResult> refused = load_from(net, store_of(two_layers().file({"model"})));
  ASSERT_FALSE(refused);
  ASSERT_NE(refused.error().report, nullptr);
}

TEST(PytorchStore, RemapsNamesInOrder) {
  StateDict dict;
  dict.add("module.layer_1.weight", {3, 2}).add("module.layer_1.bias", {3});
  nn::Linear unused = nn::LinearConfig(2, 3).init();
  struct One {
    nn::Linear fc1;
    ANDIRON_MODULE(One, fc1)
  } model{unused};
  auto store = store_of(dict)
                   .with_key_remapping(R"(^module\.)", "")
                   .with_key_remapping(R"(layer_(\d+))", "fc$1");
  EXPECT_EQ(store.keys().value(), (Names{"fc1.bias", "fc1.weight"}));
  EXPECT_EQ(load_from(model, store).value().applied.size(), 2u);
  EXPECT_TRUE(store.get_snapshot("fc1.weight").value().has_value());
  EXPECT_FALSE(store.get_snapshot("module.layer_1.weight").value().has_value());
}

TEST(PytorchStore, TellsWhyAParameterWasNotTakenUnderTheModulesName) {
  StateDict dict;
  dict.add("layer.weight", {3, 2});
  const Py array =
      py::numpy_array(py::numpy_dtype("f4"), {3}, py::encoded_bytes(std::string(12, 'x')));
  dict.add_value("layer.bias", array);
  struct One {
    nn::Linear fc;
    ANDIRON_MODULE(One, fc)
  } model{nn::LinearConfig(2, 3).init()};
  auto store =
      store_of(dict.file({"model"})).with_top_level_key("model").with_key_remapping("^layer", "fc");
  const Error refused = load_from(model, store).error();
  EXPECT_EQ(refused.tensor, "fc.bias");
  EXPECT_NE(refused.found.find("was skipped: a NumPy array"), std::string::npos) << refused.found;
  const ApplyResult result = load_from(model, store.allow_partial(true)).value();
  ASSERT_FALSE(result.notes.empty());
  EXPECT_NE(result.notes[0].find("skipped in the file: 'fc.bias': a NumPy array"),
            std::string::npos)
      << result.notes[0];
  EXPECT_EQ(load_from(model, PytorchStore(store).numpy_arrays()).value().applied.size(), 2u);
}

TEST(PytorchStore, FiltersByTheModulesNames) {
  TorchNet net;
  auto store = store_of(two_layers()).with_regex(R"(^fc1\.)");
  const ApplyResult result = load_from(net, store).value();
  EXPECT_EQ(result.applied, (Names{"fc1.weight", "fc1.bias"}));
  EXPECT_EQ(result.skipped, (Names{"fc2.bias", "fc2.weight"}));
  // The adapter is applied to what is left, and what is shown is not filtered.
  EXPECT_EQ(numbers(net.fc1.weight), (Floats{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(store.get_all_snapshots().value().size(), 4u);
  EXPECT_EQ(store.keys().value().size(), 4u);
}

TEST(PytorchStore, TakesItsSettingsTogether) {
  struct Wide {
    nn::Linear fc1 = nn::LinearConfig(2, 3).init();
    nn::Linear fc2 = nn::LinearConfig(4, 4).init();
    ANDIRON_MODULE(Wide, fc1, fc2)
  } wide;
  const ApplyResult result = load_from(wide, store_of(two_layers())
                                                 .validate(false)
                                                 .allow_partial()
                                                 .with_regex(R"(^fc1\.)")
                                                 .with_full_path("fc2.weight"))
                                 .value();
  EXPECT_EQ(result.applied, (Names{"fc1.weight", "fc1.bias"}));
  EXPECT_EQ(result.skipped, Names{"fc2.bias"});
  EXPECT_EQ(result.errors.size(), 1u);
}

TEST(PytorchStore, LeavesFieldsAloneThatAModuleDoesNotList) {
  struct Partial {
    nn::Linear first = nn::LinearConfig(2, 3).init();
    bool extra_field = true;
    ANDIRON_MODULE(Partial, first)
  } partial;
  const ApplyResult result =
      load_from(partial, store_of(two_layers()).with_key_remapping(R"(^fc1\.(.*))", "first.$1"))
          .value();
  EXPECT_EQ(result.applied, (Names{"first.weight", "first.bias"}));
  EXPECT_TRUE(partial.extra_field);
}

TEST(PytorchStore, AMissingParameterIsRefusedUnlessFilteredOutOrAllowed) {
  StateDict dict;
  dict.add("fc1.weight", {3, 2}).add("fc1.bias", {3}).add("fc2.weight", {4, 3});
  TorchNet net;
  const Result<ApplyResult> strict = load_from(net, store_of(dict));
  ASSERT_FALSE(strict);
  EXPECT_NE(strict.error().to_string().find("fc2.bias"), std::string::npos);
  EXPECT_TRUE(load_from(net, store_of(dict).allow_partial()));
  EXPECT_TRUE(load_from(net, store_of(dict).with_regex("^fc1")));
  EXPECT_FALSE(load_from(net, store_of(dict).with_regex("^fc2")));
}

TEST(PytorchStore, AShapeThatDoesNotFitIsRefusedAndChangesNothing) {
  StateDict dict = two_layers();
  TorchNet net;
  const Floats before = numbers(net.fc1.weight);
  struct Wide {
    nn::Linear fc1 = nn::LinearConfig(2, 3).init();
    nn::Linear fc2 = nn::LinearConfig(4, 4).init();
    ANDIRON_MODULE(Wide, fc1, fc2)
  } wide;
  const Floats kept = numbers(wide.fc1.weight);
  EXPECT_EQ(load_from(wide, store_of(dict)).error().code, ErrorCode::shape_mismatch);
  EXPECT_EQ(numbers(wide.fc1.weight), kept);
  EXPECT_EQ(numbers(net.fc1.weight), before);
}

TEST(PytorchStore, AnotherAdapterCanBeSet) {
  StateDict dict;
  dict.add("weight", {2, 3});
  nn::Linear linear = nn::LinearConfig(2, 3).with_bias(false).init();
  load_from(linear, store_of(dict).with_from_adapter({})).value();
  EXPECT_EQ(numbers(linear.weight), (Floats{0, 1, 2, 3, 4, 5}));
}

TEST(PytorchStore, TiedTensorsFeedEveryPlace) {
  struct Tied {
    Param first;
    Param second;
    ANDIRON_MODULE(Tied, first, second)
  } tied;
  StateDict dict;
  const Py shared = py::put(1, dict.tensor({2}, 5));
  const std::string file = zip_file(torch_records(
      py::dict({{"first", shared}, {"second", py::get(1)}}), {{"0", memory_of<float>({5, 6})}}));
  const PytorchStore store = store_of(file);
  load_from(tied, store).value();
  EXPECT_EQ(numbers(tied.first), numbers(tied.second));
  EXPECT_EQ(store.archive().value().ties()[1], std::optional<std::size_t>(0));
}

TEST(PytorchStore, BorrowsFromStaticMemory) {
  struct One {
    Param w;
    ANDIRON_MODULE(One, w)
  } one;
  const std::string file = StateDict().add("w", {2}, 7).file();
  alignas(64) static std::array<std::byte, 4096> image;
  ASSERT_LE(file.size(), image.size());
  std::memcpy(image.data(), file.data(), file.size());
  load_from(one, PytorchStore::from_static(std::span(image).first(file.size()))).value();
  const auto* data = reinterpret_cast<const std::byte*>(one.w.as<float>().value().data());
  EXPECT_GE(data, image.data());
  EXPECT_LT(data, image.data() + image.size());
}

TEST(PytorchStore, ReadsEveryContainer) {
  for (const std::string& file : {zip_file(sample_records()), sample_legacy_file()}) {
    EXPECT_EQ(store_of(file).keys().value(), (Names{"b", "w"}));
  }
}

TEST(PytorchStore, AMissingOrBrokenFileIsAnError) {
  const TempDir folder;
  TorchNet net;
  EXPECT_EQ(load_from(net, PytorchStore::from_file(folder.file("none.pt"))).error().code,
            ErrorCode::not_found);
  write_file(folder.file("broken.pt"), "abc");
  EXPECT_FALSE(load_from(net, PytorchStore::from_file(folder.file("broken.pt"))));
  EXPECT_FALSE(PytorchStore::from_file(folder.file("broken.pt")).keys());
  EXPECT_EQ(PytorchStore().get_bytes().error().code, ErrorCode::invalid_argument);
}

TEST(PytorchStore, FollowsBuildersThatAreCalledAfterReading) {
  auto store = store_of(with_gaps());
  EXPECT_EQ(store.keys().value().back(), "fc.2.weight");
  store.map_indices_contiguous(false).with_key_remapping("^fc", "layers");
  EXPECT_EQ(store.keys().value().back(), "layers.4.weight");
}

TEST(PytorchStore, SeveralThreadsUseOneStore) {
  const PytorchStore store = store_of(two_layers());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      TorchNet net;
      EXPECT_EQ(load_from(net, store).value().applied.size(), 4u);
      EXPECT_EQ(store.keys().value().size(), 4u);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace andiron::test
