// SPDX-License-Identifier: MIT OR Apache-2.0
// Where a BurnpackStore keeps its file, what it guards there and what it leaves after a fault.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "andiron/stores.h"
#include "tests/store/burnpack_models.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {
namespace {

namespace fs = std::filesystem;

// ---- Paths ----

TEST(BurnpackStore, AddsItsExtensionToAPathWithoutOne) {
  const TempDir dir;
  auto store = BurnpackStore::from_file(dir.file("model"));
  EXPECT_EQ(store.path(), dir.file("model.bpk"));
  EXPECT_EQ(save_into(pair_of(1), store).value().files, Names{dir.file("model.bpk")});
  EXPECT_EQ(dir.names(), Names{"model.bpk"});
  Pair to;
  EXPECT_TRUE(load_from(to, BurnpackStore::from_file(dir.file("model"))));
}

TEST(BurnpackStore, KeepsAnyExtension) {
  const TempDir dir;
  for (const char* name : {"model.bpk", "model.burn", "model.v1.5"}) {
    save_into(pair_of(1), BurnpackStore::from_file(dir.file(name))).value();
    EXPECT_EQ(BurnpackStore::from_file(dir.file(name)).keys().value().size(), 2u);
  }
  EXPECT_EQ(dir.names(), (Names{"model.bpk", "model.burn", "model.v1.5"}));
}

TEST(BurnpackStore, NotesAnExtensionOfAnotherFormat) {
  const TempDir dir;
  for (const char* name : {"model.mpk", "model.safetensors", "model.pt"}) {
    const WriteReport report =
        save_into(pair_of(1), BurnpackStore::from_file(dir.file(name))).value();
    ASSERT_EQ(report.notes.size(), 1u) << name;
    EXPECT_TRUE(report.notes[0].starts_with("this is a Burnpack file")) << report.notes[0];
    EXPECT_EQ(open(dir.file(name)).value().format(), "burnpack");
  }
  EXPECT_TRUE(
      save_into(pair_of(1), BurnpackStore::from_file(dir.file("m.burn"))).value().notes.empty());
}

TEST(BurnpackStore, APathThatIsNotThereIsNotBlamedOnItsUser) {
  const TempDir dir;
  const Error error = BurnpackStore::from_file(dir.file("absent")).keys().error();
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_EQ(error.hint,
            "'.bpk' was added to the path; .auto_extension(false) keeps the path as it is");
}

TEST(BurnpackStore, APathThatIsThereIsReadAsItIs) {
  const TempDir dir;
  save_into(pair_of(1), BurnpackStore::from_file(dir.file("model.bpk"))).value();
  EXPECT_EQ(BurnpackStore::from_file(dir.path()).keys().value(), (Names{"a", "b"}));
  save_into(pair_of(1), BurnpackStore::from_file(dir.file("other")).auto_extension(false)).value();
  EXPECT_EQ(BurnpackStore::from_file(dir.file("other")).keys().value(), (Names{"a", "b"}));
}

TEST(BurnpackStore, AFolderAndNothingAreNoNamesToSaveUnder) {
  const TempDir dir;
  for (const std::string& path : {dir.path() + "/", std::string()}) {
    EXPECT_FALSE(save_into(pair_of(1), BurnpackStore::from_file(path)));
  }
  EXPECT_TRUE(dir.names().empty());
}

TEST(BurnpackStore, WritesAndReadsTheExactPathWhenToldTo) {
  const TempDir dir;
  const auto store = [&] {
    return BurnpackStore::from_file(dir.file("model")).auto_extension(false);
  };
  save_into(pair_of(1), store()).value();
  EXPECT_EQ(dir.names(), Names{"model"});
  EXPECT_EQ(store().keys().value(), (Names{"a", "b"}));
  EXPECT_EQ(save_into(pair_of(2), store()).error().code, ErrorCode::already_exists);
  save_into(pair_of(2), store().overwrite(true)).value();
  EXPECT_EQ(dir.names(), Names{"model"});
}

TEST(BurnpackStore, DoesNotFallBackToItsExtensionWhenToldNotTo) {
  const TempDir dir;
  save_into(pair_of(1), BurnpackStore::from_file(dir.file("model"))).value();
  const auto exact = BurnpackStore::from_file(dir.file("model")).auto_extension(false);
  EXPECT_EQ(exact.keys().error().code, ErrorCode::not_found);
}

// ---- Saving over files ----

TEST(BurnpackStore, DoesNotReplaceAFileUnlessToldTo) {
  const TempDir dir;
  const auto store = BurnpackStore::from_file(dir.file("m")).metadata("old", "x");
  save_into(pair_of(1), BurnpackStore(store)).value();
  const std::string before = read_file(dir.file("m.bpk"));
  const auto refused = save_into(pair_of(2), BurnpackStore(store));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::already_exists);
  EXPECT_EQ(refused.error().file, dir.file("m.bpk"));
  EXPECT_EQ(read_file(dir.file("m.bpk")), before);

  auto again = BurnpackStore::from_file(dir.file("m")).metadata("new", "y").overwrite(true);
  save_into(pair_of(2), again).value();
  EXPECT_TRUE(again.get_metadata().value().contains("new"));
  EXPECT_FALSE(again.get_metadata().value().contains("old"));
  Pair to;
  load_from(to, again).value();
  EXPECT_EQ(first_of(to.a), 2);
  EXPECT_EQ(dir.names(), Names{"m.bpk"});
}

TEST(BurnpackStore, GuardsALinkThatLeadsNowhere) {
  const TempDir dir;
  fs::create_symlink("real.bpk", dir.file("m.bpk"));
  auto store = BurnpackStore::from_file(dir.file("m.bpk"));
  EXPECT_EQ(save_into(pair_of(1), store).error().code, ErrorCode::already_exists);
  EXPECT_EQ(dir.names(), Names{"m.bpk"});
  save_into(pair_of(1), store.overwrite(true)).value();
  EXPECT_TRUE(fs::is_symlink(dir.file("m.bpk")));
  EXPECT_EQ(dir.names(), (Names{"m.bpk", "real.bpk"}));
}

TEST(BurnpackStore, DoesNotReplaceAFileThatAppearsWhileItWrites) {
  const TempDir dir;
  const std::string path = dir.file("m.bpk");
  const auto intrude = [&](std::uint64_t, std::uint64_t) {
    write_file(path, "mine");
    return true;
  };
  const auto refused = save_into(pair_of(1), BurnpackStore::from_file(path).progress(intrude));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::already_exists);
  EXPECT_EQ(read_file(path), "mine");
  EXPECT_EQ(dir.names(), Names{"m.bpk"});
}

TEST(BurnpackStore, AFailedSaveLeavesTheOldFileAndNothingElse) {
  const TempDir dir;
  const std::string path = dir.file("m.bpk");
  save_into(pair_of(1), BurnpackStore::from_file(path)).value();
  const std::string before = read_file(path);
  Pair failing = pair_of(2);
  failing.b = Param::lazy(DType::f32, {2}, [] {
    return Result<Tensor>(Error{.code = ErrorCode::io, .message = "the test said so"});
  });
  auto store = BurnpackStore::from_file(path).overwrite(true);
  const auto failed = save_into(failing, store);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().tensor, "b");
  EXPECT_EQ(read_file(path), before);
  EXPECT_EQ(dir.names(), Names{"m.bpk"});
  EXPECT_EQ(store.keys().value(), (Names{"a", "b"}));
}

TEST(BurnpackStore, ACancelledSaveLeavesNothing) {
  const TempDir dir;
  const auto stop = [](std::uint64_t, std::uint64_t) { return false; };
  const auto cancelled =
      save_into(pair_of(1), BurnpackStore::from_file(dir.file("m")).progress(stop));
  EXPECT_EQ(cancelled.error().code, ErrorCode::cancelled);
  EXPECT_TRUE(dir.names().empty());
}

TEST(BurnpackStore, MayBeSavedIntoTheFileThatItsModuleBorrowsFrom) {
  const TempDir dir;
  auto store = BurnpackStore::from_file(dir.file("m")).zero_copy(true).overwrite(true);
  const SampleNet from = sample_net(1);
  save_into(from, store).value();
  SampleNet borrowed = sample_net(1000);
  load_from(borrowed, store).value();
  save_into(borrowed, store).value();
  SampleNet again = sample_net(1000);
  load_from(again, store).value();
  EXPECT_EQ(fingerprint(borrowed), fingerprint(from));
  EXPECT_EQ(fingerprint(again), fingerprint(from));
}

TEST(BurnpackStore, ForgetsWhatItReadWhenItIsSavedInto) {
  const TempDir dir;
  auto store = BurnpackStore::from_file(dir.file("m")).overwrite(true);
  save_into(pair_of(1), store).value();
  EXPECT_EQ(store.keys().value(), (Names{"a", "b"}));
  save_into(sample_net(1), store).value();
  EXPECT_EQ(store.keys().value().size(), 11u);
}

TEST(BurnpackStore, RefusesShardsWhichTheFormatLacks) {
  const TempDir dir;
  const auto refused =
      save_into(sample_net(1), BurnpackStore::from_file(dir.file("m")).max_shard_bytes(64));
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_TRUE(dir.names().empty());
}

TEST(BurnpackStore, SaysWhatAFileIsInstead) {
  const TempDir dir;
  write_file(dir.file("m.bpk"), "NRUB");
  EXPECT_EQ(BurnpackStore::from_file(dir.file("m")).keys().error().code, ErrorCode::truncated);
  write_file(dir.file("m.bpk"), "<html>");
  const auto refused = BurnpackStore::from_file(dir.file("m")).keys();
  EXPECT_EQ(refused.error().code, ErrorCode::not_a_weight_file);
  EXPECT_EQ(refused.error().file, dir.file("m.bpk"));
}

}  // namespace
}  // namespace andiron::test
