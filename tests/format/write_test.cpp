// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/write.h"

#include <gtest/gtest.h>

#include "andiron/open.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

Archive small_archive() {
  Archive archive;
  archive.add({"t", Tensor::from_values<float>({2}, {1, 2}).value()}).value();
  return archive;
}

TEST(Write, TakesTheFormatFromTheNameOrTheOptions) {
  const test::TempDir folder;
  const WriteReport report = write(small_archive(), folder.file("m.safetensors")).value();
  EXPECT_EQ(report.files, std::vector<std::string>{folder.file("m.safetensors")});
  EXPECT_EQ(report.bytes, test::read_file(report.files[0]).size());
  EXPECT_EQ(write(small_archive(), folder.file("m.bin")).error().code, ErrorCode::unsupported);
  EXPECT_TRUE(write(small_archive(), folder.file("m.bin"), {.format = Format::safetensors}));
  for (const char* name : {"m.bpk", "m.mpk", "m.mpk.gz"}) {
    ASSERT_TRUE(write(small_archive(), folder.file(name))) << name;
    const std::string content = test::read_file(folder.file(name));
    EXPECT_EQ(content.starts_with("NRUB"), std::string_view(name) == "m.bpk");
    EXPECT_EQ(content.starts_with("\x1f\x8b"), std::string_view(name) == "m.mpk.gz");
  }
}

TEST(Write, ReplacesOnlyWhenTold) {
  const test::TempDir folder;
  const std::string path = folder.file("m.safetensors");
  ASSERT_TRUE(write(small_archive(), path));
  EXPECT_EQ(write(Archive(), path).error().code, ErrorCode::already_exists);
  EXPECT_TRUE(write(Archive(), path, {.overwrite = true, .sync = false}));
  EXPECT_EQ(test::read_file(path).size(), 16u);
}

TEST(Write, GivesTheSameBytesToFileSinkAndMemory) {
  const test::TempDir folder;
  const std::string path = folder.file("m.safetensors");
  ASSERT_TRUE(write(small_archive(), path));
  MemorySink sink;
  ASSERT_TRUE(write(small_archive(), sink));
  EXPECT_EQ(sink.take().text(), test::read_file(path));
  EXPECT_EQ(write_to_memory(small_archive()).value().text(), test::read_file(path));
  EXPECT_EQ(write_to_memory(small_archive(), {.max_shard_bytes = 1}).error().code,
            ErrorCode::invalid_argument);
}

// A model of three tensors in a source that counts what is read.
struct Watched {
  std::shared_ptr<test::TestSource> source =
      std::make_shared<test::TestSource>(std::vector<std::byte>(3000));
  Archive archive;

  Watched() {
    for (std::uint64_t i = 0; i < 3; ++i) {
      archive
          .add(TensorSnapshot::from_source("t" + std::to_string(i), source, 1000 * i, 1000,
                                           DType::f32, {250})
                   .value())
          .value();
    }
  }
};

TEST(Write, ADryRunNeedsAPath) {
  const Archive archive;
  EXPECT_EQ(write_to_memory(archive, {.dry_run = true}).error().code, ErrorCode::invalid_argument);
}

TEST(Write, ADryRunReadsNothingAndMakesNoFile) {
  const Watched watched;
  const test::TempDir folder;
  for (const char* name : {"m.safetensors", "m.bpk", "m.mpk", "m.mpk.gz"}) {
    SCOPED_TRACE(name);
    const WriteReport report = write(watched.archive, folder.file(name), {.dry_run = true}).value();
    EXPECT_EQ(report.files, std::vector<std::string>{folder.file(name)});
    EXPECT_EQ(report.tensors, 3u);
    EXPECT_TRUE(folder.names().empty());
    EXPECT_EQ(watched.source->reads(), 0u);
  }
}

TEST(Write, ADryRunTellsTheSizeThatTheFileWouldHave) {
  const Watched watched;
  const test::TempDir folder;
  for (const char* name : {"m.safetensors", "m.bpk", "m.mpk"}) {
    SCOPED_TRACE(name);
    const std::string path = folder.file(name);
    const WriteReport planned = write(watched.archive, path, {.dry_run = true}).value();
    const WriteReport made = write(watched.archive, path).value();
    EXPECT_EQ(planned.bytes, made.bytes);
    EXPECT_EQ(test::read_file(path).size(), made.bytes);
  }
}

TEST(Write, ADryRunOfShardsMakesNone) {
  const Watched watched;
  const test::TempDir folder;
  const WriteOptions options{.max_shard_bytes = 1000, .dry_run = true};
  const WriteReport planned = write(watched.archive, folder.file("m.safetensors"), options).value();
  EXPECT_EQ(planned.files.size(), 4u);
  EXPECT_TRUE(folder.names().empty());
  EXPECT_EQ(watched.source->reads(), 0u);
  const WriteReport made =
      write(watched.archive, folder.file("m.safetensors"), {.max_shard_bytes = 1000}).value();
  EXPECT_EQ(planned.files, made.files);
  EXPECT_EQ(planned.bytes, made.bytes);
}

TEST(Write, ADryRunTouchesNoFileThatIsThere) {
  const Watched watched;
  const test::TempDir folder;
  for (const char* name : {"m.safetensors", "m.bpk", "m.mpk"}) {
    SCOPED_TRACE(name);
    const std::string path = folder.file(name);
    test::write_file(path, "old");
    EXPECT_EQ(write(watched.archive, path, {.dry_run = true}).error().code,
              ErrorCode::already_exists);
    EXPECT_TRUE(write(watched.archive, path, {.overwrite = true, .dry_run = true}));
    EXPECT_EQ(test::read_file(path), "old");
  }
  // Nor the other form of a model.
  test::write_file(folder.file("n.safetensors.index.json"), "index");
  EXPECT_EQ(write(watched.archive, folder.file("n.safetensors"), {.dry_run = true}).error().code,
            ErrorCode::already_exists);
  EXPECT_TRUE(
      write(watched.archive, folder.file("n.safetensors"), {.overwrite = true, .dry_run = true}));
  EXPECT_EQ(test::read_file(folder.file("n.safetensors.index.json")), "index");
}

TEST(Write, ADryRunRefusesWhatAWriteWouldRefuse) {
  const test::TempDir folder;
  Archive archive;
  archive.add({"t", Tensor::zeros(DType::c128, {1}).value()}).value();
  for (const char* name : {"m.safetensors", "m.bpk", "m.mpk"}) {
    EXPECT_EQ(write(archive, folder.file(name), {.dry_run = true}).error().code,
              ErrorCode::unsupported_dtype)
        << name;
  }
  EXPECT_EQ(write(archive, folder.file("m"), {.dry_run = true}).error().code,
            ErrorCode::unsupported);
}

TEST(Write, NamesTheFolderThatIsNotThere) {
  const test::TempDir folder;
  Result<WriteReport> report = write(small_archive(), folder.file("absent/m.safetensors"));
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().to_string().find("absent"), std::string::npos);
}

TEST(Write, RefusesSettingsOfAnotherFormat) {
  MemorySink sink;
  const Error error =
      write(small_archive(), sink, {.format = Format::numpy, .settings = SafetensorsSettings()})
          .error();
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(error.found, "settings for SafeTensors");
  EXPECT_EQ(error.expected, "none, or settings for NumPy");
}

TEST(Write, RefusesMoreDataThanCanBeAddressed) {
  const auto repeated = [](std::string name, std::uint64_t count) {
    return TensorSnapshot(std::move(name), Tensor::from_values<std::uint8_t>({1}, {7}).value())
        .expand({count})
        .value();
  };
  const auto refusal = [](const Archive& archive, Format format) {
    MemorySink sink;
    return write(archive, sink, {.format = format}).error();
  };
  constexpr std::uint64_t most = std::uint64_t{1} << 60;
  for (const Format format : {Format::safetensors, Format::burnpack, Format::mpk, Format::numpy}) {
    Archive one;
    one.add(repeated("a", most + 1)).value();
    EXPECT_EQ(refusal(one, format).code, ErrorCode::overflow);
    EXPECT_EQ(refusal(one, format).message, "the data is too large to address");
    Archive two;
    two.add(repeated("a", most)).value();
    two.add(repeated("b", 1)).value();
    EXPECT_EQ(refusal(two, format).tensor, "b");
    EXPECT_EQ(refusal(two, format).code, ErrorCode::overflow);
  }
  // A tied name that is written as a copy counts.
  Archive tied;
  tied.add(repeated("a", most / 2 + 1)).value();
  tied.set_aliases({{"b", "a"}});
  EXPECT_EQ(refusal(tied, Format::numpy).code, ErrorCode::overflow);
}

// Metadata, an id, and values beside the tensors: one at the top, two below it.
Archive full_archive() {
  Archive archive;
  archive
      .add(TensorSnapshot("t", Tensor::from_values<double>({2}, {1, 2}).value())
               .with_param_id(ParamId{17}))
      .value();
  archive.set_metadata({{"author", "nobody"}, {"version", "1"}});
  archive.set_value(
      ValueDict{{"lr", Value(0.1)},
                {"config", Value(ValueDict{{"name", Value("x")}, {"depth", Value(1.0)}})}});
  return archive;
}

TEST(Write, TellsEveryCallerWhatTheFormatHasNoPlaceFor) {
  const test::TempDir folder;
  const auto notes = [&](const char* name, WriteOptions options = {}) {
    options.overwrite = true;
    return write(full_archive(), folder.file(name), options).value().notes;
  };
  EXPECT_EQ(notes("m.safetensors"),
            (std::vector<Message>{
                "safetensors cannot store 3 values (configs, scalars); they were left out",
                "1 parameter id was left out; set SafetensorsSettings::param_ids to keep it"}));
  EXPECT_EQ(notes("m.safetensors", {.settings = SafetensorsSettings{.param_ids = true}}),
            std::vector<Message>{
                "safetensors cannot store 3 values (configs, scalars); they were left out"});
  EXPECT_EQ(notes("m.bpk"),
            std::vector<Message>{
                "burnpack cannot store 2 values (configs, scalars); they were left out"});
  EXPECT_EQ(notes("m.bpk", {.settings = BurnpackSettings{BurnpackGeneration::burn_0_21}}),
            std::vector<Message>{
                "burnpack 0.21 cannot store 3 values (configs, scalars); they were left out"});
  EXPECT_EQ(notes("m.mpk"), (std::vector<Message>{
                                "mpk cannot store 3 values (configs, scalars); they were left out",
                                "mpk cannot store 1 metadata string; it was left out",
                                "mpk stores 1 tensor in another dtype: f64 to f32"}));
  EXPECT_EQ(
      notes("m.npz"),
      (std::vector<Message>{"numpy cannot store 3 values (configs, scalars); they were left out",
                            "numpy cannot store 1 parameter id; it was left out",
                            "numpy cannot store 2 metadata strings; they were left out"}));
  EXPECT_EQ(notes("m.npy").back(), "the file has no room for the name 't'; it was left out");
  // A dry run, a sink and a file say the same.
  MemorySink sink;
  EXPECT_EQ(write(full_archive(), sink, {.format = Format::numpy}).value().notes, notes("m.npz"));
  EXPECT_EQ(notes("n.npz", {.dry_run = true}), notes("m.npz"));
}

TEST(Write, ShardsTellWhatTheFormatHasNoPlaceForToo) {
  const test::TempDir folder;
  Archive two = full_archive();
  two.add(TensorSnapshot("u", Tensor::zeros(DType::f32, {4}).value())).value();
  const WriteReport report =
      write(two, folder.file("m.safetensors"), {.max_shard_bytes = 16}).value();
  EXPECT_EQ(report.files.size(), 3u);
  ASSERT_EQ(report.notes.size(), 2u);
  EXPECT_EQ(report.notes[0],
            "safetensors cannot store 3 values (configs, scalars); they were left out");
}

TEST(Write, TellsOfMetadataThatARecordReplacesAlsoFromRecordToRecord) {
  const Bytes record = write_to_memory(full_archive(), {.format = Format::mpk}).value();
  const Archive archive = open(record).value();
  const auto notes = [&](const Metadata& added, RecordPrecision precision) {
    MemorySink sink;
    const WriteOptions options = {
        .format = Format::mpk, .settings = MpkSettings{.precision = precision}, .metadata = added};
    return write(archive, sink, options).value().notes;
  };
  EXPECT_TRUE(notes({}, RecordPrecision::half).empty());
  EXPECT_TRUE(notes({{"author", "me"}}, RecordPrecision::half).empty());
  EXPECT_EQ(notes({{"version", "7"}}, RecordPrecision::half),
            std::vector<Message>{"mpk cannot store 1 metadata string; it was left out"});
}

TEST(Write, LeavesOutWhatHasNoPlace) {
  const test::TempDir folder;
  const std::string path = folder.file("old.bpk");
  write(full_archive(), path, {.settings = BurnpackSettings{BurnpackGeneration::burn_0_21}})
      .value();
  EXPECT_TRUE(open(path).value().value()->is_null());
}

TEST(Write, ANameThatSaysAnotherFormatGetsANote) {
  const test::TempDir folder;
  const WriteReport report =
      write(small_archive(), folder.file("m.pt"), {.format = Format::safetensors}).value();
  EXPECT_EQ(report.notes,
            std::vector<Message>{"this is a SafeTensors file, although its name ends in .pt"});
}

TEST(Write, SettingsOfAnotherFormatAreRefused) {
  const test::TempDir folder;
  EXPECT_EQ(write(small_archive(), folder.file("m.bpk"), {.settings = MpkSettings()}).error().code,
            ErrorCode::invalid_argument);
}

TEST(Write, ShardsAreForFormatsThatHaveThem) {
  const test::TempDir folder;
  for (const char* name : {"m.bpk", "m.mpk", "m.npz"}) {
    EXPECT_EQ(write(small_archive(), folder.file(name), {.max_shard_bytes = 4}).error().code,
              ErrorCode::unsupported)
        << name;
  }
}

TEST(Write, MetadataOfTheOptionsIsAddedToTheArchives) {
  const Bytes file =
      write_to_memory(full_archive(), {.metadata = {{"version", "2"}, {"run", "7"}}}).value();
  EXPECT_EQ(open(file).value().metadata(),
            (Metadata{{"author", "nobody"}, {"run", "7"}, {"version", "2"}}));
}

TEST(Write, TiedNamesAreKeptOrWrittenAsCopiesInEveryFormat) {
  const test::TempDir folder;
  Archive tied = small_archive();
  tied.set_aliases({{"head", "t"}});
  const std::pair<const char*, bool> cases[] = {
      {"m.safetensors", true}, {"m.bpk", false}, {"m.mpk", false}, {"m.npz", false}};
  for (const auto& [name, is_alias] : cases) {
    const WriteReport report = write(tied, folder.file(name)).value();
    const Archive again = open(folder.file(name)).value();
    EXPECT_EQ(again.size(), is_alias ? 1u : 2u) << name;
    EXPECT_EQ(again.get("head").value().read().value().to_vector<float>().value(),
              (std::vector<float>{1, 2}))
        << name;
    for (const Message& note : report.notes) {
      EXPECT_EQ(note.find("metadata"), std::string::npos) << note;
    }
  }
}

TEST(Write, WhatIsWrittenOpensAgainInEveryFormat) {
  const test::TempDir folder;
  Archive long_name;
  long_name.add({std::string(600, 'n'), Tensor::from_values<float>({1}, {1}).value()}).value();
  for (const FormatInfo& format : formats()) {
    if (!format.is_written) continue;
    for (const Archive& archive : {Archive(), long_name, small_archive()}) {
      const std::string path = folder.file("m" + std::string(format.endings.front()));
      ASSERT_TRUE(write(archive, path, {.overwrite = true})) << format.name;
      const Result<Archive> again = open(path);
      ASSERT_TRUE(again) << format.name << again.error().to_string();
      EXPECT_EQ(again->format(), format.name);
      EXPECT_EQ(again->size(), archive.size());
    }
  }
}

TEST(Write, AnIndexOfAnotherFormatStays) {
  const test::TempDir folder;
  const std::string index = folder.file("pytorch_model.bin.index.json");
  test::write_file(index, "{}");
  ASSERT_TRUE(write(small_archive(), folder.file("pytorch_model.bin"),
                    {.format = Format::safetensors, .overwrite = true}));
  EXPECT_EQ(test::read_file(index), "{}");
}

TEST(Write, TakesAListOfTensorsOfWhichTheLaterCounts) {
  const test::TempDir folder;
  Snapshots list;
  list.push_back({"a", Tensor::from_values<float>({1}, {1}).value()});
  list.push_back({"a", Tensor::from_values<float>({1}, {2}).value()});
  const std::string path = folder.file("m.safetensors");
  const WriteReport report = write(list, path).value();
  EXPECT_EQ(report.notes, std::vector<Message>{"'a' appears twice; the last one is used"});
  EXPECT_EQ(open(path).value().get("a").value().read().value().to_vector<float>().value(),
            std::vector<float>{2});
}

}  // namespace
}  // namespace andiron
