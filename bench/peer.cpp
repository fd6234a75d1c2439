// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench/peer.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace andiron::bench {
namespace {

// Where the scripts install the programs that we compare with.
std::string peer_python(const std::string& environment) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::string base = cache != nullptr && *cache != '\0' ? cache
                           : home != nullptr                  ? std::string(home) + "/.cache"
                                                              : std::string();
  return base + "/andiron/" + environment + "/bin/python";
}

}  // namespace

std::shared_ptr<Peer> Peer::start(Harness& harness, const std::string& job,
                                  const std::string& path) {
  return start(harness, {"safetensors", "python", "scripts/bench"}, job, path);
}

std::shared_ptr<Peer> Peer::start_torch(Harness& harness, const std::string& job,
                                        const std::string& path) {
  return start(harness, {"torch", "torch", "scripts/interop"}, job, path);
}

std::shared_ptr<Peer> Peer::start(Harness& harness, const Package& package, const std::string& job,
                                  const std::string& path) {
  const std::string python = peer_python(package.environment);
  const std::string title = "python " + package.name;
  if (::access(python.c_str(), X_OK) != 0) {
    harness.skip(title, "not installed; " + package.script + " does that");
    return nullptr;
  }
  int to[2];
  int from[2];
  if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) {
    throw std::runtime_error("cannot make a pipe");
  }
  const pid_t process = ::fork();
  if (process < 0) throw std::runtime_error("cannot start a process");
  if (process == 0) {
    ::dup2(to[0], STDIN_FILENO);
    ::dup2(from[1], STDOUT_FILENO);
    ::execl(python.c_str(), python.c_str(), ANDIRON_PEER_SCRIPT, package.name.c_str(), job.c_str(),
            path.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  std::shared_ptr<Peer> peer(new Peer(process, to[1], from[0]));
  peer->name_ = peer->read_line();
  if (!peer->name_.empty()) return peer;
  harness.skip(title, "it did not start");
  return nullptr;
}

Peer::~Peer() {
  // At the end of its input it ends.
  ::close(to_);
  ::close(from_);
  ::waitpid(process_, nullptr, 0);
}

Program Peer::program() {
  return {.name = name_, .run = [this] { go(); }, .in_process = false};
}

void Peer::go() {
  if (::write(to_, "go\n", 3) != 3 || read_line() != "done") {
    throw std::runtime_error(name_ + " failed");
  }
}

std::string Peer::read_line() {
  std::string line;
  for (char c; ::read(from_, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

}  // namespace andiron::bench
