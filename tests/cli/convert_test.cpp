// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron convert: what arrives in the other file, what is said of what does not, and what is
// refused before anything is written.
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "andiron/open.h"
#include "andiron/param_id.h"
#include "andiron/value.h"
#include "andiron/write.h"
#include "tests/cli/sample_files.h"

namespace andiron::test {
namespace {

class Convert : public ToolTest {
 protected:
  std::string model() const {
    return write("model.safetensors",
                 {{"net.0.weight", "F32", {8, 32}, 1024},
                  {"net.2.weight", "F16", {2}, 4},
                  {"net.2.bias", "I64", {1}, 8}},
                 {{"format", "pt"}});
  }

  // A Burnpack file with ids, metadata, scalars, an empty tensor, and data out of the order of
  // names.
  std::string burnpack(const WriteOptions& options = {}) const {
    Archive archive;
    const auto add = [&](const char* name, Tensor tensor, std::uint64_t id) {
      archive.add(TensorSnapshot(name, tensor).with_param_id(ParamId{id})).value();
    };
    add("z", Tensor::from_values<float>({3}, {1, 2, 3}).value(), 17);
    add("b.empty", Tensor::zeros(DType::f32, {0, 4}).value(), 18);
    add("a", Tensor::from_values<std::int32_t>({2}, {-1, 1}).value(), 19);
    archive.set_metadata({{"author", "nobody"}});
    const auto* settings = std::get_if<BurnpackSettings>(&options.settings);
    if (settings == nullptr || settings->release >= BurnpackGeneration::burn_0_22_pre) {
      archive.set_value(
          ValueDict{{"lr", Value(0.001)}, {"step", Value(std::uint64_t{42})}, {"ok", Value(true)}});
    }
    const std::string file = path("model.bpk");
    WriteOptions overwrite = options;
    overwrite.overwrite = true;
    andiron::write(archive, file, overwrite).value();
    return file;
  }

  // Names and digests of all tensors.
  static std::string digests(const std::string& file) {
    const Outcome run = tool({"hash", "--full", file});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.out;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path(""))) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(Convert, WritesTheSameTensorsAndSaysSoInOneLine) {
  const std::string in = model();
  const std::string out = path("out.safetensors");
  const Outcome run = tool({"convert", in, "-o", out});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out, out + ": 3 tensors, 1.3 KiB, safetensors\n");
  EXPECT_EQ(digests(out), digests(in));
  EXPECT_EQ(objects_of(tool({"ls", "--json", out})).at(0).at("metadata"),
            (nlohmann::json{{"format", "pt"}}));
}

TEST_F(Convert, JsonIsOneObject) {
  const std::string in = model();
  const std::string out = path("out.safetensors");
  const Outcome run = tool({"convert", "--json", in, "--output", out});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json expected = {{"schema", 1},
                                   {"path", in},
                                   {"output", out},
                                   {"format", "safetensors"},
                                   {"tensors", 3},
                                   {"bytes", std::filesystem::file_size(out)},
                                   {"files", {out}},
                                   {"dry_run", false},
                                   {"skipped", nlohmann::json::array()},
                                   {"notes", nlohmann::json::array()}};
  EXPECT_EQ(objects_of(run).at(0), expected);
}

TEST_F(Convert, ChoosesAndRenamesTensors) {
  const std::string out = path("out.safetensors");
  EXPECT_EQ(tool({"convert", "--top-level-key", "net", "--contiguous-indices", "--sub", "weight",
                  "kernel", "--exclude", "**.bias", model(), "-o", out})
                .exit_code,
            0);
  EXPECT_EQ(names_of(objects_of(tool({"ls", "--json", out})).at(0)),
            (Names{"0.kernel", "1.kernel"}));
}

TEST_F(Convert, AFilterThatNothingPassesReplacesNothing) {
  const std::string in = model();
  const std::string before = digests(in);
  const Outcome run = tool({"convert", "-f", "--include", "absent", in, "-o", in});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "no tensor matches")) << run.err;
  EXPECT_EQ(digests(in), before);
}

TEST_F(Convert, AnExistingFileStaysUnlessForced) {
  const std::string in = model();
  const std::string out = write_text("out.safetensors", "precious");
  const Outcome refused = tool({"convert", in, "-o", out});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(lines_of(refused.err).size(), 1u) << refused.err;
  EXPECT_EQ(refused.err.rfind("andiron: " + out + ": ", 0), 0u) << refused.err;
  EXPECT_TRUE(contains(refused.err, "--force")) << refused.err;
  EXPECT_EQ(read_file(out), "precious");

  EXPECT_EQ(tool({"convert", in, "-f", "--no-sync", "-o", out}).exit_code, 0);
  EXPECT_EQ(digests(out), digests(in));
}

TEST_F(Convert, TheOutputMayBeTheInput) {
  const std::string file = model();
  const std::string before = digests(file);
  EXPECT_EQ(tool({"convert", file, "--force", "-o", file}).exit_code, 0);
  EXPECT_EQ(digests(file), before);
}

TEST_F(Convert, ADryRunSaysWhatWouldBeAndLeavesNothing) {
  const std::string in = model();
  const std::string out = path("out.safetensors");
  const auto before = files();
  const Outcome dry = tool({"convert", "--dry-run", in, "-o", out});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_EQ(dry.out, out + ": 3 tensors, 1.3 KiB, safetensors (dry run, nothing written)\n");
  EXPECT_EQ(files(), before);

  const auto planned = objects_of(tool({"convert", "--dry-run", "--json", in, "-o", out})).at(0);
  const auto written = objects_of(tool({"convert", "--json", in, "-o", out})).at(0);
  EXPECT_EQ(planned.at("dry_run"), true);
  EXPECT_EQ(planned.at("bytes"), written.at("bytes"));
}

TEST_F(Convert, ADryRunDoesNotGuessWhatCompressionGives) {
  const std::string out = path("out.mpk.gz");
  const std::string in = model();
  const Outcome text = tool({"convert", "--dry-run", in, "-o", out});
  EXPECT_EQ(text.out, out + ": 3 tensors, mpk (dry run, nothing written)\n");
  const auto object = objects_of(tool({"convert", "--dry-run", "--json", in, "-o", out})).at(0);
  EXPECT_FALSE(object.contains("bytes"));
}

TEST_F(Convert, ADryRunFindsThatTheFolderIsMissing) {
  const Outcome run = tool({"convert", "--dry-run", model(), "-o", path("absent/out.bpk")});
  EXPECT_EQ(run.exit_code, 2);
}

TEST_F(Convert, ADryRunFailsAsTheWriteWould) {
  const std::string in = model();
  const std::vector<std::vector<std::string>> failures = {
      {in, "-o", in},
      {"--sub", "^net.0.weight$", "__metadata__", in, "-o", path("out.safetensors")},
  };
  for (std::vector<std::string> arguments : failures) {
    arguments.insert(arguments.begin(), "convert");
    const Outcome real = tool(arguments);
    EXPECT_EQ(real.exit_code, 2) << real.out;
    arguments.push_back("--dry-run");
    const Outcome dry = tool(arguments);
    EXPECT_EQ(dry.exit_code, 2) << dry.out;
    EXPECT_EQ(dry.err, real.err);
  }
}

TEST_F(Convert, AFailureLeavesNothing) {
  const std::string in = model();
  const auto before = files();
  EXPECT_EQ(tool({"convert", "--regex", "a(", in, "-o", path("out.safetensors")}).exit_code, 4);
  EXPECT_EQ(tool({"convert", write_text("text", "no weights"), "-o", path("out.bpk")}).exit_code,
            3);
  std::filesystem::remove(path("text"));
  const Outcome json = tool({"convert", "--json", path("missing"), "-o", path("out.bpk")});
  EXPECT_EQ(json.exit_code, 2);
  EXPECT_EQ(objects_of(json).at(0).at("error").at("code"), "NotFound");
  EXPECT_EQ(files(), before);
}

TEST_F(Convert, CommandLinesThatMakeNoSenseAreUsageErrors) {
  const std::string in = model();
  const std::vector<std::vector<std::string>> mistakes = {
      {in},
      {"-o", path("out.bpk")},
      {in, in, "-o", path("out.bpk")},
      {in, "-o", path("out")},
      {in, "-o", path("out.pt")},
      {in, "-o", path("out.bpk"), "--to", "pickle"},
      {in, "-o", path("out.bpk"), "--burn-release", "0.18"},
      {in, "-o", path("out.safetensors"), "--burn-release", "0.20"},
      {in, "-o", path("out.safetensors"), "--beyond-burn"},
      {in, "-o", path("out.bpk"), "--precision", "half"},
      {in, "-o", path("out.mpk"), "--precision", "quarter"},
      {in, "-o", path("out.bpk"), "--max-shard-size", "1G"},
      {in, "-o", path("out.safetensors"), "--max-shard-size", "0"},
      {in, "-o", path("out.safetensors"), "--max-shard-size", "big"},
      {in, "-o", path("out.mpk"), "--to", "mpk.gz"},
  };
  const auto before = files();
  for (std::vector<std::string> arguments : mistakes) {
    arguments.insert(arguments.begin(), "convert");
    const Outcome run = tool(arguments);
    EXPECT_EQ(run.exit_code, 4) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(lines_of(run.err).size(), 1u) << run.err;
    EXPECT_TRUE(contains(run.err, "andiron convert --help")) << run.err;
  }
  EXPECT_EQ(files(), before);
  const Outcome unknown = tool({"convert", in, "-o", path("out")});
  for (const char* extension : {".safetensors", ".bpk", ".mpk", ".mpk.gz", "--to"}) {
    EXPECT_TRUE(contains(unknown.err, extension)) << unknown.err;
  }
}

TEST_F(Convert, AnyNameWillDoWhenTheFormatIsGiven) {
  const std::string in = model();
  EXPECT_EQ(tool({"convert", in, "--to", "safetensors", "-o", path("weights")}).exit_code, 0);
  EXPECT_EQ(digests(path("weights")), digests(in));
}

TEST_F(Convert, SpreadsSafetensorsOverShards) {
  const std::string in = model();
  const std::string out = path("big.safetensors");
  const Outcome run = tool({"convert", "--max-shard-size", "1K", in, "-o", out});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, ", 2 shards\n")) << run.out;
  const std::string index = path("big.safetensors.index.json");
  EXPECT_EQ(digests(index), digests(in));
  // And back: shard by shard.
  EXPECT_EQ(tool({"convert", index, "-o", path("whole.safetensors")}).exit_code, 0);
  EXPECT_EQ(digests(path("whole.safetensors")), digests(in));
}

TEST_F(Convert, HoldsNoMoreThanAllowed) {
  const std::string in = write("m", {{"a", "U8", {1000000}, 1000000}});
  const std::string out = path("out.safetensors");
  EXPECT_EQ(tool({"convert", "--max-memory", "64K", "--io", "pread", in, "-o", out}).exit_code, 0);
  EXPECT_EQ(digests(out), digests(in));
}

TEST_F(Convert, SafetensorsKeepsParameterIdsWhenAsked) {
  Archive archive;
  archive
      .add(TensorSnapshot("a", Tensor::zeros(DType::f32, {2}).value()).with_param_id(ParamId{17}))
      .value();
  const std::string in = path("in.safetensors");
  andiron::write(archive, in, {.settings = andiron::SafetensorsSettings{.param_ids = true}})
      .value();

  const Outcome lost = tool({"convert", in, "-o", path("without.safetensors")});
  EXPECT_EQ(lost.exit_code, 0);
  EXPECT_EQ(lines_of(lost.err).size(), 1u) << lost.err;
  EXPECT_TRUE(contains(lost.err, "note: 1 parameter id was left out; use --param-ids")) << lost.err;
  EXPECT_TRUE(contains(lost.err, path("without.safetensors"))) << lost.err;

  const Outcome kept = tool({"convert", "--param-ids", in, "-o", path("with.safetensors")});
  EXPECT_EQ(kept.err, "");
  EXPECT_EQ(objects_of(tool({"ls", "--json", path("with.safetensors")}))
                .at(0)
                .at("tensors")
                .at(0)
                .at("param_id"),
            "17");
}

TEST_F(Convert, SafetensorsToBurnpackAndBack) {
  const std::string in = model();
  const std::string packed = path("out.bpk");
  const Outcome run = tool({"convert", in, "-o", packed});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(lines_of(run.err).size(), 1u) << run.err;
  EXPECT_TRUE(contains(run.err, "the tensors keep PyTorch's layouts")) << run.err;
  EXPECT_TRUE(contains(run.out, packed + ": 3 tensors, ")) << run.out;
  EXPECT_TRUE(contains(run.out, ", burnpack\n")) << run.out;
  EXPECT_EQ(digests(packed), digests(in));
  const std::string back = path("back.safetensors");
  EXPECT_EQ(tool({"convert", packed, "-o", back}).exit_code, 0);
  EXPECT_EQ(read_file(back),
            read_file(objects_of(tool({"convert", "--json", in, "-o", path("again.safetensors")}))
                          .at(0)
                          .at("output")));
}

TEST_F(Convert, BurnpackToBurnpackKeepsEveryByte) {
  for (const BurnpackGeneration release :
       {BurnpackGeneration::burn_0_19, BurnpackGeneration::burn_0_20, BurnpackGeneration::burn_0_21,
        BurnpackGeneration::burn_0_22_pre, BurnpackGeneration::burn_0_22}) {
    const std::string in = burnpack({.settings = BurnpackSettings{release}});
    const std::string out = path("out.bpk");
    const Outcome run =
        tool({"convert", "--burn-release", std::string(name_of(release)), "-f", in, "-o", out});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    EXPECT_TRUE(read_file(out) == read_file(in)) << name_of(release);
  }
}

TEST_F(Convert, ScalarsGoWhereThereIsAPlaceForThem) {
  const std::string in = burnpack();
  const Outcome lost = tool({"convert", in, "-o", path("out.safetensors")});
  EXPECT_EQ(lost.exit_code, 0) << lost.err;
  EXPECT_TRUE(contains(
      lost.err, "safetensors cannot store 3 values (configs, scalars); they were left out\n"))
      << lost.err;
  EXPECT_TRUE(contains(lost.err, "3 parameter ids were left out; use --param-ids to keep them"))
      << lost.err;

  const auto old =
      objects_of(tool({"convert", "--json", "--burn-release", "0.21", in, "-o", path("old.bpk")}));
  EXPECT_EQ(
      old.at(0).at("notes"),
      nlohmann::json{"burnpack 0.21 cannot store 3 values (configs, scalars); they were left out"});

  const Outcome kept = tool({"convert", "--exclude", "z", in, "-o", path("part.bpk")});
  EXPECT_EQ(kept.err, "");
  EXPECT_EQ(objects_of(tool({"info", "--json", path("part.bpk")})).at(0).at("scalars"),
            (nlohmann::json{
                {"lr", {{"Float", 0.001}}}, {"ok", {{"Bool", true}}}, {"step", {{"UInt", 42}}}}));
}

TEST_F(Convert, TiedNamesBecomeCopiesInFormatsWithoutTies) {
  Archive archive;
  archive.add(TensorSnapshot("embed", Tensor::from_values<float>({2}, {1, 2}).value())).value();
  archive.set_aliases({{"head", "embed"}});
  const std::string in = path("tied.safetensors");
  andiron::write(archive, in).value();
  ASSERT_EQ(open(in).value().aliases().size(), 1u);

  EXPECT_EQ(tool({"convert", in, "-o", path("tied2.safetensors")}).exit_code, 0);
  EXPECT_EQ(open(path("tied2.safetensors")).value().aliases().size(), 1u);

  const Outcome run = tool({"convert", in, "-o", path("untied.bpk")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.err, "note: 1 tied name written as a copy\n")) << run.err;
  const Archive untied = open(path("untied.bpk")).value();
  EXPECT_EQ(untied.size(), 2u);
  const Tensor head = untied.get("head").value().read().value();
  EXPECT_EQ(head.as<float>().value()[1], 2);
  EXPECT_TRUE(untied.metadata().empty());
}

TEST_F(Convert, ATypeThatTheFormatLacksIsExitCode3) {
  Archive archive;
  const std::vector<std::byte> payload(12);
  QuantScheme scheme;
  scheme.value = QuantValue::q8s;
  scheme.store = QuantStore::native;
  archive
      .add(TensorSnapshot(
          "q", Tensor::qfloat(scheme, {8}, Bytes::copy(std::span(payload)).value()).value()))
      .value();
  const std::string in = path("q.bpk");
  andiron::write(archive, in).value();
  for (const char* dry_run : {"--dry-run", "--no-sync"}) {
    const Outcome run = tool({"convert", dry_run, in, "-o", path("q.safetensors")});
    EXPECT_EQ(run.exit_code, 3) << run.out;
    EXPECT_TRUE(contains(run.err, "tensor 'q'")) << run.err;
  }
  EXPECT_EQ(tool({"convert", in, "-o", path("q2.bpk")}).exit_code, 0);
  EXPECT_EQ(read_file(path("q2.bpk")), read_file(in));
}

TEST_F(Convert, RecordsTakeTheirPrecision) {
  const std::string in = burnpack({.settings = BurnpackSettings{BurnpackGeneration::burn_0_21}});
  for (const auto& [precision, dtype] :
       std::map<std::string, std::string>{{"full", "f32"}, {"half", "f16"}, {"double", "f64"}}) {
    for (const char* extension : {".mpk", ".mpk.gz"}) {
      const std::string out = path(precision + extension);
      const Outcome run = tool({"convert", "--precision", precision, in, "-o", out});
      EXPECT_EQ(run.exit_code, 0) << run.err;
      EXPECT_EQ(run.err, "");
      EXPECT_TRUE(contains(run.out, ", mpk\n")) << run.out;
      const auto object = objects_of(tool({"ls", "--json", out})).at(0);
      EXPECT_EQ(object.at("format"), "mpk");
      const auto& tensors = object.at("tensors");
      ASSERT_EQ(tensors.size(), 3u);
      EXPECT_EQ(tensors.at(2).at("name"), "z");
      EXPECT_EQ(tensors.at(2).at("dtype"), dtype);
      EXPECT_EQ(tensors.at(2).at("param_id"), "17");
    }
  }
}

TEST_F(Convert, ARecordBecomesBurnpack) {
  const std::string in = burnpack({.settings = BurnpackSettings{BurnpackGeneration::burn_0_21}});
  const std::string record = path("r.mpk");
  const std::string out = path("out.bpk");
  EXPECT_EQ(tool({"convert", in, "-o", record}).exit_code, 0);
  const Outcome run = tool({"convert", record, "-o", out});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(digests(out), digests(in));
  // What a record says of its recorder stays behind.
  EXPECT_TRUE(open(record).value().metadata().contains("settings"));
  EXPECT_EQ(open(out).value().metadata(), (Metadata{{"author", "nobody"}}));
  // A part of a record is a record, too.
  const std::string part = path("part.mpk");
  EXPECT_EQ(tool({"convert", "--include", "b.*", record, "-o", part}).exit_code, 0);
  EXPECT_EQ(names_of(objects_of(tool({"ls", "--json", part})).at(0)), Names{"b.empty"});
}

TEST_F(Convert, OnlyMetadataThatARecordSaysItselfIsLost) {
  Archive archive;
  archive.add(TensorSnapshot("a", Tensor::zeros(DType::f32, {2}).value())).value();
  archive.set_metadata({{"author", "nobody"}, {"format", "pt"}, {"version", "7"}});
  const std::string in = path("in.bpk");
  andiron::write(archive, in).value();
  const std::string record = path("out.mpk");
  const Outcome run = tool({"convert", in, "-o", record});
  EXPECT_EQ(lines_of(run.err).size(), 2u) << run.err;
  EXPECT_TRUE(contains(run.err, "the tensors keep PyTorch's layouts")) << run.err;
  EXPECT_TRUE(contains(run.err, "mpk cannot store 2 metadata strings; they were left out\n"))
      << run.err;
  const Metadata metadata = open(record).value().metadata();
  EXPECT_EQ(metadata.size(), 6u);
  EXPECT_EQ(metadata.at("author"), "nobody");

  EXPECT_EQ(tool({"convert", record, "-o", path("back.safetensors")}).exit_code, 0);
  EXPECT_EQ(open(path("back.safetensors")).value().metadata(), (Metadata{{"author", "nobody"}}));
}

// Sorted by size, or by name, these tensors would be in another order.
TEST_F(Convert, ACompressedRecordKeepsItsOrderAndStructure) {
  const std::string in = burnpack({.settings = BurnpackSettings{BurnpackGeneration::burn_0_21}});
  const std::string compressed = path("r.mpk.gz");
  const std::string packed = path("out.bpk");
  EXPECT_EQ(tool({"convert", in, "-o", compressed}).exit_code, 0);
  EXPECT_EQ(tool({"convert", "--burn-release", "0.21", compressed, "-o", packed}).exit_code, 0);
  EXPECT_TRUE(read_file(packed) == read_file(in));

  EXPECT_EQ(tool({"convert", in, "-o", path("r.mpk")}).exit_code, 0);
  const std::string inflated = path("inflated.mpk");
  EXPECT_EQ(tool({"convert", compressed, "-o", inflated}).exit_code, 0);
  EXPECT_TRUE(read_file(inflated) == read_file(path("r.mpk")));
}

TEST_F(Convert, AJsonRecordKeepsItsOrderAndStructure) {
  const std::string in = write_text(
      "r.json",
      R"({"metadata":{"float":"f32","int":"i32","format":"burn_core::record::","version":"0.21.0",)"
      R"("settings":"FullPrecisionSettings"},"item":{)"
      R"("z":{"bytes":[0,0,0,0,0,0,0,0],"shape":[2],"dtype":"F32"},"none":null,"steps":7,)"
      R"("list":[null,{"bytes":[0,0,0,0],"shape":[1],"dtype":"F32"}]}})");
  const std::string out = path("out.mpk");
  const Outcome run = tool({"convert", in, "-o", out});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(to_json(*open(out).value().value()),
            R"({"z":{"tensor":0},"none":null,"steps":7,"list":[null,{"tensor":1}]})");
  // Renaming that finds nothing to rename changes nothing.
  EXPECT_EQ(tool({"convert", "--sub", "absent", "x", in, "-o", path("same.mpk")}).exit_code, 0);
  EXPECT_TRUE(read_file(path("same.mpk")) == read_file(out));
}

TEST_F(Convert, WhatBurnRefusesIsWrittenOnlyWhenAsked) {
  Archive archive;
  const Tensor empty = Tensor::zeros(DType::u8, {0}).value();
  for (int i = 0; i <= 100'000; ++i) {
    archive.add(TensorSnapshot(std::to_string(i), empty)).value();
  }
  const std::string in = path("many.safetensors");
  andiron::write(archive, in).value();
  const std::string out = path("many.bpk");
  const Outcome refused = tool({"convert", in, "-o", out});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(
      contains(refused.err, "; use --beyond-burn to write a file that Burn's reader refuses\n"))
      << refused.err;
  EXPECT_EQ(tool({"convert", "--beyond-burn", in, "-o", out}).exit_code, 0);
  EXPECT_EQ(open(out).value().size(), 100'001u);
}

TEST_F(Convert, ASignalThatEndsTheToolLeavesNothingBehind) {
  std::string header =
      R"({"a":{"dtype":"U8","shape":[200000000],"data_offsets":[0,200000000]},)"
      R"("b":{"dtype":"U8","shape":[200000000],"data_offsets":[200000000,400000000]}})";
  header.insert(0, std::string({static_cast<char>(header.size()), 0, 0, 0, 0, 0, 0, 0}));
  const std::string input = write_text("big.safetensors", header);
  std::filesystem::resize_file(input, header.size() + 400'000'000);
  const std::vector<std::string> before = files();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(STDERR_FILENO);
    process::become({tool_path(), "convert", input, "-o", path("out.safetensors"), "--no-sync",
                     "--max-shard-size", "1MB"},
                    {});
  }
  const std::string draft = path(".out.safetensors.index.json.0.tmp");
  while (!std::filesystem::exists(draft) && ::waitpid(child, nullptr, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  ::kill(child, SIGTERM);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it ended before the signal";
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_EQ(files(), before);
}

}  // namespace
}  // namespace andiron::test
