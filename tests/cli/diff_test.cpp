// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron diff: what it finds, says and exits with.
#include <cmath>
#include <filesystem>

#include "tests/cli/number_files.h"
#include "tests/support/fixtures.h"
#include "tests/support/places.h"

namespace andiron::test {
namespace {

class Diff : public NumberFileTest {
 protected:
  std::string model(const std::string& name, float changed = 4) const {
    return write_tensors(name, {floats("b", {0.5f}), floats("w", {1, 2, 3, changed}, {2, 2})});
  }
};

TEST_F(Diff, EqualFilesOfAnyFormatsExitWith0) {
  const std::string a = model("a.safetensors");
  for (const char* name : {"b.safetensors", "b.bpk", "b.npz", "b.mpk"}) {
    const std::string b = model(name);
    const Outcome run = tool({"diff", a, b});
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_EQ(run.out, a + " and " + b + " are equal\n2 equal tensors\n");
  }
}

TEST_F(Diff, OneValueIsFoundAndNamedWithItsPlace) {
  const std::string a = model("a.safetensors");
  const std::string b = model("b.bpk", 4.5f);
  const Outcome run = tool({"diff", a, b});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, a + " and " + b +
                         " differ\n"
                         "1 equal tensor, 1 changed\n"
                         "\n"
                         "CHANGED  ELEMENTS  FIRST AT  MAX ABS  REL L2    COSINE\n"
                         "w        1 of 4    [1, 1]        0.5  0.0913  0.998295\n");
  EXPECT_EQ(run.err, "");
}

TEST_F(Diff, QuietPrintsNothing) {
  const std::string a = model("a.safetensors");
  const std::string b = model("b.safetensors", 5);
  for (const char* flag : {"-q", "--quiet"}) {
    const Outcome different = tool({"diff", flag, a, b});
    EXPECT_EQ(different.exit_code, 1);
    EXPECT_EQ(different.out + different.err, "");
    EXPECT_EQ(tool({"diff", flag, a, a}).exit_code, 0);
  }
  const Outcome failed = tool({"diff", "-q", a, path("missing")});
  EXPECT_EQ(failed.exit_code, 2);
  EXPECT_EQ(failed.out, "");
  EXPECT_EQ(lines_of(failed.err).size(), 1u);
}

TEST_F(Diff, ListsEveryKindInATableOfItsOwn) {
  const TensorSnapshot cast = floats("d", {1, 0.1f}).cast(DType::f16).value();
  const std::string a = write_tensors(
      "a.safetensors", {floats("gone", {9}), floats("old", {7, 8}), floats("s", {1, 2}),
                        floats("d", {1, 0.1f}), floats("v", {1, 2}), floats("c", {1})});
  const std::string b = write_tensors(
      "b.safetensors", {floats("new", {3, 4, 5}), floats("renamed", {7, 8}), floats("s", {1}), cast,
                        floats("v", {NAN, 9}), floats("c", {1.25f})});
  const Outcome run = tool({"diff", "--atol", "0.5", a, b});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out.substr(run.out.find("\n\n")),
            "\n\n"
            "ADDED  DTYPE  SHAPE\n"
            "new    f32    [3]\n"
            "\n"
            "REMOVED  DTYPE  SHAPE\n"
            "gone     f32    [1]\n"
            "\n"
            "RENAMED  TO\n"
            "old      renamed\n"
            "\n"
            "OTHER SHAPE  A    B\n"
            "s            [2]  [1]\n"
            "\n"
            "OTHER DTYPE  A    B    NUMBERS\n"
            "d            f32  f16  within the tolerances, max abs 2.44e-05\n"
            "\n"
            "CHANGED  ELEMENTS  FIRST AT  MAX ABS  REL L2  COSINE\n"
            "v        2 of 2    [0]             7     3.5       1  1 not finite\n"
            "\n"
            "WITHIN TOLERANCES  ELEMENTS  LARGEST AT  MAX ABS  REL L2  COSINE\n"
            "c                  1 of 1    [0]            0.25    0.25       1\n");
  EXPECT_EQ(run.out.substr(0, run.out.find("\n\n")),
            a + " and " + b +
                " differ\n"
                "0 equal tensors, 1 added, 1 removed, 1 renamed, 1 of another shape, 1 of another\n"
                "dtype, 1 changed, 1 within the tolerances");
}

TEST_F(Diff, ManyDifferencesAreCutUnlessAllAreWanted) {
  std::vector<TensorSnapshot> tensors;
  for (int i = 0; i < 25; ++i) tensors.push_back(floats("t." + std::to_string(i), {float(i)}));
  const std::string a = write_tensors("a.safetensors", tensors);
  const std::string b = write_tensors("b.safetensors", {floats("x", {-1})});
  const Outcome some = tool({"diff", a, b});
  EXPECT_TRUE(contains(some.out, "\nt.9 "));
  EXPECT_FALSE(contains(some.out, "\nt.10 "));
  EXPECT_TRUE(contains(some.out, "\n... and 15 more\n"));
  const Outcome all = tool({"diff", "--all", a, b});
  EXPECT_TRUE(contains(all.out, "\nt.24 "));
  EXPECT_FALSE(contains(all.out, "more\n"));
}

TEST_F(Diff, TolerancesMakeChangesEqual) {
  const std::string a = model("a.safetensors");
  const std::string b = model("b.safetensors", 4.01f);
  EXPECT_EQ(tool({"diff", "--atol", "0.001", a, b}).exit_code, 1);
  EXPECT_EQ(tool({"diff", "--rtol", "1e-3", a, b}).exit_code, 1);
  const Outcome close = tool({"diff", "--atol", "0.02", a, b});
  EXPECT_EQ(close.exit_code, 0);
  EXPECT_TRUE(contains(close.out, " are equal\n1 equal tensor, 1 within the tolerances\n"))
      << close.out;
  EXPECT_TRUE(contains(close.out, "\nWITHIN TOLERANCES")) << close.out;
  EXPECT_EQ(tool({"diff", "--rtol", "1e-2", a, b}).exit_code, 0);
}

TEST_F(Diff, NanEqualsNanUnlessItIsToldNotTo) {
  const std::string a = write_tensors("a.safetensors", {floats("n", {NAN, 1})});
  EXPECT_EQ(tool({"diff", a, a}).exit_code, 0);
  EXPECT_EQ(tool({"diff", "--nan-differs", a, a}).exit_code, 1);
}

TEST_F(Diff, DtypesCanBeIgnored) {
  const std::string a = write_tensors("a.safetensors", {floats("x", {1, 0.5f})});
  const std::string b = write_tensors("b.bpk", {floats("x", {1, 0.5f}).cast(DType::bf16).value()});
  const Outcome strict = tool({"diff", a, b});
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_TRUE(contains(strict.out, "f32  bf16  equal")) << strict.out;
  EXPECT_EQ(tool({"diff", "--ignore-dtype", a, b}).exit_code, 0);
}

TEST_F(Diff, MetadataCountsIfItIsAskedFor) {
  const std::string a =
      write_tensors("a.safetensors", {floats("x", {1})}, {{"k", "1"}, {"s", "="}});
  const std::string b =
      write_tensors("b.safetensors", {floats("x", {1})}, {{"k", "2"}, {"s", "="}});
  EXPECT_EQ(tool({"diff", a, b}).exit_code, 0);
  const Outcome run = tool({"diff", "--metadata", a, b});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(contains(run.out, "\nMETADATA  A  B\nk         1  2\n")) << run.out;
}

TEST_F(Diff, NamesOfEachSideCanBeChanged) {
  const std::string a = write_tensors("a.safetensors", {floats("model.net.w", {1, 2})});
  const std::string b = write_tensors("b.safetensors", {floats("module.w", {1, 2})});
  EXPECT_EQ(tool({"diff", a, b}).exit_code, 1);
  EXPECT_EQ(
      tool({"diff", "--top-level-key-a", "model.net", "--sub-b", "^module\\.", "", a, b}).exit_code,
      0);
  EXPECT_EQ(tool({"diff", "--sub-a", "^model\\.net\\.", "", "--top-level-key-b", "module", a, b})
                .exit_code,
            0);
  // Those for both come first.
  EXPECT_EQ(
      tool({"diff", "--sub", "^mod(el|ule)\\.", "", "--sub-a", "^net\\.", "", a, b}).exit_code, 0);
  EXPECT_EQ(tool({"diff", "--sub-a", "(", "", a, b}).exit_code, 4);
}

TEST_F(Diff, RenamesNeedNotBeLookedFor) {
  const std::string a = write_tensors("a.safetensors", {floats("x", {1, 2})});
  const std::string b = write_tensors("b.safetensors", {floats("y", {1, 2})});
  EXPECT_TRUE(contains(tool({"diff", a, b}).out, "1 renamed"));
  EXPECT_TRUE(contains(tool({"diff", "--no-renames", a, b}).out, "1 added, 1 removed"));
}

TEST_F(Diff, JsonTellsEverything) {
  const std::string a = model("a.safetensors");
  const std::string b = model("b.safetensors", 4.5f);
  const Outcome run = tool({"diff", "--json", a, b});
  EXPECT_EQ(run.exit_code, 1);
  const auto object = objects_of(run).at(0);
  EXPECT_EQ(object.at("schema"), 1);
  EXPECT_EQ(object.at("path"), a);
  EXPECT_EQ(object.at("other"), b);
  EXPECT_EQ(object.at("equal"), false);
  EXPECT_EQ(object.at("counts").at("equal"), 1);
  EXPECT_EQ(object.at("counts").at("values"), 1);
  EXPECT_EQ(object.at("counts").at("close"), 0);
  const auto& one = object.at("differences").at(0);
  EXPECT_EQ(one.at("kind"), "values");
  EXPECT_EQ(one.at("name"), "w");
  EXPECT_EQ(one.at("a").at("dtype"), "f32");
  EXPECT_EQ(one.at("b").at("shape"), nlohmann::json::parse("[2, 2]"));
  EXPECT_EQ(one.at("distance").at("differing"), 1);
  EXPECT_EQ(one.at("distance").at("first_at"), nlohmann::json::parse("[1, 1]"));
  EXPECT_EQ(one.at("distance").at("max_abs"), 0.5);
  EXPECT_EQ(one.at("distance").at("relative_l2"), 0.5 / std::sqrt(30.0));
  EXPECT_EQ(objects_of(tool({"diff", "--json", a, a})).at(0).at("equal"), true);
}

TEST_F(Diff, JsonTellsWhatIsNotCompared) {
  const std::string whole = test_data() + "/torch-2.15/messy.ckpt";
  const auto object = objects_of(tool({"diff", "--json", whole, whole})).at(0);
  EXPECT_EQ(object.at("equal"), true);
  EXPECT_FALSE(object.at("skipped").empty());
  EXPECT_EQ(object.at("skipped"), object.at("other_skipped"));
}

TEST_F(Diff, JsonIsValidWithoutNumbers) {
  const std::string a = write_tensors("a.safetensors", {floats("x", {0})});
  const std::string b = write_tensors("b.safetensors", {floats("x", {1})});
  const auto object = objects_of(tool({"diff", "--json", a, b})).at(0);
  const auto& distance = object.at("differences").at(0).at("distance");
  EXPECT_EQ(distance.at("relative_l2"), "Infinity");
  EXPECT_TRUE(distance.at("cosine").is_null());
}

TEST_F(Diff, FailuresNameTheFile) {
  const std::string a = model("a.safetensors");
  const std::string text = write_text("text", "this is not a weight file");
  const Outcome missing = tool({"diff", "--json", a, path("missing")});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(objects_of(missing).at(0).at("path"), path("missing"));
  EXPECT_EQ(objects_of(missing).at(0).at("error").at("code"), "NotFound");
  EXPECT_EQ(tool({"diff", a, text}).exit_code, 3);
  EXPECT_EQ(tool({"diff", text, a}).exit_code, 3);
  const Outcome key = tool({"diff", "--top-level-key-b", "none", a, a});
  EXPECT_EQ(key.exit_code, 2) << key.err;
  EXPECT_TRUE(contains(key.err, a)) << key.err;
}

TEST_F(Diff, AFilterThatTakesNothingIsAMistake) {
  const std::string file = write_tensors("a.safetensors", {floats("w", {1})});
  const Outcome run = tool({"diff", "-q", "--include", "typo*", file, file});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "no tensor matches --include")) << run.err;
  EXPECT_EQ(tool({"stat", "--check", "--include", "typo*", file}).exit_code, 2);
}

TEST_F(Diff, WrongUsageIsExitCode4) {
  const std::string a = model("a.safetensors");
  EXPECT_EQ(tool({"diff", a}).exit_code, 4);
  EXPECT_EQ(tool({"diff", a, a, a}).exit_code, 4);
  for (const char* tolerance : {"-1", "x", "nan", "inf", "0x1", " 1", "1e", ".", "1e400", ""}) {
    EXPECT_EQ(tool({"diff", "--atol", tolerance, a, a}).exit_code, 4) << tolerance;
  }
}

TEST_F(Diff, NamesCannotSpeakToTheTerminal) {
  const std::string a = write_tensors("a.safetensors", {floats("x\x1b[31m\n", {1})});
  const std::string b = write_tensors("b.safetensors", {floats("x\x1b[31m\n", {2})});
  for (const char* flag : {"--all", "--json"}) {
    EXPECT_FALSE(contains(tool({"diff", flag, a, b}).out, "\x1b")) << flag;
  }
}

TEST_F(Diff, ShardsAreOneModel) {
  const std::string whole =
      write_tensors("whole.safetensors", {floats("a", std::vector<float>(300)), floats("b", {1, 2}),
                                          floats("c", std::vector<float>(300, 2))});
  const std::string sharded = path("sharded.safetensors");
  ASSERT_EQ(tool({"convert", "--max-shard-size", "1300", whole, "-o", sharded}).exit_code, 0);
  ASSERT_FALSE(std::filesystem::exists(sharded));
  EXPECT_EQ(tool({"diff", whole, sharded}).exit_code, 0);
  EXPECT_EQ(tool({"diff", "--threads", "3", "--max-memory", "64K", sharded, whole}).exit_code, 0);
}

// Files that other systems wrote, converted, and converted with one value changed.
TEST_F(Diff, AConvertedFileEqualsItsSourceUntilAValueIsFlipped) {
  const std::string out = path("converted.safetensors");
  int converted = 0;
  for (const std::filesystem::path& folder : fixture_folders()) {
    int in_folder = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string ending = entry.path().extension().string();
      // A few of each system: every file takes four runs of the tool.
      const bool is_model = ending == ".pt" || ending == ".safetensors" || ending == ".bpk" ||
                            ending == ".npz" || ending == ".npy";
      if (!is_model || in_folder == 3) continue;
      const std::string source = entry.path().string();
      if (tool({"convert", "-f", "--no-sync", source, "-o", out}).exit_code != 0) continue;
      SCOPED_TRACE(source);
      const Outcome equal = tool({"diff", source, out});
      EXPECT_EQ(equal.exit_code, 0) << equal.out << equal.err;
      ++converted;
      ++in_folder;

      const Archive archive = open(out).value();
      for (std::size_t i = 0; i < archive.size(); ++i) {
        const TensorInfo info = archive.info(i);
        if (info.byte_size == 0 || info.dtype == DType::boolean) continue;
        const std::string name(info.name);
        flip_byte(out, name, static_cast<std::size_t>(info.byte_size) - 1);
        const auto object = objects_of(tool({"diff", "--json", source, out})).at(0);
        ASSERT_EQ(object.at("equal"), false);
        ASSERT_EQ(object.at("differences").size(), 1u);
        EXPECT_EQ(object["differences"][0]["kind"], "values");
        EXPECT_EQ(object["differences"][0]["name"], name);
        EXPECT_EQ(object["differences"][0]["distance"]["differing"], 1);
        break;
      }
    }
  }
  EXPECT_GT(converted, 10);
}

}  // namespace
}  // namespace andiron::test
