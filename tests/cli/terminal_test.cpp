// SPDX-License-Identifier: MIT OR Apache-2.0
// Color, width and progress, on a terminal and off it.
#include "tests/cli/sample_files.h"

namespace andiron::test {
namespace {

class Terminal : public ToolTest {
 protected:
  void SetUp() override {
    if (on_terminal({"--version"}).exit_code != 0) GTEST_SKIP() << "no terminals here";
  }

  Outcome on_terminal(std::vector<std::string> arguments, unsigned short columns = 80,
                      Environment environment = {}) const {
    environment.insert({{"TERM", "xterm"}, {"NO_COLOR", ""}});
    arguments.insert(arguments.begin(), tool_path());
    return run_on_terminal(arguments, columns, environment);
  }

  static constexpr const char* bold = "\x1b[1m";
  static constexpr const char* clear_line = "\r\x1b[K";
};

TEST_F(Terminal, ColorShowsOnATerminalUnlessDeclined) {
  const std::string file = write("m", {{"a"}});
  EXPECT_TRUE(contains(on_terminal({"ls", file}).out, bold));
  EXPECT_FALSE(contains(on_terminal({"ls", "--color", "never", file}).out, "\x1b"));
  EXPECT_FALSE(contains(on_terminal({"ls", file}, 80, {{"NO_COLOR", "1"}}).out, "\x1b"));
  EXPECT_FALSE(contains(on_terminal({"ls", file}, 80, {{"TERM", "dumb"}}).out, "\x1b"));
}

TEST_F(Terminal, ColorShowsElsewhereOnlyWhenAsked) {
  const std::string file = write("m", {{"a"}});
  EXPECT_FALSE(contains(tool({"ls", file}).out, "\x1b"));
  EXPECT_FALSE(contains(tool({"info", file}).out, "\x1b"));
  EXPECT_TRUE(contains(tool({"ls", "--color", "always", file}, {{"NO_COLOR", "1"}}).out, bold));
  EXPECT_FALSE(contains(tool({"ls", "--json", "--color", "always", file}).out, "\x1b"));
}

TEST_F(Terminal, TablesUseItsWidth) {
  const std::string file = write("m", {{std::string(300, 'x')}});
  for (const unsigned short columns : std::initializer_list<unsigned short>{50, 120}) {
    const Outcome run = on_terminal({"ls", "--color", "never", file}, columns);
    const auto lines = lines_of(run.out);
    ASSERT_GE(lines.size(), 2u);
    // The terminal ends lines with a carriage return.
    EXPECT_EQ(lines[1].size(), columns + 1u) << lines[1];
  }
}

TEST_F(Terminal, TablesFitANarrowOne) {
  const std::string file = write("m", {{"a.weight", "I64", {1, 1, 1, 1, 1, 1, 1, 1, 1}, 8}},
                                 {{"key", std::string(200, 'v')}});
  for (const char* verb : {"ls", "info", "hash"}) {
    for (const std::string& line :
         lines_of(on_terminal({verb, "--color", "never", file}, 40).out)) {
      // What the progress bar drew before is wiped.
      const std::string shown = line.substr(line.rfind(clear_line) + 1);
      EXPECT_LE(shown.size(), 40u + std::string(clear_line).size()) << verb << ": " << line;
    }
  }
}

TEST_F(Terminal, ProgressShowsThereAndNowhereElse) {
  const std::string file = write("m", {{"a", "U8", {1000000}, 1000000}});
  const Outcome shown = on_terminal({"hash", file});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_TRUE(contains(shown.out, "[....................]   0% of 976.6 KiB")) << shown.out;
  EXPECT_TRUE(contains(shown.out, clear_line));
  const Outcome converted = on_terminal({"convert", file, "-o", path("out.safetensors")});
  EXPECT_TRUE(contains(converted.out, "% of 976.6 KiB")) << converted.out;
  const Outcome plain = tool({"hash", file});
  EXPECT_EQ(plain.err, "");
  EXPECT_FALSE(contains(plain.out, "%"));
  EXPECT_FALSE(contains(on_terminal({"hash", file}, 80, {{"TERM", "dumb"}}).out, "%"));
}

}  // namespace
}  // namespace andiron::test
