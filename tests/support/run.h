// SPDX-License-Identifier: MIT OR Apache-2.0
// Running programs from tests.
#pragma once

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace andiron::test {

/// What a program did.
struct Outcome {
  int exit_code = -1;  ///< -1 when it was killed or could not be started
  std::string out;
  std::string err;
};

/// Set for the program only; what is empty is unset.
using Environment = std::map<std::string, std::string>;

namespace process {

inline std::string read_all(std::FILE* file) {
  std::string text;
  std::rewind(file);
  char buffer[4096];
  while (std::size_t count = std::fread(buffer, 1, sizeof buffer, file)) text.append(buffer, count);
  return text;
}

inline int wait_for(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

// Becomes the program; runs in the child alone.
[[noreturn]] inline void become(const std::vector<std::string>& command,
                                const Environment& environment) {
  for (const auto& [name, value] : environment) {
    value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace process

/// Runs a command with nothing to read; `stdout_path` takes its output instead of Outcome::out.
inline Outcome run(const std::vector<std::string>& command, const Environment& environment = {},
                   const char* stdout_path = nullptr) {
  Outcome result;
  std::FILE* out = stdout_path == nullptr ? std::tmpfile() : std::fopen(stdout_path, "r+");
  std::FILE* err = std::tmpfile();
  if (out != nullptr && err != nullptr) {
    const pid_t child = fork();
    if (child == 0) {
      dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
      dup2(fileno(out), STDOUT_FILENO);
      dup2(fileno(err), STDERR_FILENO);
      process::become(command, environment);
    }
    result.exit_code = child < 0 ? -1 : process::wait_for(child);
    if (stdout_path == nullptr) result.out = process::read_all(out);
    result.err = process::read_all(err);
  }
  if (out != nullptr) std::fclose(out);
  if (err != nullptr) std::fclose(err);
  return result;
}

/// Runs a command on a terminal of that many columns; all it shows is in Outcome::out. The exit
/// code is -1 where the system has no terminals to give.
inline Outcome run_on_terminal(const std::vector<std::string>& command, unsigned short columns,
                               const Environment& environment = {}) {
  Outcome result;
  winsize size = {};
  size.ws_row = 24;
  size.ws_col = columns;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) return result;
  if (child == 0) process::become(command, environment);
  char buffer[4096];
  // Ends with an error, not with 0, when the program is gone.
  for (ssize_t count; (count = ::read(terminal, buffer, sizeof buffer)) > 0;) {
    result.out.append(buffer, static_cast<std::size_t>(count));
  }
  result.exit_code = process::wait_for(child);
  close(terminal);
  return result;
}

}  // namespace andiron::test
