// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron plan: whether a file fits a model, and which settings would make it fit.
#include "tests/cli/sample_files.h"

namespace andiron::test {
namespace {

class PlanVerb : public ToolTest {
 protected:
  static Sample matrix(const std::string& name, std::uint64_t rows, std::uint64_t columns) {
    return {name, "F32", {rows, columns}, 4 * rows * columns};
  }
  static Sample vector(const std::string& name, std::uint64_t size) {
    return {name, "F32", {size}, 4 * size};
  }
  static Sample counter(const std::string& name) { return {name, "I64", {}, 8}; }
  // A block of attention, under the names of two programs.
  std::string mine() {
    return write("mine", {matrix("layers.0.q.weight", 4, 4), matrix("layers.0.k.weight", 4, 4),
                          matrix("layers.0.v.weight", 4, 4), matrix("layers.0.up.weight", 16, 4),
                          vector("norm.weight", 4)});
  }
  std::string theirs() {
    return write("theirs",
                 {matrix("model.h.0.attn.qkv.weight", 12, 4),
                  matrix("model.h.0.mlp.c_fc.weight", 16, 4), vector("model.ln_f.weight", 4)});
  }
};

TEST_F(PlanVerb, SaysThatAFileFits) {
  const std::string file = mine();
  const Outcome run = tool({"plan", file, "--model", file});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, " fits ")) << run.out;
  EXPECT_TRUE(contains(run.out, "5 of 5 parameters get a tensor")) << run.out;
}

TEST_F(PlanVerb, SaysThatTheModelSeemsTooShort) {
  const std::string model = write("one", {vector("layers.0.weight", 4)});
  const std::string file = write("two", {vector("layers.0.weight", 4), vector("layers.1.pe", 4)});
  const Outcome run = tool({"plan", file, "--model", model});
  EXPECT_EQ(run.exit_code, 0) << run.err;  // the element may be there, without parameters
  EXPECT_TRUE(contains(run.out, ", which seems too short for it: 1 of 1 ")) << run.out;
}

TEST_F(PlanVerb, PrintsFlagsThatMakeItFit) {
  const std::string model = mine();
  const std::string file = theirs();
  const Outcome run = tool({"plan", "--json", file, "--model", model});
  EXPECT_EQ(run.exit_code, 1);
  const nlohmann::json object = objects_of(run).at(0);
  EXPECT_EQ(object.at("fits"), false);
  ASSERT_FALSE(object.at("flags").empty());
  const std::string flags = object.at("flags")[0];
  EXPECT_TRUE(contains(flags, "--split ")) << flags;
  // As a shell would take them.
  const std::string out = path("converted.safetensors");
  const std::string command =
      tool_path() + " convert " + file + " -o " + out + " " + flags + " >/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  EXPECT_EQ(tool({"plan", out, "--model", model}).exit_code, 0);
}

TEST_F(PlanVerb, DoesNotFitWhereFiltersLeaveNothing) {
  const std::string file = mine();
  const Outcome run = tool({"plan", file, "--model", file, "--include", "nothing.**"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(contains(run.out, "leave out all parameters")) << run.out;
}

TEST_F(PlanVerb, SaysWhatIsToBeLeftOut) {
  const std::string model = write(
      "five", {matrix("a.weight", 2, 3), matrix("b.weight", 3, 2), matrix("fc.weight", 5, 4)});
  const std::string file = write(
      "ten", {matrix("a.weight", 2, 3), matrix("b.weight", 3, 2), matrix("fc.weight", 10, 4)});
  const Outcome run = tool({"plan", file, "--model", model});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(
      contains(run.out,
               "2 of 3 parameters have tensors; a load that leaves out the others "
               "succeeds:\n  --exclude 'fc.**'  [10, 4] in the file, [5, 4] in the model\n"))
      << run.out;
  const Outcome again = tool({"plan", file, "--model", model, "--exclude", "fc.**"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_TRUE(contains(again.out, "2 of 3 parameters get a tensor, 1 left out\n")) << again.out;
}

TEST_F(PlanVerb, NamesOneKey) {
  const std::string model = write("plain", {matrix("fc.weight", 2, 3), vector("fc.bias", 2)});
  const std::string file =
      write("wrapped", {matrix("model.net.fc.weight", 2, 3), vector("model.net.fc.bias", 2)});
  const Outcome run = tool({"plan", file, "--model", model});
  EXPECT_TRUE(contains(run.out, "--top-level-key 'model.net'")) << run.out;
  EXPECT_FALSE(contains(run.out, "Note:")) << run.out;
}

TEST_F(PlanVerb, FindsNamesInAnyAlphabet) {
  const std::string model = write("latin", {matrix("fc1.weight", 2, 3), vector("fc1.bias", 2)});
  const std::string file =
      write("greek", {matrix("δίκτυο.fc1.weight", 2, 3), vector("δίκτυο.fc1.bias", 2)});
  const Outcome run = tool({"plan", file, "--model", model});
  EXPECT_TRUE(contains(run.out, "--top-level-key 'δίκτυο'")) << run.out;
}

TEST_F(PlanVerb, SaysOrBetweenTwoModels) {
  const std::string model = write("plain", {matrix("a.weight", 2, 3), matrix("b.weight", 3, 2)});
  const std::string file =
      write("both", {matrix("model.a.weight", 2, 3), matrix("model.b.weight", 3, 2),
                     matrix("model_ema.a.weight", 2, 3), matrix("model_ema.b.weight", 3, 2)});
  const Outcome run = tool({"plan", file, "--model", model});
  EXPECT_TRUE(contains(run.out, "Or these, which feed 2 of 2 parameters with averaged weights:"))
      << run.out;
}

TEST_F(PlanVerb, FoldsWeightNorm) {
  const std::string model = write("plain", {matrix("fc.weight", 2, 3)});
  const std::string file =
      write("normed", {matrix("fc.weight_g", 2, 1), matrix("fc.weight_v", 2, 3)});
  const Outcome run = tool({"plan", file, "--model", model});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(contains(run.out, " -o OUTPUT.safetensors --fold-weight-norm")) << run.out;
  EXPECT_FALSE(contains(run.out, "did you mean")) << run.out;
  EXPECT_EQ(tool({"plan", file, "--model", model, "--fold-weight-norm"}).exit_code, 0);
}

TEST_F(PlanVerb, TakesAListingForTheModel) {
  const std::string file = mine();
  const std::string listing = path("names.txt");
  write_file(listing, tool({"ls", file}).out);
  EXPECT_EQ(tool({"plan", file, "--model", listing}).exit_code, 0);
  write_file(listing, tool({"ls", "--json", file}).out);
  EXPECT_EQ(tool({"plan", file, "--model", listing}).exit_code, 0);
  write_file(listing, R"({"norm.weight": [4], "layers.0.q.weight": [4, 4]})");
  EXPECT_EQ(tool({"plan", file, "--model", listing}).exit_code, 0);
  write_file(listing, "# nothing\n");
  const Outcome run = tool({"plan", file, "--model", listing});
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_TRUE(contains(run.err, "no parameter in the listing")) << run.err;
}

TEST_F(PlanVerb, RefusesLinesThatItCannotRead) {
  const std::string file = mine();
  const std::string listing = path("names.txt");
  for (const char* line : {"fc float32 (10, 64)", "fc torch.Size([3])", "fc f99 [3]"}) {
    write_file(listing, "# by hand\n\nnorm.weight\tf32\t[4]\n" + std::string(line) + "\n");
    const Outcome run = tool({"plan", file, "--model", listing});
    EXPECT_EQ(run.exit_code, 4);
    EXPECT_TRUE(contains(run.err, "line 4: " + std::string(line))) << run.err;
  }
  write_file(listing, "norm.weight f32 [4]\nnorm.weight f32 [4]\n");
  const Outcome twice = tool({"plan", file, "--model", listing});
  EXPECT_TRUE(contains(twice.err, "names.txt")) << twice.err;
}

TEST_F(PlanVerb, AModelThatCannotBeReadIsAnErrorOfEachInput) {
  const Outcome run = tool({"plan", "--json", mine(), "--model", path("absent.txt")});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(objects_of(run).at(0).contains("error")) << run.out;
}

TEST_F(PlanVerb, ShapesWithoutDtypesFitNormsToo) {
  const std::string file =
      write("norm", {vector("norm.weight", 4), counter("norm.num_batches_tracked")});
  const std::string listing = path("names.json");
  write_file(listing, R"({"norm.weight": [4], "norm.num_batches_tracked": []})");
  EXPECT_EQ(tool({"plan", file, "--model", listing}).exit_code, 0);
  write_file(listing, R"({"norm.weight": {"dtype": "f32", "shape": [4]}})");
  EXPECT_EQ(tool({"plan", file, "--model", listing}).exit_code, 0);
}

TEST_F(PlanVerb, UsesTheKindsOfAListing) {
  const std::string file = write("torch", {matrix("fc.weight", 2, 3), vector("norm.weight", 3)});
  const std::string listing = path("kinds.json");
  write_file(listing, R"({"tensors": [
    {"name": "fc.weight", "dtype": "f32", "shape": [3, 2], "kind": "Linear"},
    {"name": "norm.gamma", "dtype": "f32", "shape": [3], "kind": "LayerNorm"}]})");
  const Outcome run = tool({"plan", file, "--model", listing});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(contains(run.out, "PyTorchToBurnAdapter()")) << run.out;
}

TEST_F(PlanVerb, NeedsAModel) {
  EXPECT_EQ(tool({"plan", mine()}).exit_code, 4);
  EXPECT_EQ(tool({"plan", mine(), "--model", path("absent")}).exit_code, 2);
}

TEST_F(PlanVerb, SplitsJoinsAndTransposesInOtherVerbs) {
  const std::string file = theirs();
  const Outcome run =
      tool({"ls", "--split", "\\.qkv\\.", ".q.,.k.,.v.", "--transpose", "c_fc", file});
  EXPECT_TRUE(contains(run.out, "model.h.0.attn.q.weight    f32    [4, 4]")) << run.out;
  EXPECT_TRUE(contains(run.out, "[4, 16]")) << run.out;
  const Outcome joined = tool({"ls", "--join", "\\.q\\.", ".k.,.v.,.qkv.", mine()});
  EXPECT_TRUE(contains(joined.out, "[12, 4]")) << joined.out;
  EXPECT_EQ(tool({"ls", "--split", "qkv", "q", file}).exit_code, 4);
  EXPECT_EQ(tool({"ls", "--split", "qkv", "q=1,k", file}).exit_code, 4);
}

}  // namespace
}  // namespace andiron::test
