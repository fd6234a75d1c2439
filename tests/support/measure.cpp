// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs a command and writes its largest memory, in KiB, to a file. Exits as the command does.
//
//   measure OUT COMMAND [ARGUMENT ...]
//
// A program of its own: what the system reports of a child includes the memory of the process that
// it was forked from, which here is next to nothing.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

int main(int count, char** arguments) {
  if (count < 3) return 127;
  const pid_t child = fork();
  if (child == 0) {
    // What hangs ends, too.
    const rlimit two_minutes = {120, 120};
    setrlimit(RLIMIT_CPU, &two_minutes);
    execvp(arguments[2], arguments + 2);
    _exit(127);
  }
  int status = 0;
  rusage taken = {};
  if (child < 0 || wait4(child, &status, 0, &taken) != child) return 127;
  std::FILE* out = std::fopen(arguments[1], "w");
  if (out == nullptr) return 127;
  std::fprintf(out, "%ld\n", taken.ru_maxrss);
  std::fclose(out);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
