// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "andiron/stores.h"
#include "andiron/value.h"
#include "tests/store/pair_model.h"
#include "tests/support/sample_net.h"
#include "tests/support/temp_dir.h"

namespace andiron {
namespace {

using test::f32;
using test::fingerprint;
using test::Pair;
using test::pair_of;
using test::sample_net;
using test::SampleNet;
using test::TempDir;

using Names = std::vector<std::string>;

// A file in memory with tensors of shape [2] under these names.
Bytes file_with(const Names& names, const Metadata& metadata = {}) {
  Archive archive = test::archive_with(names);
  archive.set_metadata(metadata);
  return write_to_memory(archive).value();
}

SafetensorsStore store_with(const Names& names) {
  return SafetensorsStore::from_bytes(file_with(names));
}

TEST(Store, SavesAndLoadsAModel) {
  const TempDir dir;
  const std::string path = dir.file("model.safetensors");
  const SampleNet from = sample_net(1);
  const WriteReport report = save_into(from, SafetensorsStore::from_file(path)).value();
  EXPECT_EQ(report.files, Names{path});
  EXPECT_EQ(report.bytes, std::filesystem::file_size(path));

  SampleNet to = sample_net(1000);
  const std::vector<ParamId> ids = {to.head.weight.id(), to.scale.id()};
  const ApplyResult result = load_from(to, SafetensorsStore::from_file(path)).value();
  EXPECT_EQ(result.applied.size(), 11U);
  EXPECT_TRUE(result.unused.empty());
  EXPECT_EQ(to.head.weight.id(), ids[0]);  // the format has no ids
  EXPECT_EQ(to.head.weight.as<float>().value()[0], from.head.weight.as<float>().value()[0]);
  EXPECT_EQ(to.steps.as<std::int64_t>().value()[0], 7);
}

TEST(Store, OnLoadRemapsThenClosesGapsThenFiltersByTheModulesNames) {
  Pair to = pair_of(0);
  auto store = store_with({"old.4", "old.7"})
                   .map_indices_contiguous(true)
                   .with_key_remapping("^old", "new")
                   .with_key_remapping("^new", "list");
  EXPECT_EQ(store.keys().value(), (Names{"list.0", "list.1"}));
  struct Listed {
    std::vector<Param> list;
    ANDIRON_MODULE(Listed, list)
  };
  Listed listed;
  listed.list.resize(2);
  store.with_regex(R"(^list\.1$)");
  const ApplyResult result = load_from(listed, store).value();
  EXPECT_EQ(result.applied, Names{"list.1"});
  EXPECT_EQ(result.skipped, Names{"list.0"});
  EXPECT_EQ(listed.list[1].as<float>().value()[0], 11);
}

TEST(Store, OnSaveFiltersByTheModulesNamesThenAdaptsThenRemaps) {
  const SampleNet from = sample_net(1);
  auto store = SafetensorsStore::from_bytes()
                   .with_predicate([](std::string_view, const Container& container) {
                     return container.is("LayerNorm");
                   })
                   .exclude_regex("beta$")
                   .with_to_adapter(BurnToPyTorchAdapter())
                   .with_key_remapping(R"(\.norm\.weight$)", ".scale");
  save_into(from, store).value();
  EXPECT_EQ(SafetensorsStore::from_bytes(store.get_bytes().value()).keys().value(),
            (Names{"blocks.0.scale", "blocks.1.scale"}));
}

TEST(Store, ShowsEveryTensorAfterRenamingWhateverTheFilterAndTheAdapter) {
  auto store = store_with({"x.b", "x.a", "y"})
                   .with_full_path("nothing")
                   .with_from_adapter(PyTorchToBurnAdapter())
                   .with_key_remapping(R"(^x\.)", "z.");
  EXPECT_EQ(store.keys().value(), (Names{"y", "z.a", "z.b"}));
  EXPECT_EQ(store.get_all_snapshots().value().keys(), (Names{"y", "z.a", "z.b"}));
  const auto found = store.get_snapshot("z.a").value();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->full_path(), "z.a");
  EXPECT_EQ(found->read().value().to_vector<float>().value()[0], 11);
  EXPECT_FALSE(store.get_snapshot("x.a").value().has_value());
}

TEST(Store, FollowsBuildersThatAreCalledAfterReading) {
  auto store = store_with({"a.1", "a.3"});
  EXPECT_EQ(store.keys().value(), (Names{"a.1", "a.3"}));
  const SafetensorsStore before = store;
  store.map_indices_contiguous(true);
  EXPECT_EQ(store.keys().value(), (Names{"a.0", "a.1"}));
  store.with_key_remapping("^a", "b");
  EXPECT_EQ(store.keys().value(), (Names{"b.0", "b.1"}));
  EXPECT_EQ(before.keys().value(), (Names{"a.1", "a.3"}));
}

TEST(Store, KeepsListsThatAreExceptedFromClosing) {
  auto store = store_with({"flows.2.w", "layers.2.w"})
                   .map_indices_contiguous(true)
                   .map_indices_contiguous_except("^flows$");
  EXPECT_EQ(store.keys().value(), (Names{"flows.2.w", "layers.0.w"}));
}

TEST(Store, TakesWhatLiesBelowATopLevelKey) {
  auto store = store_with({"model.a", "model.b", "optimizer.a"}).with_top_level_key("model");
  Pair to = pair_of(0);
  EXPECT_EQ(load_from(to, store).value().applied, (Names{"a", "b"}));
  EXPECT_EQ(store.with_top_level_key("nothing").keys().error().code, ErrorCode::missing_tensor);
}

TEST(Store, MapsEveryKeyOfTheFileAlsoThoseOutsideTheTopLevelKey) {
  auto store = store_with({"model.b", "optimizer.a", "model.fc.3", "model.a", "model.fc.1"})
                   .with_top_level_key("model")
                   .with_key_remapping("^b$", "c")
                   .map_indices_contiguous(true)
                   .with_full_path("nothing");  // a filter sees the names of modules
  const KeyMap map = store.key_map().value();
  Names lines;
  for (const MappedKey& tensor : map.tensors) {
    std::string line = tensor.name_in_file;
    for (const KeyStep& step : tensor.steps) line += " > " + step.name;
    if (tensor.left_out_by == NameStage::top_level_key) line += " left out";
    lines.push_back(line);
  }
  // As the file has them, which a writer of SafeTensors sorts.
  EXPECT_EQ(lines, (Names{"model.a > a", "model.b > b > c", "model.fc.1 > fc.1 > fc.0",
                          "model.fc.3 > fc.3 > fc.1", "optimizer.a left out"}));
  EXPECT_EQ(store.with_top_level_key("none").key_map().error().code, ErrorCode::missing_tensor);
}

TEST(Store, MapsKeysToTheParametersOfAModule) {
  auto store = store_with({"net.a", "net.x", "optimizer.a"})
                   .with_top_level_key("net")
                   .with_key_remapping("^x$", "b")
                   .with_full_path("b");
  const Pair model = pair_of(0);
  const std::string before = fingerprint(model);
  const KeyMap map = key_map(model, store).value();
  EXPECT_EQ(map.to_string(),
            "net.a  f32 [2]\n"
            "  top-level key  a\n"
            "  skipped: the filter leaves out a\n"
            "net.x  f32 [2]\n"
            "  top-level key  x\n"
            "  remap          b\n"
            "  taken by b\n"
            "optimizer.a  f32 [2]\n"
            "  left out: not under the top-level key\n"
            "3 tensors: 2 renamed, 1 left out, 1 taken, 1 skipped, 0 refused, 0 tied, 0 unused; "
            "0 parameters without a tensor");
  EXPECT_EQ(fingerprint(model), before);
}

TEST(Store, RefusesNamesThatCollide) {
  const auto on_load = store_with({"x.a", "y.a"}).with_key_remapping(R"(^[xy]\.)", "").keys();
  ASSERT_FALSE(on_load);
  EXPECT_EQ(on_load.error().code, ErrorCode::name_collision);

  const auto on_save =
      save_into(pair_of(0), SafetensorsStore::from_bytes().with_key_remapping("^[ab]$", "c"));
  ASSERT_FALSE(on_save);
  EXPECT_EQ(on_save.error().code, ErrorCode::name_collision);
  EXPECT_EQ(on_save.error().found, "'a' and 'b'");
}

TEST(Store, TellsABadPatternAtOnceAndFromEveryOperation) {
  const SafetensorsStore bad[] = {store_with({"a"}).with_regex("("),
                                  store_with({"a"}).with_key_remapping("[", ""),
                                  store_with({"a"}).exclude_glob("").exclude_regex("*"),
                                  store_with({"a"}).map_indices_contiguous_except("(")};
  for (const SafetensorsStore& store : bad) {
    EXPECT_EQ(store.status().error().code, ErrorCode::invalid_pattern);
    EXPECT_EQ(store.keys().error().code, ErrorCode::invalid_pattern);
    Pair module = pair_of(0);
    EXPECT_EQ(load_from(module, store).error().code, ErrorCode::invalid_pattern);
    EXPECT_EQ(save_into(module, SafetensorsStore(store)).error().code, ErrorCode::invalid_pattern);
  }
}

TEST(Store, RefusedLoadsNameTheFileAndCarryTheReport) {
  const TempDir dir;
  const std::string path = dir.file("half.safetensors");
  save_into(pair_of(1), SafetensorsStore::from_file(path).with_full_path("a")).value();
  Pair to = pair_of(100);
  const std::string before = fingerprint(to);
  const Result<ApplyResult> refused = load_from(to, SafetensorsStore::from_file(path));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().file, path);
  EXPECT_NE(refused.error().to_string().find("'b'"), std::string::npos);
  ASSERT_NE(refused.error().report, nullptr);
  EXPECT_EQ(refused.error().report->applied, Names{"a"});
  EXPECT_EQ(fingerprint(to), before);
  EXPECT_TRUE(load_from(to, SafetensorsStore::from_file(path).allow_partial(true)));
}

TEST(Store, PlansALoadWithoutDoingIt) {
  const Pair to = pair_of(100);
  const Plan planned = plan(to, store_with({"a"})).value();
  EXPECT_EQ(planned.result.applied, Names{"a"});
  EXPECT_EQ(planned.result.missing.size(), 1U);
}

TEST(Store, OpensItsFileOnceForManyThreads) {
  const TempDir dir;
  const std::string path = dir.file("m.safetensors");
  save_into(pair_of(1), SafetensorsStore::from_file(path)).value();
  const SafetensorsStore store = SafetensorsStore::from_file(path);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&store] {
      Pair to = pair_of(100);
      EXPECT_TRUE(load_from(to, store));
      EXPECT_EQ(store.keys().value().size(), 2U);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::filesystem::remove(path);
  EXPECT_EQ(store.keys().value(), (Names{"a", "b"}));
}

TEST(Store, TriesAgainAfterAFileThatWasNotThere) {
  const TempDir dir;
  const std::string path = dir.file("late.safetensors");
  const SafetensorsStore store = SafetensorsStore::from_file(path);
  EXPECT_EQ(store.keys().error().code, ErrorCode::not_found);
  save_into(pair_of(1), SafetensorsStore::from_file(path)).value();
  EXPECT_EQ(store.keys().value().size(), 2U);
}

TEST(Store, ForgetsWhatItReadWhenItIsSavedInto) {
  const TempDir dir;
  auto store = SafetensorsStore::from_file(dir.file("m.safetensors")).overwrite(true);
  save_into(pair_of(1), store).value();
  EXPECT_EQ(store.keys().value(), (Names{"a", "b"}));
  save_into(sample_net(1), store).value();
  EXPECT_EQ(store.keys().value().size(), 11U);
}

TEST(Store, InMemoryHoldsTheNewBytesAndCopiesKeepTheOld) {
  auto store = SafetensorsStore::from_bytes();
  EXPECT_EQ(store.get_bytes().error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store.keys().error().code, ErrorCode::invalid_argument);
  save_into(pair_of(1), store).value();
  const SafetensorsStore old = store;
  save_into(pair_of(50), store).value();
  Pair to = pair_of(0);
  load_from(to, store).value();
  EXPECT_EQ(to.a.as<float>().value()[0], 50);
  load_from(to, old).value();
  EXPECT_EQ(to.a.as<float>().value()[0], 1);
}

TEST(Store, OnAFileGivesNoBytes) {
  EXPECT_EQ(SafetensorsStore::from_file("m").get_bytes().error().code, ErrorCode::invalid_argument);
}

TEST(Store, DoesNotReplaceAFileUnlessToldTo) {
  const TempDir dir;
  const std::string path = dir.file("m.safetensors");
  save_into(pair_of(1), SafetensorsStore::from_file(path)).value();
  EXPECT_EQ(save_into(pair_of(2), SafetensorsStore::from_file(path)).error().code,
            ErrorCode::already_exists);
  EXPECT_TRUE(save_into(pair_of(2), SafetensorsStore::from_file(path).overwrite(true)));
  Pair to = pair_of(0);
  load_from(to, SafetensorsStore::from_file(path)).value();
  EXPECT_EQ(to.a.as<float>().value()[0], 2);
}

TEST(Store, AddsTheExtensionWhenAskedTo) {
  const TempDir dir;
  const auto store = [&](const char* name) {
    return SafetensorsStore::from_file(dir.file(name)).auto_extension(true);
  };
  save_into(pair_of(1), store("plain")).value();
  EXPECT_TRUE(std::filesystem::exists(dir.file("plain.safetensors")));
  EXPECT_EQ(store("plain").path(), dir.file("plain.safetensors"));
  EXPECT_EQ(store("plain").keys().value().size(), 2U);
  save_into(pair_of(1), store("other.bin")).value();
  EXPECT_TRUE(std::filesystem::exists(dir.file("other.bin")));
  EXPECT_EQ(SafetensorsStore::from_file(dir.file("plain")).keys().error().code,
            ErrorCode::not_found);
}

TEST(Store, BorrowsFromAMappingThatOutlivesStoreAndFile) {
  const TempDir dir;
  const std::string path = dir.file("m.safetensors");
  save_into(pair_of(1), SafetensorsStore::from_file(path)).value();
  Pair to;
  load_from(to, SafetensorsStore::from_file(path).zero_copy(true)).value();
  std::filesystem::remove(path);
  EXPECT_TRUE(to.a.val().value().writable().empty());
  EXPECT_EQ(to.a.as<float>().value()[0], 1);
  to.a.as_mutable<float>().value()[0] = 5;
  EXPECT_EQ(to.a.as<float>().value()[0], 5);
}

TEST(Store, ShardsASaveAndLoadsTheShards) {
  const TempDir dir;
  const std::string path = dir.file("m.safetensors");
  const SampleNet from = sample_net(1);
  const WriteReport report =
      save_into(from, SafetensorsStore::from_file(path).max_shard_bytes(64)).value();
  EXPECT_GT(report.files.size(), 2U);
  for (const std::string& place : {report.files.back(), path, dir.path()}) {
    SampleNet other = sample_net(1000);
    EXPECT_EQ(load_from(other, SafetensorsStore::from_file(place)).value().applied.size(), 11U);
  }
  SampleNet to = sample_net(1000);
  load_from(to, SafetensorsStore::from_file(path)).value();
  EXPECT_EQ(to.scale.as<float>().value()[0], from.scale.as<float>().value()[0]);
}

TEST(Store, CancelsASaveAndLeavesNothing) {
  const TempDir dir;
  const std::string path = dir.file("m.safetensors");
  const auto stop = [](std::uint64_t, std::uint64_t) { return false; };
  const auto cancelled = save_into(pair_of(1), SafetensorsStore::from_file(path).progress(stop));
  EXPECT_EQ(cancelled.error().code, ErrorCode::cancelled);
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(path).parent_path()));
}

TEST(Store, LeavesTheModuleAloneWhateverFails) {
  Pair module = pair_of(100);
  const std::string before = fingerprint(module);
  Limits little;
  little.load_bytes = 8;
  const auto stop = [](std::uint64_t, std::uint64_t) { return false; };
  Bytes cut = file_with({"a", "b"});
  cut = cut.slice(0, cut.size() - 4).value();
  const std::pair<ErrorCode, SafetensorsStore> faults[] = {
      {ErrorCode::missing_tensor, store_with({"a"})},
      {ErrorCode::out_of_memory, store_with({"a", "b"}).limits(little)},
      {ErrorCode::cancelled, store_with({"a", "b"}).progress(stop)},
      {ErrorCode::unused_tensor, store_with({"a", "b", "c"}).allow_unused(false)},
      {ErrorCode::not_found, SafetensorsStore::from_file("/nothing/here")},
      {ErrorCode::truncated, SafetensorsStore::from_bytes(cut)}};
  for (const auto& [code, store] : faults) {
    const Result<ApplyResult> result = load_from(module, store);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, code) << result.error().to_string();
    EXPECT_EQ(fingerprint(module), before);
  }
}

TEST(Store, ChoosesVariantsByTheFile) {
  struct Other {
    Param c;
    ANDIRON_MODULE(Other, c)
  };
  struct Net {
    std::variant<Other, Pair> part;
    ANDIRON_MODULE(Net, part)
  };
  Net net;
  const auto store = store_with({"part.a", "part.b"}).skip_enum_variants(true);
  EXPECT_EQ(choose_variants(net, store).value().size(), 1U);
  EXPECT_EQ(load_from(net, store).value().applied, (Names{"part.a", "part.b"}));
}

struct Tied {
  Param embedding;
  Param head;
  ANDIRON_MODULE(Tied, embedding, head)
};

Tied tied(float first) {
  Tied module{Param(f32({2}, first)), Param()};
  tie(module.embedding, module.head);
  return module;
}

TEST(Store, WritesACopyForEachTiedNameUnlessToldToWriteItOnce) {
  auto copies = SafetensorsStore::from_bytes();
  save_into(tied(1), copies).value();
  EXPECT_EQ(copies.keys().value(), (Names{"embedding", "head"}));

  auto once = SafetensorsStore::from_bytes().write_ties_once(true);
  save_into(tied(1), once).value();
  EXPECT_EQ(once.keys().value(), Names{"embedding"});
  EXPECT_EQ(once.get_metadata().value().at("head"), "embedding");
  Tied to = tied(9);
  load_from(to, once).value();
  EXPECT_EQ(to.head.as<float>().value()[0], 1);
  Tied untied{Param(f32({2}, 5)), Param(f32({2}, 5))};
  EXPECT_EQ(load_from(untied, once).value().applied.size(), 2U);
  EXPECT_EQ(untied.head.as<float>().value()[1], 2);
}

TEST(Store, DoesNotTakeSharedMemoryForATie) {
  const Pair from = [] {
    Pair made = pair_of(1);
    made.b = made.a;
    return made;
  }();
  auto once = SafetensorsStore::from_bytes().write_ties_once(true);
  save_into(from, once).value();
  EXPECT_EQ(once.keys().value(), (Names{"a", "b"}));
}

TEST(Store, WritesACopyBesideATieAsATensorOfItsOwn) {
  struct Three {
    Param embedding, head, copy;
    ANDIRON_MODULE(Three, embedding, head, copy)
  };
  Three from{Param(f32({2}, 1)), Param(), Param()};
  tie(from.embedding, from.head);
  from.copy = from.embedding;
  auto once = SafetensorsStore::from_bytes().write_ties_once(true);
  save_into(from, once).value();
  EXPECT_EQ(once.keys().value(), (Names{"copy", "embedding"}));
}

TEST(Store, WritesCopiesOfATieWhoseNumbersAreConverted) {
  auto once = SafetensorsStore::from_bytes().write_ties_once(true).with_to_adapter(
      FloatCastAdapter::to(DType::f16));
  save_into(tied(1), once).value();
  EXPECT_EQ(once.keys().value(), (Names{"embedding", "head"}));
}

TEST(Store, RefusesMetadataUnderTheNameOfATie) {
  const auto refused = save_into(
      tied(1), SafetensorsStore::from_bytes().write_ties_once(true).metadata("head", "x"));
  EXPECT_EQ(refused.error().code, ErrorCode::name_collision);
}

TEST(Store, TellsOfParametersThatShareAnIdInEveryStore) {
  Pair copied = pair_of(1);
  copied.b = copied.a;
  copied.b.set_val(f32({2}, 9));
  const TempDir dir;
  const auto first_note = [&](auto store) { return save_into(copied, store).value().notes.at(0); };
  const std::string expected = "'b' has the id of 'a', though they are not tied";
  EXPECT_TRUE(first_note(BurnpackStore::from_bytes()).starts_with(expected));
  EXPECT_TRUE(first_note(BurnpackStore::from_file(dir.file("m"))).starts_with(expected));
  EXPECT_TRUE(first_note(SafetensorsStore::from_bytes()).starts_with(expected));
  EXPECT_TRUE(first_note(MpkStore::from_bytes()).starts_with(expected));
  EXPECT_TRUE(first_note(NumpyStore::from_bytes()).starts_with(expected));
}

TEST(Store, TellsWhatTheFormatLeavesOutOfASaveInEveryStore) {
  Pair model = pair_of(1);
  model.b = Param(Tensor::zeros(DType::f64, {2}).value());
  const TempDir dir;
  const auto same_notes = [&](auto in_memory, auto in_file) {
    const std::vector<Message> notes =
        save_into(model, in_memory.metadata("version", "7")).value().notes;
    EXPECT_EQ(save_into(model, in_file.metadata("version", "7")).value().notes, notes);
    return notes;
  };
  const std::string ids =
      "2 parameter ids were left out; set SafetensorsSettings::param_ids to keep them";
  EXPECT_EQ(same_notes(SafetensorsStore::from_bytes(),
                       SafetensorsStore::from_file(dir.file("one.safetensors"))),
            std::vector<Message>{ids});
  EXPECT_EQ(same_notes(SafetensorsStore::from_bytes(),
                       SafetensorsStore::from_file(dir.file("two.safetensors")).max_shard_bytes(8)),
            std::vector<Message>{ids});
  EXPECT_EQ(same_notes(BurnpackStore::from_bytes(), BurnpackStore::from_file(dir.file("m.bpk"))),
            std::vector<Message>());
  EXPECT_EQ(same_notes(MpkStore::from_bytes(), MpkStore::from_file(dir.file("m.mpk"))),
            (std::vector<Message>{"mpk cannot store 1 metadata string; it was left out",
                                  "mpk stores 1 tensor in another dtype: f64 to f32"}));
  EXPECT_EQ(same_notes(NumpyStore::from_bytes(), NumpyStore::from_file(dir.file("m.npz"))),
            (std::vector<Message>{"numpy cannot store 2 parameter ids; they were left out",
                                  "numpy cannot store 1 metadata string; it was left out"}));
}

TEST(Store, AMissingTensorIsAnErrorWhoseHintNamesTheWayToLoadTheRest) {
  const auto hint_for = [](const Names& names) {
    Pair to = pair_of(0);
    const Error error = load_from(to, store_with(names)).error();
    EXPECT_EQ(error.code, ErrorCode::missing_tensor);
    return error.hint;
  };
  EXPECT_EQ(hint_for({}), "see the report, or load the rest with .allow_partial(true)");
  // A proposal that feeds all parameters, or leaves the others out, does not need it.
  for (const Names& names : {Names{"a"}, Names{"net.a", "net.b"}}) {
    const std::string hint = hint_for(names);
    EXPECT_TRUE(hint.starts_with("try ")) << hint;
    EXPECT_EQ(hint.find("allow_partial"), std::string::npos) << hint;
  }
}

TEST(Store, AProposalThatLeavesParametersMissingDoesNotHideTheWayToLoadTheRest) {
  std::vector<Param> model(12, Param(f32({2}, 0)));
  auto store = SafetensorsStore::from_bytes();
  save_into(model, store.with_regex("^[0-7]$").with_key_remapping("^", "net.")).value();
  const Error error =
      load_from(model, SafetensorsStore::from_bytes(store.get_bytes().value())).error();
  ASSERT_EQ(error.code, ErrorCode::missing_tensor);
  EXPECT_TRUE(error.hint.starts_with("try ")) << error.hint;
  EXPECT_TRUE(error.hint.ends_with("; or load the rest with .allow_partial(true)")) << error.hint;
}

// Only a record without names is opened again, with the names of a module.
TEST(Store, AFileThatIsNotSupportedIsOpenedOnce) {
  class Unsupported final : public FileSet {
   public:
    std::string name() const override { return "odd"; }
    Result<ByteSourcePtr> open(const std::string&) const override {
      ++opened;
      return Error{.code = ErrorCode::unsupported, .message = "odd"};
    }
    mutable int opened = 0;
  };
  const auto files = std::make_shared<Unsupported>();
  Pair model = pair_of(0);
  EXPECT_EQ(load_from(model, SafetensorsStore::from_files(files, "model.safetensors")).error().code,
            ErrorCode::unsupported);
  EXPECT_EQ(files->opened, 1);
}

TEST(Store, TellsWhatASaveDidAndWhatLooksWrong) {
  const WriteReport plain = save_into(pair_of(1), SafetensorsStore::from_bytes()).value();
  EXPECT_EQ(plain.tensors, 2U);
  const std::string ids =
      "2 parameter ids were left out; set SafetensorsSettings::param_ids to keep them";
  EXPECT_EQ(plain.notes, std::vector<Message>{ids});

  const WriteReport none =
      save_into(pair_of(1), SafetensorsStore::from_bytes().with_regex("^encoder")).value();
  EXPECT_EQ(none.tensors, 0U);
  ASSERT_EQ(none.notes.size(), 1U);
  EXPECT_EQ(none.notes[0], "no parameter matches the filter; parameters look like 'a'");

  const WriteReport odd =
      save_into(pair_of(1), SafetensorsStore::from_bytes().with_key_remapping("^(a)", "x$1y"))
          .value();
  EXPECT_EQ(odd.notes.size(), 2U);
  EXPECT_NE(odd.notes[0].find("names the group"), std::string::npos) << odd.notes[0];

  const TempDir dir;
  const WriteReport misnamed =
      save_into(pair_of(1), SafetensorsStore::from_file(dir.file("m.pt"))).value();
  EXPECT_EQ(misnamed.notes.back(), "this is a SafeTensors file, although its name ends in .pt");
}

TEST(Store, RefusesToSaveATensorWithoutAName) {
  const auto refused =
      save_into(pair_of(1), SafetensorsStore::from_bytes().with_key_remapping("^a$", "$2"));
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(refused.error().tensor, "a");
}

TEST(Store, GivesIdsBackWhenTheyWereWritten) {
  const Pair from = pair_of(1);
  auto store = SafetensorsStore::from_bytes().write_param_ids(true);
  save_into(from, store).value();
  Pair to = pair_of(50);
  load_from(to, store).value();
  EXPECT_EQ(to.a.id(), from.a.id());
  EXPECT_EQ(to.b.id(), from.b.id());
}

TEST(Store, GivesIdsBackUnderOtherNamesAndThroughAdapters) {
  const SampleNet from = sample_net(1);
  auto store = SafetensorsStore::from_bytes()
                   .write_param_ids(true)
                   .with_to_adapter(BurnToPyTorchAdapter())
                   .with_from_adapter(PyTorchToBurnAdapter());
  save_into(from, store).value();
  SampleNet to = sample_net(1000);
  load_from(to, store).value();
  EXPECT_EQ(to.head.weight.id(), from.head.weight.id());
  EXPECT_EQ(to.blocks[1].norm.gamma.id(), from.blocks[1].norm.gamma.id());
}

}  // namespace
}  // namespace andiron
