// SPDX-License-Identifier: MIT OR Apache-2.0
// The command line, and its help.
#include "tests/cli/sample_files.h"

namespace andiron::test {
namespace {

class Arguments : public ToolTest {};

// The verbs that --help names.
std::vector<std::string> listed_verbs() {
  std::vector<std::string> verbs;
  bool is_verb = false;
  for (const std::string& line : lines_of(tool({"--help"}).out)) {
    if (is_verb && line.empty()) break;
    if (is_verb && line.size() > 2 && line[2] != ' ') {
      verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    if (line == "Subcommands:") is_verb = true;
  }
  return verbs;
}

TEST_F(Arguments, VersionIsPrintedToStandardOutput) {
  const Outcome run = tool({"--version"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out.rfind("andiron ", 0), 0u) << run.out;
  EXPECT_EQ(run.err, "");
}

TEST_F(Arguments, HelpNamesVerbsExitCodesAndExamples) {
  const Outcome run = tool({"--help"});
  EXPECT_EQ(run.exit_code, 0);
  for (const char* part : {"Exit codes", "Examples", "andiron ls model"}) {
    EXPECT_TRUE(contains(run.out, part)) << part;
  }
  EXPECT_GE(listed_verbs().size(), 8u);
  EXPECT_EQ(run.err, "");
}

TEST_F(Arguments, HelpOfEveryVerbListsTheCommonOptions) {
  for (const std::string& verb : listed_verbs()) {
    const Outcome run = tool({verb, "--help"});
    EXPECT_EQ(run.exit_code, 0);
    for (const char* option : {"--json", "--include", "--exclude", "--regex", "--top-level-key",
                               "--sub", "--contiguous-indices", "--io", "--threads", "--max-memory",
                               "--strict", "--lenient", "--color", "Examples"}) {
      EXPECT_TRUE(contains(run.out, option)) << verb << ' ' << option;
    }
  }
}

TEST_F(Arguments, HelpFitsInto80Columns) {
  for (const char* verb : {"ls", "info", "config", "plan", "hash", "convert"}) {
    for (const std::string& line : lines_of(tool({verb, "--help"}).out)) {
      EXPECT_LE(line.size(), 80u) << line;
    }
  }
}

TEST_F(Arguments, HelpOfAWritingVerbListsTheCommonOptions) {
  const Outcome run = tool({"convert", "--help"});
  for (const char* option : {"-o", "--output", "-f", "--force", "--dry-run", "--no-sync"}) {
    EXPECT_TRUE(contains(run.out, option)) << option;
  }
}

TEST_F(Arguments, NoVerbShowsTheHelpAsAMistake) {
  const Outcome run = tool({});
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(contains(run.err, "Examples"));
}

TEST_F(Arguments, MistakesAreOneLineAndExitCode4) {
  const std::string file = write("m.safetensors", {{"a"}});
  const std::vector<std::vector<std::string>> mistakes = {
      {"frobnicate"},
      {"fro\nbnicate"},
      {"ls"},
      {"ls", "--nope", file},
      {"ls", "--sort", "color", file},
      {"ls", "--io", "psychic", file},
      {"ls", "--color", "blue", file},
      {"ls", "--sub", "a", file},
      {"ls", "--strict", "--lenient", file},
      {"hash", "--threads", "0", file},
      {"hash", "--threads", "many", file},
      {"hash", "--threads", "99999999999999999999", file},
      {"hash", "--max-memory", "lots", file},
      {"hash", "--max-memory", "-1G", file},
      {"hash", "--max-memory", "1X", file},
      {"hash", "--max-memory", "99999999999T", file},
      {"hash", "--max-memory", "1K", file},
  };
  for (const auto& mistake : mistakes) {
    const Outcome run = tool(mistake);
    EXPECT_EQ(run.exit_code, 4) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(lines_of(run.err).size(), 1u) << run.err;
    EXPECT_EQ(run.err.rfind("andiron: ", 0), 0u) << run.err;
    EXPECT_TRUE(contains(run.err, "--help")) << run.err;
  }
}

TEST_F(Arguments, SizesAreTakenInAllSpellings) {
  const std::string file = write("m.safetensors", {{"a"}});
  for (const char* size :
       {"65536", "65536B", "64K", "64k", "64KiB", "66KB", "0.5M", "1.5G", "2GiB", "1Gi", "1TB"}) {
    EXPECT_EQ(tool({"hash", "--max-memory", size, file}).exit_code, 0) << size;
  }
}

TEST_F(Arguments, AnInputMayBeNamedLikeAVerbOrAnOption) {
  write("info", {{"a"}});
  write("--json", {{"b"}});
  const Outcome run = andiron::test::run(
      {"sh", "-c", "cd \"$1\" && \"$2\" ls info -- --json", "sh", path(""), tool_path()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "--json:\n")) << run.out;
}

TEST_F(Arguments, BracketsBracesAndPercentSignsAreTakenLiterally) {
  write("[a,b]", {{"x.1"}, {"x.2"}});
  write("%%", {{"y.1"}});
  const Outcome run = tool({"ls", "--json", "--sub", "[0-9]", "{n}", "--regex=[xy]", "--exclude",
                            "{}", path("[a,b]"), path("%%")});
  EXPECT_EQ(run.exit_code, 2) << run.err;
  const auto objects = objects_of(run);
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[0].at("path"), path("[a,b]"));
  EXPECT_EQ(objects[0].at("error").at("code"), "NameCollision");
  EXPECT_EQ(names_of(objects[1]), Names{"y.{n}"});
}

}  // namespace
}  // namespace andiron::test
