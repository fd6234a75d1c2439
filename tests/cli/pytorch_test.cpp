// SPDX-License-Identifier: MIT OR Apache-2.0
// Files of PyTorch as inputs of the tool.
#include <filesystem>

#include "andiron/value.h"
#include "tests/cli/sample_files.h"
#include "tests/support/torch_containers.h"

namespace andiron::test {
namespace {

class PytorchInput : public ToolTest {
 protected:
  // {"w": [2, 2], "b": [2], "tied": the same as "b", "turned": "w" by columns, "m": without data}
  static Py object() {
    const Py bias = torch_tensor({.shape = {2}, .key = "1", .elements = 2});
    return py::dict(
        {{"w", torch_tensor({.shape = {2, 2}, .elements = 4})},
         {"b", bias},
         {"tied", bias},
         {"turned", torch_tensor({.shape = {2, 2}, .strides = {{1, 2}}, .elements = 4})},
         {"m", torch_tensor({.shape = {1}, .elements = 1, .device = "meta"})}});
  }
  std::string sample() const {
    return write_text("m.pt", zip_file(torch_records(object(), sample_storages())));
  }
  std::string wrapped(const std::string& key) const {
    const Py checkpoint = py::dict({{key, sample_object()}, {"epoch", 3}});
    return write_text("last.ckpt", zip_file(torch_records(checkpoint, sample_storages())));
  }
};

TEST_F(PytorchInput, JsonNestsNoDeeperThanOurReaderGoes) {
  Py deep = 1.5;
  for (int i = 0; i < 300; ++i) deep = py::list({deep});
  const std::string file =
      write_text("deep.pt", zip_file(torch_records(py::dict({{"deep", deep}}), sample_storages())));
  for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{
           {"info", "--json", file}, {"config", "--json", file}, {"config", file}}) {
    const Outcome run = tool(verb);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.out.find("deep"), std::string::npos);
    EXPECT_TRUE(parse_json(run.out).ok()) << verb[0];
  }
}

TEST_F(PytorchInput, JsonHasContainerDtypesOffsetsAndSharing) {
  const std::string file = sample();
  const Outcome run = tool({"ls", "--json", "--sort", "offset", file});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json object = objects_of(run).at(0);
  EXPECT_EQ(object.at("format"), "pytorch");
  EXPECT_EQ(object.at("container"), "zip");
  std::map<std::string, nlohmann::json> tensors;
  for (const auto& tensor : object.at("tensors")) tensors[tensor.at("name")] = tensor;
  ASSERT_EQ(tensors.size(), 4u);
  EXPECT_EQ(tensors["b"].at("dtype"), "f32");
  EXPECT_EQ(tensors["b"].at("file_dtype"), "float32");
  EXPECT_EQ(tensors["b"].at("offset").get<std::size_t>() % 64, 0u);
  EXPECT_EQ(tensors["tied"].at("alias_of"), "b");
  EXPECT_EQ(tensors["tied"].at("offset"), tensors["b"].at("offset"));
  // The same bytes in another arrangement are no alias.
  for (const char* name : {"w", "b", "turned"}) {
    EXPECT_FALSE(tensors[name].contains("alias_of")) << name;
  }
  EXPECT_FALSE(tensors["turned"].contains("offset"));
  EXPECT_EQ(object.at("skipped").at(0).at("name"), "m");
  EXPECT_TRUE(contains(object.at("skipped").at(0).at("reason"), "meta"));
  EXPECT_TRUE(object.at("notes").empty());
}

TEST_F(PytorchInput, ReasonsForWhatIsSkippedNameOptions) {
  const Py array = py::numpy_array(py::numpy_dtype("f4"), {1}, py::encoded_bytes("1234"));
  const Py both = py::dict({{"a", array}, {"w", torch_tensor({.shape = {2}, .elements = 2})}});
  const std::string file =
      write_text("m.pt", zip_file(torch_records(both, {{"0", memory_of<float>({1, 2})}})));
  const Outcome info = tool({"info", file});
  EXPECT_TRUE(contains(info.out, "a: a NumPy array; use --numpy-arrays to read it\n")) << info.out;
  EXPECT_TRUE(
      contains(tool({"ls", file}).err, ": note: 1 tensor skipped; 'andiron info' says why\n"));
  const nlohmann::json object = objects_of(tool({"ls", "--json", file})).at(0);
  EXPECT_EQ(object.at("skipped").at(0).at("reason"),
            "a NumPy array; use --numpy-arrays to read it");
}

TEST_F(PytorchInput, HashIsOverRowsWhateverTheStrides) {
  const nlohmann::json object = objects_of(tool({"hash", "--json", sample()})).at(0);
  std::map<std::string, std::string> digests;
  for (const auto& tensor : object.at("tensors")) digests[tensor.at("name")] = tensor.at("sha256");
  EXPECT_EQ(digests["b"], digests["tied"]);
  // SHA-256 of 1, 2, 3, 4 and of 1, 3, 2, 4 as little-endian floats of 32 bits.
  EXPECT_EQ(digests["w"], "ad73b9acd6e4a74b2f5bb5386658ce3bb146cd040a1867646ab3b973fb6632b1");
  EXPECT_EQ(digests["turned"], "e3016490e6a9ec8d5797c7b5ec17a4746720e71e73e9b14b0b705307e13275c1");
}

TEST_F(PytorchInput, VerifyComparesChecksums) {
  std::vector<ZipItem> items = torch_records(object(), sample_storages());
  items[1].stored = memory_of<float>({1, 2, 3, 7});
  const std::string damaged = write_text("damaged.pt", zip_file(items));
  const std::string intact = sample();
  const std::string out = path("out.safetensors");
  EXPECT_EQ(tool({"hash", damaged}).exit_code, 0);
  EXPECT_EQ(tool({"hash", "--verify", intact}).exit_code, 0);
  EXPECT_EQ(tool({"hash", "--verify", intact}).err, tool({"hash", intact}).err);
  EXPECT_EQ(tool({"ls", "--verify", damaged}).exit_code, 0) << "ls reads no data";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"hash", "--verify", damaged},
        {"hash", "--verify", "--threads", "1", "--io", "pread", damaged},
        {"convert", "--verify", damaged, "-o", out}}) {
    const Outcome run = tool(command);
    EXPECT_EQ(run.exit_code, 1) << run.err;
    EXPECT_TRUE(contains(run.err, "'archive/data/0' does not match its checksum")) << run.err;
    EXPECT_TRUE(contains(run.err, "without --verify")) << run.err;
    EXPECT_FALSE(contains(run.err, "OpenOptions")) << run.err;
  }
  EXPECT_FALSE(std::filesystem::exists(out));
  const nlohmann::json object = objects_of(tool({"hash", "--verify", "--json", damaged})).at(0);
  EXPECT_EQ(object.at("error").at("code"), "ChecksumMismatch");
}

TEST_F(PytorchInput, VerifySaysWhereThereIsNothingToCompare) {
  const std::string file = write("m.safetensors", {{"a"}});
  const Outcome run = tool({"hash", "--verify", file});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(contains(run.err, "note: the file has no checksums; nothing was verified\n"))
      << run.err;
  const nlohmann::json object = objects_of(tool({"hash", "--verify", "--json", file})).at(0);
  EXPECT_EQ(object.at("notes"),
            nlohmann::json({"the file has no checksums; nothing was verified"}));
}

TEST_F(PytorchInput, ANoteNamesTheKeyThatAModelLiesBelow) {
  const std::string file = wrapped("state_dict");
  const Outcome run = tool({"ls", file});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(contains(run.out, "state_dict.w")) << run.out;
  EXPECT_TRUE(contains(run.err, "andiron: " + file + ": note: ")) << run.err;
  EXPECT_TRUE(contains(run.err, "--top-level-key 'state_dict'")) << run.err;
  const nlohmann::json object = objects_of(tool({"ls", "--json", file})).at(0);
  ASSERT_EQ(object.at("notes").size(), 1u);
  EXPECT_TRUE(contains(object.at("notes").at(0), "state_dict"));
}

TEST_F(PytorchInput, WithTheKeyThereIsNothingToNote) {
  const Outcome run =
      tool({"ls", "--json", "--top-level-key", "state_dict", wrapped("state_dict")});
  const nlohmann::json object = objects_of(run).at(0);
  EXPECT_EQ(names_of(object), (Names{"b", "w"}));
  EXPECT_TRUE(object.at("notes").empty());
  // A key of one's own is no wrapper that all use.
  EXPECT_TRUE(objects_of(tool({"ls", "--json", wrapped("mine")})).at(0).at("notes").empty());
}

TEST_F(PytorchInput, IsConvertedToSafetensors) {
  const std::string target = path("m.safetensors");
  const Outcome run = tool({"convert", sample(), "-o", target});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json before = objects_of(tool({"hash", "--json", path("m.pt")})).at(0);
  const nlohmann::json after = objects_of(tool({"hash", "--json", target})).at(0);
  ASSERT_EQ(names_of(after), names_of(before));
  for (std::size_t i = 0; i < after.at("tensors").size(); ++i) {
    EXPECT_EQ(after.at("tensors").at(i).at("sha256"), before.at("tensors").at(i).at("sha256"));
  }
}

TEST_F(PytorchInput, ConvertedTellsWhereItComesFromAndWhatIsWrittenTwice) {
  const std::string file = sample();
  for (const char* name : {"out.safetensors", "out.bpk"}) {
    const Outcome run = tool({"convert", file, "-o", path(name)});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(contains(run.err, "1 tied tensor written as a copy")) << run.err;
    EXPECT_EQ(open(path(name)).value().metadata().at("format"), "pt");
  }
}

TEST_F(PytorchInput, IsNotWritten) {
  const Outcome run = tool({"convert", sample(), "-o", path("copy.pt")});
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_TRUE(contains(run.err, "cannot tell the format")) << run.err;
}

TEST_F(PytorchInput, ABrokenFileIsAFailureAndAForeignZipIsUnsupported) {
  const std::string whole = zip_file(sample_records());
  EXPECT_EQ(tool({"ls", write_text("cut.pt", whole.substr(0, whole.size() - 30))}).exit_code, 2);
  const std::string foreign =
      write_text("a.zip", zip_file({{.name = "model.weights.h5", .content = "x"}}));
  const Outcome run = tool({"ls", foreign});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(contains(run.err, "Keras")) << run.err;
}

TEST_F(PytorchInput, InfoTellsFormatAndContainer) {
  const Outcome run = tool({"info", sample()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "pytorch")) << run.out;
  EXPECT_TRUE(contains(run.out, "zip")) << run.out;
}

TEST_F(PytorchInput, InfoTellsTiesAndWhatLiesBesideTheTensors) {
  EXPECT_TRUE(contains(tool({"info", sample()}).out, "TIED NAME  STORED AS\ntied       b\n"));
  const Py checkpoint = py::dict({{"model", sample_object()},
                                  {"args", py::dict({{"lr", 0.5}, {"name", "net"}})},
                                  {"epoch", 3}});
  const std::string file =
      write_text("last.ckpt", zip_file(torch_records(checkpoint, sample_storages())));
  EXPECT_TRUE(contains(tool({"info", file}).out,
                       "BESIDE THE TENSORS  VALUE\n"
                       "epoch               3\n"
                       "args.lr             0.5\n"
                       "args.name           net\n"))
      << tool({"info", file}).out;
}

TEST_F(PytorchInput, ConvertSaysWhenTheLayoutCannotBeRecorded) {
  const std::string file = sample();
  const Outcome bare = tool({"convert", file, "-o", path("m.npz")});
  EXPECT_EQ(bare.exit_code, 0) << bare.err;
  EXPECT_TRUE(contains(bare.err, "numpy cannot record that the tensors have PyTorch's layout"));
  const Outcome marked = tool({"convert", file, "-o", path("m.safetensors")});
  EXPECT_FALSE(contains(marked.err, "PyTorch's layout")) << marked.err;
}

}  // namespace
}  // namespace andiron::test
