// SPDX-License-Identifier: MIT OR Apache-2.0
// The andiron tool.
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <variant>

#include "cli/arguments.h"
#include "cli/report.h"

namespace andiron::cli {
namespace {

ExitCode run(int argc, char** argv) {
  try {
    const auto verb_or_code = parse_arguments(argc, argv);
    if (const auto* code = std::get_if<ExitCode>(&verb_or_code)) return *code;
    return std::get<std::unique_ptr<Verb>>(verb_or_code)->run();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    print_message(error.what());
  }
  return ExitCode::failed;
}

}  // namespace
}  // namespace andiron::cli

int main(int argc, char** argv) {
  using namespace andiron::cli;
  // A reader that has gone away (andiron ls | head) is then an error of write(), which we handle.
  std::signal(SIGPIPE, SIG_IGN);
  // So is a limit on the size of the file that standard output is.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const std::bad_alloc&) {
    // Without memory for a message of our own.
    std::fputs("andiron: out of memory\n", stderr);
  }
  return static_cast<int>(ExitCode::failed);
}
