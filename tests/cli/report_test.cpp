// SPDX-License-Identifier: MIT OR Apache-2.0
// Exit codes, error lines, the tool's own words, and a standard output that does not take what it
// is given.
#include "cli/report.h"

#include <regex>

#include "tests/cli/sample_files.h"

namespace andiron::test {
namespace {

class Report : public ToolTest {};

TEST_F(Report, AMissingFileIsOneLineAndExitCode2) {
  const std::string file = path("missing.safetensors");
  for (const char* verb : {"ls", "info", "hash"}) {
    const Outcome run = tool({verb, file});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(lines_of(run.err).size(), 1u) << run.err;
    EXPECT_EQ(run.err.rfind("andiron: " + file + ": ", 0), 0u) << run.err;
  }
}

TEST_F(Report, SomethingThatIsNoWeightFileIsExitCode3) {
  EXPECT_EQ(tool({"ls", write_text("empty", "")}).exit_code, 3);
  EXPECT_EQ(tool({"ls", write_text("text", "hello, this is text")}).exit_code, 3);
}

TEST_F(Report, AMalformedFileIsExitCode2) {
  std::string file = safetensors({{"a", "F32", {2}, 8}});
  file.pop_back();
  const Outcome run = tool({"ls", write_text("cut.safetensors", file)});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(lines_of(run.err).size(), 1u) << run.err;
}

TEST_F(Report, JsonErrorsGoToBothOutputs) {
  const std::string file = path("missing");
  const Outcome run = tool({"info", "--json", file});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(lines_of(run.err).size(), 1u);
  const auto object = objects_of(run).at(0);
  EXPECT_EQ(object.at("schema"), 1);
  EXPECT_EQ(object.at("path"), file);
  EXPECT_EQ(object.at("error").at("code"), "NotFound");
  EXPECT_FALSE(object.at("error").at("message").get<std::string>().empty());
  EXPECT_EQ(object.size(), 3u);
}

TEST_F(Report, ErrorLinesCannotSpeakToTheTerminal) {
  const Outcome run = tool({"ls", path("a\nb\x1b[31m\u202e\xff")});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(lines_of(run.err).size(), 1u);
  EXPECT_TRUE(contains(run.err, "a\\nb\\x1b[31m\\u202e\\xff")) << run.err;
}

TEST_F(Report, FlagsInAdviceAreOnThePageOfTheTool) {
  const std::regex in_cpp(R"(::|\.with_|\(true\)|Options|Settings|Limits)");
  const std::regex flag("--[a-z-]+");
  const std::string page = read_file(tool_page());
  // From here on, advice is about loads, which the tool does not make.
  for (int i = 0; i < static_cast<int>(Advice::cast_to_module); ++i) {
    const std::string words = Message(static_cast<Advice>(i), "argument").to_string(Wording::flags);
    EXPECT_FALSE(std::regex_search(words, in_cpp)) << words;
    for (std::sregex_iterator at(words.begin(), words.end(), flag), end; at != end; ++at) {
      EXPECT_TRUE(contains(page, "`" + at->str() + "`") || contains(page, "`" + at->str() + " "))
          << words << " names an option that docs/tool.md does not";
    }
  }
}

TEST_F(Report, AdviceAboutMemoryNamesTheOptionThatLoweredTheLimit) {
  const std::string large(70'000, 'x');
  const std::string file = write("m", {{large.substr(0, 40'000)}, {large.substr(0, 40'001)}});
  const Outcome lowered = tool({"ls", "--max-memory", "64K", file});
  EXPECT_EQ(lowered.exit_code, 2);
  EXPECT_TRUE(contains(lowered.err, "expected at most 65536; raise --max-memory\n")) << lowered.err;
}

TEST_F(Report, AFullDiskIsAnError) {
  const std::string file = write("m", {{"a"}});
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"ls", file}, {"--help"}, {"hash", "--json", file}}) {
    const Outcome run = tool(arguments, {}, "/dev/full");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(lines_of(run.err).size(), 1u) << run.err;
  }
}

TEST_F(Report, AReaderThatLeavesEndsTheToolQuietly) {
  std::vector<Sample> samples;
  for (int i = 0; i < 5000; ++i) samples.push_back({"tensor.number." + std::to_string(i)});
  const std::string file = write("m", samples);
  const Outcome run = andiron::test::run(
      {"sh", "-c", "{ \"$1\" ls \"$2\" \"$2\"; echo \"code $?\" >&2; } | head -n 1 >/dev/null",
       "sh", tool_path(), file});
  EXPECT_EQ(run.err, "code 0\n");
}

}  // namespace
}  // namespace andiron::test
