// SPDX-License-Identifier: MIT OR Apache-2.0
// Running programs from tests, in WebAssembly: run.mjs starts them, each in a memory of its own.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

// Runs a command, a line for each word. Its output goes to a file. Returns its exit code, -1 if it
// could not be started or trapped.
extern "C" [[clang::import_module("andiron_tests"), clang::import_name("run")]] int
andiron_tests_run(const char* command, std::size_t command_size, const char* out,
                  std::size_t out_size);

namespace andiron::test {

/// What a program did.
struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

inline Outcome run(const std::vector<std::string>& command) {
  const TempDir folder;
  const std::string out = folder.file("out");
  std::string lines;
  for (const std::string& word : command) lines += word + '\n';
  Outcome outcome;
  outcome.exit_code = andiron_tests_run(lines.data(), lines.size(), out.data(), out.size());
  outcome.out = read_file(out);
  return outcome;
}

}  // namespace andiron::test
