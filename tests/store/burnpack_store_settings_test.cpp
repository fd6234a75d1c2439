// SPDX-License-Identifier: MIT OR Apache-2.0
// What a BurnpackStore shows of a file, and the settings that it shares with all stores.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/stores.h"
#include "tests/store/burnpack_models.h"
#include "tests/support/bytes_of_text.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {
namespace {

namespace fs = std::filesystem;

// Four tensors.
struct Coders {
  nn::Linear encoder = nn::LinearConfig(3, 4).init();
  nn::Linear decoder = nn::LinearConfig(4, 3).init();
  ANDIRON_MODULE(Coders, encoder, decoder)
};

// ---- What is in a file ----

TEST(BurnpackStore, ShowsItsTensorsInOrderOfTheirNames) {
  const TempDir dir;
  const SampleNet model = sample_net(1);
  save_into(model, BurnpackStore::from_file(dir.file("m"))).value();
  for (const BurnpackStore& store : {saved(model), BurnpackStore::from_file(dir.file("m"))}) {
    const Names keys = store.keys().value();
    EXPECT_EQ(keys.size(), 11u);
    EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
    EXPECT_EQ(store.get_all_snapshots().value().keys(), keys);
    const auto nested = store.get_snapshot("blocks.1.linear.weight").value();
    ASSERT_TRUE(nested.has_value());
    EXPECT_EQ(nested->dtype(), DType::f32);
    EXPECT_EQ(nested->shape(), (Shape{4, 4}));
    EXPECT_EQ(nested->read().value().bytes().text(),
              model.blocks[1].linear.weight.val().value().bytes().text());
    EXPECT_EQ(store.get_snapshot("steps").value()->dtype(), DType::i64);
    EXPECT_FALSE(store.get_snapshot("blocks.2.linear.weight").value().has_value());
  }
}

TEST(BurnpackStore, OpensItsFileOnce) {
  const TempDir dir;
  save_into(pair_of(1), BurnpackStore::from_file(dir.file("m"))).value();
  const auto store = BurnpackStore::from_file(dir.file("m"));
  EXPECT_EQ(store.keys().value(), (Names{"a", "b"}));
  fs::remove(dir.file("m.bpk"));
  EXPECT_EQ(store.keys().value(), (Names{"a", "b"}));
  EXPECT_EQ(store.get_snapshot("a").value()->read().value().to_vector<float>().value()[0], 1);
}

TEST(BurnpackStore, ShowsEveryTensorWhateverTheFilterUnderItsNewName) {
  const auto store =
      store_with({"x.a", "x.b"}).with_full_path("none").with_key_remapping("^x", "y");
  EXPECT_EQ(store.keys().value(), (Names{"y.a", "y.b"}));
  EXPECT_EQ(store.get_snapshot("y.a").value()->full_path(), "y.a");
}

TEST(BurnpackStore, FollowsRulesThatAreAddedAfterReading) {
  auto store = store_with({"x.a"});
  EXPECT_EQ(store.keys().value(), Names{"x.a"});
  EXPECT_EQ(store.with_key_remapping("^x", "y").keys().value(), Names{"y.a"});
  EXPECT_EQ(store.remap(KeyRemapper()).keys().value(), Names{"x.a"});
}

// ---- The builders that all stores share ----

TEST(BurnpackStore, LoadsWhatAFilterTakes) {
  Coders to;
  const ApplyResult result = load_from(to, saved(Coders()).with_regex(R"(^encoder\..*)")).value();
  EXPECT_EQ(result.applied, (Names{"encoder.weight", "encoder.bias"}));
  EXPECT_EQ(result.skipped, (Names{"decoder.bias", "decoder.weight"}));
}

TEST(BurnpackStore, SavesWhatAFilterTakes) {
  const auto keys = [](BurnpackStore store) { return saved(Coders(), store).keys().value(); };
  EXPECT_EQ(keys(BurnpackStore().with_full_path("encoder.weight")), Names{"encoder.weight"});
  EXPECT_EQ(keys(BurnpackStore().with_full_paths({"encoder.bias", "decoder.bias"})),
            (Names{"decoder.bias", "encoder.bias"}));
  EXPECT_EQ(keys(BurnpackStore().with_regexes({"^decoder", "bias$"})),
            (Names{"decoder.bias", "decoder.weight", "encoder.bias"}));
  EXPECT_EQ(keys(BurnpackStore().with_glob("*.bias").exclude_regex("^encoder")),
            Names{"decoder.bias"});
  EXPECT_EQ(keys(BurnpackStore().filter(PathFilter().with_regex("^encoder.b"))),
            Names{"encoder.bias"});
  const auto in_linear = [](std::string_view path, const Container& container) {
    return container.is("Linear") && path.ends_with("weight");
  };
  EXPECT_EQ(keys(BurnpackStore().with_predicate(in_linear)),
            (Names{"decoder.weight", "encoder.weight"}));
}

TEST(BurnpackStore, SavesAnEmptyFileWhenTheFilterTakesNothing) {
  auto store = BurnpackStore().filter(PathFilter::none()).clear_metadata();
  const WriteReport report = save_into(Coders(), store).value();
  EXPECT_EQ(report.tensors, 0u);
  EXPECT_EQ(report.notes.size(), 1u);
  EXPECT_TRUE(store.keys().value().empty());
  EXPECT_TRUE(store.get_metadata().value().empty());
}

TEST(BurnpackStore, MatchAllOverridesTheFilterBeforeIt) {
  EXPECT_EQ(saved(Coders(), BurnpackStore().with_regex("^encoder").match_all()).keys()->size(), 4u);
  Coders to;
  const auto store = saved(Coders()).with_regex("^nothing").with_full_path("none").match_all();
  EXPECT_EQ(load_from(to, store).value().applied.size(), 4u);
}

TEST(BurnpackStore, RemapsOnALoad) {
  struct Renamed {
    nn::Linear stem = nn::LinearConfig(3, 4).init();
    nn::Linear tail = nn::LinearConfig(4, 3).init();
    ANDIRON_MODULE(Renamed, stem, tail)
  };
  Renamed to;
  const auto store = saved(Coders()).with_key_remapping(R"(^encoder\.)", "stem.");
  const ApplyResult partial = load_from(to, BurnpackStore(store).allow_partial(true)).value();
  EXPECT_EQ(partial.applied, (Names{"stem.weight", "stem.bias"}));
  EXPECT_EQ(partial.unused, (Names{"decoder.bias", "decoder.weight"}));
  EXPECT_EQ(partial.missing.size(), 2u);
  const auto both = saved(Coders()).remap(
      KeyRemapper::from_patterns({{"^encoder", "stem"}, {"^decoder", "tail"}}));
  EXPECT_EQ(load_from(to, both).value().applied.size(), 4u);
}

TEST(BurnpackStore, RemapsOnASaveAfterTheFilter) {
  const auto store = BurnpackStore().with_regex("^encoder").with_key_remapping("^encoder", "stem");
  EXPECT_EQ(saved(Coders(), store).keys().value(), (Names{"stem.bias", "stem.weight"}));
  const auto collision = save_into(pair_of(1), BurnpackStore().with_key_remapping("^[ab]$", "c"));
  EXPECT_EQ(collision.error().code, ErrorCode::name_collision);
}

TEST(BurnpackStore, TakesWhatLiesBelowATopLevelKey) {
  Pair to = pair_of(0);
  auto store = store_with({"model.a", "model.b", "other.a"}).with_top_level_key("model");
  EXPECT_EQ(load_from(to, store).value().applied, (Names{"a", "b"}));
}

TEST(BurnpackStore, ClosesIndexGapsOnlyWhenAskedTo) {
  auto store = store_with({"fc.0", "fc.2", "kept.3"});
  EXPECT_EQ(store.keys().value(), (Names{"fc.0", "fc.2", "kept.3"}));
  store.map_indices_contiguous(true).map_indices_contiguous_except("^kept$");
  EXPECT_EQ(store.keys().value(), (Names{"fc.0", "fc.1", "kept.3"}));
}

TEST(BurnpackStore, NamesVariantsUnlessTheyAreSkipped) {
  struct Net {
    std::variant<nn::Linear, nn::LayerNorm> part = nn::LinearConfig(2, 2).with_bias(false).init();
    ANDIRON_MODULE(Net, part)
  };
  const Net from;
  const BurnpackStore named = saved(from);
  EXPECT_EQ(named.keys().value(), Names{"part.Linear.weight"});
  const BurnpackStore skipped = saved(from, BurnpackStore().skip_enum_variants(true));
  EXPECT_EQ(skipped.keys().value(), Names{"part.weight"});
  Net to;
  EXPECT_TRUE(load_from(to, named));
  EXPECT_FALSE(load_from(to, skipped));
  EXPECT_TRUE(load_from(to, BurnpackStore(skipped).skip_enum_variants(true)));

  to.part = nn::LayerNormConfig(2).init();
  EXPECT_EQ(choose_variants(to, named).value().size(), 1u);
  EXPECT_TRUE(std::holds_alternative<nn::Linear>(to.part));
}

TEST(BurnpackStore, RefusesMissingTensorsUnlessPartialLoadsAreAllowed) {
  const auto store = store_with({"a"});
  Pair to = pair_of(50);
  const std::string before = fingerprint(to);
  const auto refused = load_from(to, store);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::missing_tensor);
  EXPECT_NE(refused.error().to_string().find("'b'"), std::string::npos);
  ASSERT_NE(refused.error().report, nullptr);
  EXPECT_EQ(refused.error().report->applied, Names{"a"});
  EXPECT_EQ(fingerprint(to), before);
  const ApplyResult partial = load_from(to, BurnpackStore(store).allow_partial(true)).value();
  EXPECT_EQ(partial.missing.at(0).path, "b");
  EXPECT_EQ(first_of(to.a), 1);
  EXPECT_EQ(first_of(to.b), 52);
}

TEST(BurnpackStore, RefusesTensorsThatDoNotFitUnlessToldNotToValidate) {
  const BurnpackStore store = saved(nn::LinearConfig(3, 5).init());
  nn::Linear to = nn::LinearConfig(3, 4).init();
  const std::string before = fingerprint(to);
  EXPECT_EQ(load_from(to, store).error().code, ErrorCode::shape_mismatch);
  const ApplyResult reported = load_from(to, BurnpackStore(store).validate(false)).value();
  EXPECT_EQ(reported.errors.size(), 2u);
  EXPECT_EQ(fingerprint(to), before);
}

TEST(BurnpackStore, RefusesUnusedTensorsWhenToldTo) {
  Pair to = pair_of(0);
  const auto store = store_with({"a", "b", "c"});
  EXPECT_EQ(load_from(to, store).value().unused, Names{"c"});
  EXPECT_EQ(load_from(to, BurnpackStore(store).allow_unused(false)).error().code,
            ErrorCode::unused_tensor);
}

TEST(BurnpackStore, GivesParametersTheDtypeThatThePolicyAsksFor) {
  const auto half =
      saved(pair_of(1), BurnpackStore().with_to_adapter(FloatCastAdapter::to(DType::f16)));
  Pair to = pair_of(50);
  EXPECT_EQ(load_from(to, BurnpackStore(half).dtype_policy(DTypePolicy::strict)).error().code,
            ErrorCode::dtype_mismatch);
  load_from(to, BurnpackStore(half).dtype_policy(DTypePolicy::cast_to_module)).value();
  EXPECT_EQ(to.a.dtype(), DType::f32);
  EXPECT_EQ(first_of(to.a), 1);
  load_from(to, half).value();
  EXPECT_EQ(to.a.dtype(), DType::f16);
}

TEST(BurnpackStore, ACancelledLoadLeavesTheModuleAsItWas) {
  Pair to = pair_of(50);
  const std::string before = fingerprint(to);
  const auto stop = [](std::uint64_t, std::uint64_t) { return false; };
  EXPECT_EQ(load_from(to, store_with({"a", "b"}).progress(stop)).error().code,
            ErrorCode::cancelled);
  EXPECT_EQ(fingerprint(to), before);
}

TEST(BurnpackStore, HoldsReadersAndWritersToItsLimits) {
  const auto store = store_with({"a", "b"});
  Pair to = pair_of(50);
  Limits little;
  little.tensors = 1;
  EXPECT_EQ(BurnpackStore(store).limits(little).keys().error().code, ErrorCode::limit_exceeded);
  little = {};
  little.burnpack_metadata_bytes = 16;
  EXPECT_EQ(BurnpackStore(store).limits(little).keys().error().code, ErrorCode::header_too_large);
  EXPECT_EQ(save_into(to, BurnpackStore().limits(little)).error().code, ErrorCode::limit_exceeded);
  little = {};
  little.load_bytes = 8;
  EXPECT_EQ(load_from(to, BurnpackStore(store).limits(little)).error().code,
            ErrorCode::out_of_memory);
  little = {};
  little.burnpack_tensor_bytes = 7;
  EXPECT_EQ(save_into(to, BurnpackStore().limits(little)).error().code, ErrorCode::limit_exceeded);
}

TEST(BurnpackStore, ReadsADamagedFileAsStrictlyAsItIsTold) {
  Archive archive;
  archive.add(TensorSnapshot("a", f32({2}, 1))).value();
  const Bytes file = write_to_memory(archive, {.format = Format::burnpack}).value();
  std::string damaged(file.text());
  damaged.replace(damaged.find("F32"), 3, "F99");
  const auto store = BurnpackStore::from_bytes(bytes_of_text(damaged));
  EXPECT_EQ(store.get_snapshot("a").value()->dtype_text(), "raw:F99");
  EXPECT_EQ(BurnpackStore(store).strictness(Strictness::strict).keys().error().code,
            ErrorCode::unsupported_dtype);
}

TEST(BurnpackStore, ReadsTheSameInEveryWayOfReading) {
  const TempDir dir;
  const SampleNet from = sample_net(1);
  save_into(from, BurnpackStore::from_file(dir.file("m")).sync(false)).value();
  for (const IoMode mode : {IoMode::automatic, IoMode::mmap, IoMode::pread}) {
    SampleNet to = sample_net(1000);
    load_from(to, BurnpackStore::from_file(dir.file("m")).io(mode).in_place(true)).value();
    EXPECT_EQ(fingerprint(to), fingerprint(from));
  }
}

TEST(BurnpackStore, PartialLoadsLeaveLazyParametersLazy) {
  int computed = 0;
  const auto lazy = [&] {
    return Param::lazy(DType::f32, {2}, [&] {
      ++computed;
      return Result<Tensor>(f32({2}, 100));
    });
  };
  Pair to{lazy(), lazy()};
  load_from(to, store_with({"a"}).allow_partial(true)).value();
  EXPECT_EQ(computed, 0);
  EXPECT_TRUE(to.a.is_initialized());
  EXPECT_FALSE(to.b.is_initialized());
  EXPECT_EQ(first_of(to.b), 100);
  EXPECT_EQ(computed, 1);
}

}  // namespace
}  // namespace andiron::test
