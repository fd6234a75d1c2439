// SPDX-License-Identifier: MIT OR Apache-2.0
// What the reading options make of an input, and the rule for several inputs.
#include "tests/cli/sample_files.h"

namespace andiron::test {
namespace {

class Inputs : public ToolTest {
 protected:
  std::string sample() const {
    return write("m.safetensors", {{"net.fc.0.weight"},
                                   {"net.fc.2.weight"},
                                   {"net.fc.2.bias"},
                                   {"net.norm"},
                                   {"optimizer.step"}});
  }

  // The names that `ls` shows with these options.
  Names listed(std::vector<std::string> options) const {
    options.insert(options.begin(), {"ls", "--json"});
    options.push_back(sample());
    const Outcome run = tool(options);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return names_of(objects_of(run).at(0));
  }
};

TEST_F(Inputs, GlobsStayWithinASegmentUnlessDoubled) {
  EXPECT_EQ(listed({"--include", "net.*"}), Names{"net.norm"});
  EXPECT_EQ(listed({"--include", "net.**"}).size(), 4u);
  EXPECT_EQ(listed({"--include", "net.norm", "--include", "optimizer.*"}),
            (Names{"net.norm", "optimizer.step"}));
  EXPECT_EQ(listed({"--exclude", "**.weight", "--exclude", "**.bias"}),
            (Names{"net.norm", "optimizer.step"}));
}

TEST_F(Inputs, RegexIsFoundAnywhereInTheName) {
  EXPECT_EQ(listed({"--regex", "[24]\\.b"}), Names{"net.fc.2.bias"});
  EXPECT_EQ(listed({"--regex", "nothing"}), Names{});
}

TEST_F(Inputs, TopLevelKeyNamesFromThere) {
  EXPECT_EQ(listed({"--top-level-key", "optimizer"}), Names{"step"});
}

TEST_F(Inputs, SubstitutionsRunInOrder) {
  EXPECT_EQ(
      listed({"--sub", "^optimizer\\.", "", "--sub", "^(s)tep$", "${1}top", "--include", "stop"}),
      Names{"stop"});
}

TEST_F(Inputs, StagesRunInTheOrderKeyRenameGapsFilter) {
  // The rule sees names below the key; indices close after renaming; the filter sees the outcome.
  EXPECT_EQ(listed({"--include", "dense.1.*", "--contiguous-indices", "--sub", "^fc", "dense",
                    "--top-level-key", "net"}),
            (Names{"dense.1.bias", "dense.1.weight"}));
}

TEST_F(Inputs, CollidingNamesAreAnErrorThatNamesBoth) {
  const Outcome run = tool({"ls", "--sub", "[02]", "x", sample()});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(contains(run.err, "net.fc.0.weight")) << run.err;
  EXPECT_TRUE(contains(run.err, "net.fc.2.weight")) << run.err;
}

TEST_F(Inputs, AMissingTopLevelKeyIsAnErrorThatNamesTheFile) {
  const std::string file = sample();
  const Outcome run = tool({"ls", "--top-level-key", "nope", file});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err.rfind("andiron: " + file + ": ", 0), 0u) << run.err;
}

TEST_F(Inputs, ABadPatternIsAUsageErrorReportedOnce) {
  const std::string file = sample();
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--regex", "a("}, {"--sub", "a(", "b"}}) {
    std::vector<std::string> arguments = {"ls", file, file};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome plain = tool(arguments);
    EXPECT_EQ(plain.exit_code, 4);
    EXPECT_EQ(plain.out, "");
    EXPECT_EQ(lines_of(plain.err).size(), 1u) << plain.err;
    EXPECT_TRUE(contains(plain.err, "a(")) << plain.err;

    arguments.push_back("--json");
    const Outcome json = tool(arguments);
    EXPECT_EQ(json.exit_code, 4);
    const auto objects = objects_of(json);
    ASSERT_EQ(objects.size(), 2u);
    EXPECT_EQ(objects[0].at("error").at("code"), "InvalidPattern");
  }
}

TEST_F(Inputs, AGroupThatAReplacementLacksGivesANote) {
  const auto object = objects_of(tool({"ls", "--json", "--sub", "(fc)", "$1x", sample()})).at(0);
  EXPECT_FALSE(object.at("notes").empty());
}

TEST_F(Inputs, AllInputsAreTriedAndTheGravestCodeWins) {
  const std::string good = sample();
  const std::string text = write_text("notes.txt", "just some text, no weights");
  const std::string missing = path("missing.safetensors");

  const Outcome all = tool({"ls", "--json", text, missing, good});
  EXPECT_EQ(all.exit_code, 2);
  const auto objects = objects_of(all);
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_EQ(objects[0].at("error").at("code"), "NotAWeightFile");
  EXPECT_EQ(objects[1].at("error").at("code"), "NotFound");
  EXPECT_EQ(objects[2].at("tensors").size(), 5u);
  EXPECT_EQ(lines_of(all.err).size(), 2u) << all.err;

  EXPECT_EQ(tool({"ls", good, text}).exit_code, 3);
  EXPECT_EQ(tool({"ls", text, good}).exit_code, 3);
  EXPECT_EQ(tool({"ls", good, good}).exit_code, 0);
}

TEST_F(Inputs, AHeaderBeyondMaxMemoryIsRefused) {
  std::vector<Sample> samples;
  for (int i = 0; i < 2000; ++i) samples.push_back({"tensor.number." + std::to_string(i)});
  const std::string file = write("m", samples);
  EXPECT_EQ(tool({"ls", file}).exit_code, 0);
  const Outcome run = tool({"ls", "--json", "--max-memory", "64K", file});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(objects_of(run).at(0).at("error").at("code"), "HeaderTooLarge");
}

}  // namespace
}  // namespace andiron::test
