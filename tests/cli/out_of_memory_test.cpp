// SPDX-License-Identifier: MIT OR Apache-2.0
// The tool with less address space than it needs.
#include <string>
#include <vector>

#include "tests/cli/sample_files.h"
#include "tests/support/long_tests.h"

namespace andiron::test {
namespace {

class ToolOutOfMemory : public ToolTest {};

TEST_F(ToolOutOfMemory, EndsWithAMessageAndExitCode2) {
  if (is_sanitized || is_emulated())
    GTEST_SKIP() << "sanitizers and emulators need the address space";
  std::vector<Sample> tensors;
  for (int i = 0; i < 3000; ++i) {
    tensors.push_back({std::to_string(i) + std::string(900, 'a'), "U8", {1}, 1});
  }
  const std::string input = write("many.safetensors", tensors);
  const std::string output = path("many.bpk");
  const std::vector<std::vector<std::string>> verbs = {{"ls", "--json", input},
                                                       {"info", input},
                                                       {"hash", "--threads", "1", input},
                                                       {"convert", "-f", input, "-o", output}};
  const auto run_within = [](int kilobytes, const std::vector<std::string>& verb) {
    std::vector<std::string> command = {
        "sh", "-c", "ulimit -v " + std::to_string(kilobytes) + "; exec \"$0\" \"$@\"", tool_path()};
    command.insert(command.end(), verb.begin(), verb.end());
    return run(command);
  };
  // What the system needs to start a program, before it is ours.
  int least = 10000;
  while (least < 40000 && run_within(least, {"--version"}).exit_code != 0) least += 500;
  for (const std::vector<std::string>& verb : verbs) {
    int failures = 0;
    for (int kilobytes = least + 500; kilobytes < least + 40000; kilobytes += 3000) {
      const Outcome outcome = run_within(kilobytes, verb);
      if (outcome.exit_code == 0) continue;
      ++failures;
      EXPECT_EQ(outcome.exit_code, 2) << verb.front() << " " << kilobytes << ": " << outcome.err;
      EXPECT_TRUE(outcome.err.starts_with("andiron: ")) << outcome.err;
      EXPECT_NE(outcome.err.find("memory"), std::string::npos) << outcome.err;
    }
    EXPECT_GT(failures, 0) << verb.front();
  }
}

}  // namespace
}  // namespace andiron::test
