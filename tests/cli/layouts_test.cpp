// SPDX-License-Identifier: MIT OR Apache-2.0
// convert --to-layout, --layers and --fold-weight-norm.
#include <string>
#include <utility>
#include <vector>

#include "andiron/open.h"
#include "andiron/write.h"
#include "tests/cli/sample_files.h"
#include "tests/support/sample_net.h"

namespace andiron::test {
namespace {

class LayoutOptions : public ToolTest {
 protected:
  std::string file_of(const std::string& name,
                      const std::vector<std::pair<std::string, Shape>>& tensors,
                      const Metadata& metadata = {}) const {
    Archive archive;
    for (const auto& [tensor, shape] : tensors) {
      archive.add(TensorSnapshot(tensor, f32(shape, 1))).value();
    }
    archive.set_metadata(metadata);
    andiron::write(archive, path(name)).value();
    return path(name);
  }
  std::string pytorch_file() const {
    return file_of(
        "m.safetensors",
        {{"fc.weight", {3, 2}}, {"fc.bias", {3}}, {"norm.weight", {3}}, {"norm.bias", {3}}},
        {{"format", "pt"}});
  }
};

TEST_F(LayoutOptions, GuessPrintsRulesThatConvertTakes) {
  const std::string file = pytorch_file();
  const Outcome guess = tool({"convert", "--to-layout", "burn", "--layers", "guess", file});
  EXPECT_EQ(guess.exit_code, 0) << guess.err;
  EXPECT_EQ(guess.out,
            "# andiron layers\n"
            "fc    Linear     # bias [3], weight [3, 2]\n"
            "norm  LayerNorm  # bias [3], weight [3]\n");
  const std::string rules = write_text("layers.txt", guess.out);
  const std::string out = path("m.bpk");
  const Outcome run = tool({"convert", "--to-layout", "burn", "--layers", rules, file, "-o", out});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(run.err.empty()) << run.err;
  const Archive burn = open(out).value();
  EXPECT_EQ(burn.get("fc.weight").value().shape(), Shape({2, 3}));
  EXPECT_TRUE(burn.find("norm.gamma"));
  EXPECT_FALSE(burn.metadata().contains("format"));

  const std::string back = path("back.safetensors");
  EXPECT_EQ(
      tool({"convert", "--to-layout", "pytorch", "--layers", rules, out, "-o", back}).exit_code, 0);
  EXPECT_EQ(open(back).value().get("fc.weight").value().shape(), Shape({3, 2}));
  EXPECT_EQ(open(back).value().metadata().at("format"), "pt");
}

TEST_F(LayoutOptions, GuessHasAJsonForm) {
  const Outcome run =
      tool({"convert", "--json", "--from-layout", "pytorch", "--layers", "guess", pytorch_file()});
  const nlohmann::json object = objects_of(run).at(0);
  EXPECT_EQ(object.at("layout"), "pytorch");
  EXPECT_EQ(object.at("layers").at(0).at("glob"), "fc");
  EXPECT_EQ(object.at("layers").at(0).at("kind"), "Linear");
}

TEST_F(LayoutOptions, MistakesAreNamed) {
  const std::string file = pytorch_file();
  const auto refused = [&](std::vector<std::string> options, const std::string& text) {
    options.insert(options.begin(), "convert");
    options.insert(options.end(), {file, "-o", path("out.bpk")});
    const Outcome run = tool(options);
    EXPECT_NE(run.exit_code, 0);
    EXPECT_TRUE(contains(run.err, text)) << run.err;
    EXPECT_FALSE(std::filesystem::exists(path("out.bpk")));
  };
  refused({"--to-layout", "burn"}, "--layers guess");
  refused({"--layers", "rules.txt"}, "--to-layout");
  refused({"--from-layout", "burn", "--to-layout", "burn", "--layers", "x"}, "are the same");
  refused({"--to-layout", "burn", "--layers", path("none.txt")}, "none.txt");
  const std::string bad = write_text("bad.txt", "fc Linear\nnorm Norm\n");
  refused({"--to-layout", "burn", "--layers", bad}, "line 2: this kind of module is not known");
  EXPECT_TRUE(contains(tool({"convert", file}).err, "--output is required"));
  EXPECT_TRUE(contains(tool({"convert", file, "out.bpk"}).err, "name the output with -o"));
  refused({"--to-layout", "burn", "--layers", "guess"}, "leave --output out");
  // The file says that it has this layout.
  const std::string rules = write_text("rules.txt", "fc Linear\n");
  refused({"--to-layout", "pytorch", "--layers", rules}, "--from-layout burn");
}

TEST_F(LayoutOptions, BurnsFormatsNoteThatLayoutsStayPytorchs) {
  const std::string file = pytorch_file();
  for (const char* name : {"m.bpk", "m.mpk"}) {
    const Outcome run = tool({"convert", file, "-o", path(name)});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(contains(run.err, "the tensors keep PyTorch's layouts")) << run.err;
    EXPECT_TRUE(contains(run.err, "see --to-layout")) << run.err;
  }
  const std::string plain = file_of("plain.safetensors", {{"fc.weight", {3, 2}}});
  EXPECT_FALSE(contains(tool({"convert", plain, "-o", path("p.bpk")}).err, "layouts"));
}

TEST_F(LayoutOptions, WeightNormIsFolded) {
  const std::string file =
      file_of("normed.safetensors", {{"fc.weight_g", {3, 1}}, {"fc.weight_v", {3, 2}}});
  const Outcome list = tool({"ls", "--fold-weight-norm", file});
  EXPECT_TRUE(contains(list.out, "fc.weight  f32")) << list.out;
  const Outcome renames = tool({"ls", "--renames", "--fold-weight-norm", file});
  EXPECT_TRUE(contains(renames.out, "fc.weight  made  f32")) << renames.out;
  const Outcome json = tool({"ls", "--renames", "--fold-weight-norm", "--json", file});
  EXPECT_TRUE(contains(json.out, R"("renames":[{"step":"made","name":"fc.weight"}])")) << json.out;
  EXPECT_FALSE(contains(json.out, "name_in_file")) << json.out;
  const std::string out = path("folded.safetensors");
  EXPECT_EQ(tool({"convert", "--fold-weight-norm", file, "-o", out}).exit_code, 0);
  const std::vector<float> weight =
      open(out).value().get("fc.weight").value().read().value().to_vector<float>().value();
  EXPECT_NEAR(weight[0] * weight[0] + weight[1] * weight[1], 1, 1e-6);
}

}  // namespace
}  // namespace andiron::test
