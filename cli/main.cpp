// SPDX-License-Identifier: MIT OR Apache-2.0
// The andiron tool.
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <variant>

#include "cli/arguments.h"
#include "cli/report.h"
#include "cli/verbs.h"

namespace andiron::cli {
namespace {

ExitCode run(const ShowText& show) {
  return write_to_standard_output(show.text) == Written::failed ? ExitCode::failed : ExitCode::ok;
}

ExitCode run(const ShowUsage& show) {
  std::fputs(show.text.c_str(), stderr);
  return ExitCode::usage;
}

ExitCode run(const UsageError& error) {
  print_message(error.message);
  return ExitCode::usage;
}

ExitCode run(int argc, char** argv) {
  try {
    const Arguments arguments = parse_arguments(argc, argv);
    return std::visit([](const auto& chosen) { return run(chosen); }, arguments);
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
