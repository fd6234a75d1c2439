// SPDX-License-Identifier: MIT OR Apache-2.0
// Loading and saving modules when memory is short.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "andiron/andiron.h"
#include "tests/allocation/sweep.h"
#include "tests/support/places.h"
#include "tests/support/sample_net.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {
namespace {

std::string text_of(const ApplyResult& result) {
  std::string text = result.to_string();
  for (const std::string& path : result.applied) text += path + "\n";
  for (const Message& note : result.notes) text += note + "\n";
  return text;
}

// Loads from a store that is opened anew each time.
template <class M, class MakeStore>
void sweep_load(const std::string& name, const M& original, const MakeStore& make_store) {
  using StoreType = decltype(make_store());
  M module = original;
  std::optional<StoreType> store;
  sweep(
      name, [&] { return load_from(module, *store); },
      [&](const Result<ApplyResult>& result) { return text_of(*result) + fingerprint(module); },
      {.restore =
           [&] {
             module = original;
             store.emplace(make_store());
           },
       .state = [&] { return fingerprint(module); }});
}

template <class StoreType>
Bytes saved(float first) {
  StoreType store;
  save_into(sample_net(first), store).value();
  return store.get_bytes().value();
}

TEST(AllocationSweep, ALoadThatFailsChangesNothing) {
  const SampleNet net = sample_net(0);
  sweep_load("safetensors", net, [bytes = saved<SafetensorsStore>(500)] {
    return SafetensorsStore::from_bytes(bytes);
  });
  sweep_load("burnpack", net,
             [bytes = saved<BurnpackStore>(500)] { return BurnpackStore::from_bytes(bytes); });
  sweep_load("mpk", net, [bytes = saved<MpkStore>(500)] { return MpkStore::from_bytes(bytes); });
  sweep_load("numpy", net,
             [bytes = saved<NumpyStore>(500)] { return NumpyStore::from_bytes(bytes); });
}

TEST(AllocationSweep, ALoadFromAFileThatFailsChangesNothing) {
  const TempDir folder;
  const std::string path = folder.file("model.safetensors");
  save_into(sample_net(500),
            SafetensorsStore::from_file(path)
                .with_to_adapter(BurnToPyTorchAdapter().chain(HalfPrecisionAdapter()))
                .with_key_remapping("^blocks", "layers"))
      .value();
  for (const bool zero_copy : {false, true}) {
    sweep_load(zero_copy ? "borrowed" : "read", sample_net(0), [&] {
      return SafetensorsStore::from_file(path)
          .with_key_remapping("^layers", "blocks")
          .with_from_adapter(PyTorchToBurnAdapter())
          .dtype_policy(DTypePolicy::cast_to_module)
          .exclude_regex("^head")
          .zero_copy(zero_copy);
    });
  }
}

TEST(AllocationSweep, ALoadOfEverythingThatHoldsTensorsChangesNothing) {
  SafetensorsStore store;
  const SampleHolders original = sample_holders(0);
  save_into(sample_holders(900), store).value();
  const Bytes bytes = store.get_bytes().value();
  sweep_load("holders", original, [&] { return SafetensorsStore::from_bytes(bytes); });
}

TEST(AllocationSweep, ALoadFromPytorchChangesNothing) {
  struct Net {
    nn::Linear linear;
    ANDIRON_MODULE(Net, linear)
  };
  sweep_load("pytorch", Net{}, [] {
    return PytorchStore::from_file(test_data() + "/torch-2.15/reader/full_model.pt")
        .allow_partial(true);
  });
}

TEST(AllocationSweep, ALoadThatLeavesOutWhatDoesNotFitLeavesOutNothingElse) {
  SampleNet other = sample_net(500);
  other.scale = Param(f32({3}, 1));
  SafetensorsStore store;
  save_into(other, store).value();
  const Bytes bytes = store.get_bytes().value();
  sweep_load("not validated", sample_net(0),
             [&] { return SafetensorsStore::from_bytes(bytes).validate(false); });
}

TEST(AllocationSweep, ARefusedLoadIsRefusedOrOutOfMemory) {
  SafetensorsStore store;
  save_into(sample_net(500), store.with_key_remapping("^blocks", "module.layers")).value();
  const Bytes bytes = store.get_bytes().value();
  sweep_load("with proposals", sample_net(0), [&] { return SafetensorsStore::from_bytes(bytes); });
}

TEST(AllocationSweep, Plans) {
  const Archive archive = collect_archive(sample_net(500)).value();
  const SampleNet net = sample_net(0);
  sweep(
      "plan", [&] { return plan(net, archive); },
      [](const Result<Plan>& found) { return text_of(found->result); });
}

TEST(AllocationSweep, KeyMaps) {
  SafetensorsStore store;
  save_into(sample_net(500), store.with_key_remapping("^blocks", "net.blocks")).value();
  store.remap(KeyRemapper()).with_top_level_key("net").with_from_adapter(PyTorchToBurnAdapter());
  const SampleNet net = sample_net(0);
  const auto text = [](const Result<KeyMap>& map) { return map->to_string(); };
  sweep("names", [&] { return store.key_map(); }, text);
  sweep("with a module", [&] { return key_map(net, store); }, text);
}

TEST(AllocationSweep, CollectsAndApplies) {
  const SampleNet net = sample_net(0);
  const Snapshots other = collect(sample_net(500)).value();
  const CollectOptions options = {.adapter = BurnToPyTorchAdapter(), .ties_once = true};
  sweep(
      "collect", [&] { return collect(net, options); },
      [](const Result<Snapshots>& all) { return std::to_string(all->size()); });
  SampleNet module = net;
  sweep(
      "apply", [&] { return andiron::apply(module, other); },
      [&](const Result<ApplyResult>& result) { return text_of(*result) + fingerprint(module); },
      {.restore = [&] { module = net; }, .state = [&] { return fingerprint(module); }});
}

TEST(AllocationSweep, ALoadInPlaceCanBeRepeated) {
  const Archive archive = collect_archive(sample_net(500)).value();
  const SampleNet net = sample_net(0);
  SampleNet module = net;
  sweep(
      "in place", [&] { return andiron::apply(module, archive, {.in_place = true}); },
      [&](const Result<ApplyResult>& result) { return text_of(*result) + fingerprint(module); },
      {.restore = [&] { module = net; }});
}

TEST(AllocationSweep, ChoosesVariants) {
  SampleHolders other = sample_holders(0);
  SampleBlock block;
  block.linear.weight = Param(f32({2, 2}, 1));
  block.linear.bias = Param(f32({2}, 1));
  block.norm.gamma = Param(f32({2}, 1));
  block.norm.beta = Param(f32({2}, 1));
  other.choice = block;
  const Archive archive = collect_archive(other).value();
  const SampleHolders original = sample_holders(0);
  SampleHolders module = original;
  sweep(
      "choose_variants", [&] { return choose_variants(module, archive); },
      [&](const Result<std::vector<ChosenVariant>>& chosen) {
        return std::to_string(chosen->size()) + std::to_string(module.choice.index());
      },
      {.restore = [&] { module = original; }});
}

template <class StoreType>
void sweep_save(const std::string& name) {
  const SampleNet net = sample_net(500);
  const TempDir folder;
  const std::string path = folder.file(name);
  const auto text = [&] {
    std::string found;
    for (const std::string& file : folder.names()) found += file + read_file(folder.file(file));
    return found;
  };
  std::optional<StoreType> store;
  sweep(
      name, [&] { return save_into(net, *store); },
      [&](const Result<WriteReport>&) { return text(); },
      {.restore =
           [&] {
             put_file(path, "what was there");
             store.emplace(StoreType::from_file(path).overwrite().sync(false).with_key_remapping(
                 "^blocks", "layers"));
           },
       .state = text});
}

TEST(AllocationSweep, ASaveThatFailsKeepsTheOldFile) {
  sweep_save<SafetensorsStore>("net.safetensors");
  sweep_save<BurnpackStore>("net.bpk");
  sweep_save<MpkStore>("net.mpk.gz");
  sweep_save<NumpyStore>("net.npz");
}

TEST(AllocationSweep, RecordersChangeNothingWhenTheyFail) {
  const TempDir folder;
  const std::string path = folder.file("net.mpk");
  const SampleNet net = sample_net(500);
  sweep(
      "save_file", [&] { return save_file(net, path, CompactRecorder()); },
      [&](const Result<WriteReport>&) { return read_file(path); },
      {.restore = [&] { put_file(path, "what was there"); },
       .state = [&] { return read_file(path); }});
  save_file(net, path, DefaultRecorder()).value();
  const LoadArgs args = LoadArgs(path).with_key_remap("^head", "head");
  SampleNet module = sample_net(0);
  sweep(
      "load_file", [&] { return load_file(module, args, CompactRecorder()); },
      [&](const Result<ApplyResult>& result) { return text_of(*result) + fingerprint(module); },
      {.restore = [&] { module = sample_net(0); },
       .state = [&] { return bytes_by_path(module)["scale"]; }});
  std::optional<Record> record = CompactRecorder().load(path).value();
  sweep(
      "Record::archive", [&] { return record->archive(); },
      [](const Result<Archive>& archive) { return std::to_string(archive->size()); });
}

TEST(AllocationSweep, ASaveThatFailsKeepsTheOldBytes) {
  const SampleNet net = sample_net(500);
  std::optional<SafetensorsStore> store;
  const auto text = [&] { return std::string(store->get_bytes().value().text()); };
  sweep(
      "in memory", [&] { return save_into(net, *store); },
      [&](const Result<WriteReport>&) { return text(); },
      {.restore = [&] { store = SafetensorsStore::from_bytes(saved<SafetensorsStore>(1)); },
       .state = text});
}

TEST(AllocationSweep, AStoreCanBeAskedAgain) {
  const Bytes bytes = saved<BurnpackStore>(1);
  std::optional<BurnpackStore> store;
  const Surroundings around = {
      .restore = [&] { store = BurnpackStore::from_bytes(bytes).with_key_remapping("^b", "B"); }};
  sweep(
      "keys", [&] { return store->keys(); },
      [](const Result<std::vector<std::string>>& keys) { return keys->front(); }, around);
  sweep(
      "get_all_snapshots", [&] { return store->get_all_snapshots(); },
      [](const Result<Snapshots>& all) { return std::to_string(all->size()); }, around);
  sweep(
      "get_snapshot", [&] { return store->get_snapshot("head.weight"); },
      [](const auto& found) { return (*found)->full_path(); }, around);
  sweep(
      "get_metadata", [&] { return store->get_metadata(); },
      [](const Result<Metadata>& metadata) { return std::to_string(metadata->size()); }, around);
}

TEST(AllocationSweep, BuildersThrowBadAllocAndNothingElse) {
  const std::string path = "a folder with a long name/a file with a long name.safetensors";
  sweep(
      "builders",
      [&]() -> Status {
        return SafetensorsStore::from_file(path)
            .with_regex("^encoder\\.layers\\.[0-9]+")
            .exclude_glob("**.running_mean")
            .with_key_remapping("^model\\.(.*)", "$1")
            .with_top_level_key("state_dict.of.the.model")
            .with_from_adapter(PyTorchToBurnAdapter())
            .metadata("a key that is long enough", "a value that is long enough")
            .status();
      },
      [](const Status&) { return std::string(); }, {.may_throw = true});
}

TEST(AllocationSweep, ABuilderThatThrewHasNoBadPattern) {
  PathFilter filter;
  {
    const FailingMemory failing(1, Failing::once);
    EXPECT_THROW(filter.with_regex("a pattern that is not short at all"), std::bad_alloc);
  }
  EXPECT_TRUE(filter.status().ok());
  EXPECT_EQ(filter.criteria_count(), 0U);
}

}  // namespace
}  // namespace andiron::test
