// SPDX-License-Identifier: MIT OR Apache-2.0
// NumPy's files in the tool.
#include <filesystem>

#include "tests/cli/sample_files.h"
#include "tests/support/npy_file.h"

namespace andiron::test {
namespace {

class NumpyFiles : public ToolTest {};

TEST_F(NumpyFiles, AreWrittenAndListedWithTheSameDigests) {
  const std::string in =
      write("m.safetensors", {{"a.weight", "F32", {2, 3}, 24}, {"b", "I64", {2}, 16}});
  const std::string out = path("m.npz");
  const Outcome run = tool({"convert", in, "-o", out});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "2 tensors")) << run.out;
  EXPECT_TRUE(contains(run.out, "numpy")) << run.out;
  const auto from = objects_of(tool({"hash", "--json", in})).at(0);
  const auto to = objects_of(tool({"hash", "--json", out})).at(0);
  EXPECT_EQ(to.at("format"), "numpy");
  EXPECT_EQ(to.at("container"), "npz");
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(to.at("tensors")[i].at("name"), from.at("tensors")[i].at("name"));
    EXPECT_EQ(to.at("tensors")[i].at("sha256"), from.at("tensors")[i].at("sha256"));
  }
}

TEST_F(NumpyFiles, OfOneTensorMayBeASingleArray) {
  const std::string in = write("m.safetensors", {{"a", "F32", {2}, 8}, {"b", "F32", {2}, 8}});
  EXPECT_EQ(tool({"convert", in, "-o", path("m.npy")}).exit_code, 4);
  EXPECT_EQ(tool({"convert", "--include", "a", "--to", "numpy", in, "-o", path("m.npy")}).exit_code,
            0);
  const auto object = objects_of(tool({"ls", "--json", path("m.npy")})).at(0);
  EXPECT_EQ(object.at("container"), "npy");
  EXPECT_EQ(object.at("tensors")[0].at("name"), "");
  // A form that the name contradicts.
  EXPECT_EQ(tool({"convert", "--include", "a", "--to", "npz", in, "-o", path("n.npy")}).exit_code,
            4);
}

TEST_F(NumpyFiles, AFileOfWhichNothingCanBeTakenIsNotConverted) {
  const Outcome run =
      tool({"convert", write_text("m.npy", npy_file("|O", "(1,)")), "-o", path("out.npz")});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(contains(run.err, "no tensor in the file can be read")) << run.err;
  EXPECT_FALSE(std::filesystem::exists(path("out.npz")));
}

TEST_F(NumpyFiles, ReasonsForWhatIsSkippedCannotSpeakToTheTerminal) {
  const std::string file =
      write_text("m.npz", zip_file({{.name = "a.npy", .content = "\x1b[2J\n"}}));
  const Outcome info = tool({"info", "--lenient", file});
  EXPECT_EQ(info.exit_code, 0) << info.err;
  EXPECT_TRUE(contains(info.out, "SKIPPED")) << info.out;
  EXPECT_FALSE(contains(info.out + info.err, "\x1b")) << info.out;
  const Outcome refused = tool({"ls", file});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(lines_of(refused.err).size(), 1u) << refused.err;
  EXPECT_FALSE(contains(refused.err, "\x1b")) << refused.err;
}

TEST_F(NumpyFiles, AdviceOfTheLibraryIsGivenInFlags) {
  const std::string name(70'000, 'n');
  const Outcome run = tool({"ls", write("m.safetensors", {{name}})});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "only the library can raise this limit\n")) << run.err;
  EXPECT_FALSE(contains(run.err, "Limits::")) << run.err;
  // Names are not advice.
  const std::string odd = "raise Limits::x if you trust the file";
  const auto object = objects_of(tool({"ls", "--json", write("n.safetensors", {{odd}})})).at(0);
  EXPECT_EQ(object.at("tensors")[0].at("name"), odd);
}

}  // namespace
}  // namespace andiron::test
