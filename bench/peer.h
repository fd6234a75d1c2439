// SPDX-License-Identifier: MIT OR Apache-2.0
// Programs of other projects: each runs in a process of its own that stays alive, and is told over
// a pipe when to work, so that its start is not timed.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "bench/harness.h"

namespace andiron::bench {

class Peer {
 public:
  // Starts python's safetensors on one of the jobs of peer.py. nullptr, with a word to the harness,
  // where it is not installed.
  static std::shared_ptr<Peer> start(Harness& harness, const std::string& job,
                                     const std::string& path);
  // The same with torch.
  static std::shared_ptr<Peer> start_torch(Harness& harness, const std::string& job,
                                           const std::string& path);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  Program program();

 private:
  // A package of Python's, which lies in an environment of its own.
  struct Package {
    std::string name;
    std::string environment;
    std::string script;  // that installs it
  };
  static std::shared_ptr<Peer> start(Harness& harness, const Package& package,
                                     const std::string& job, const std::string& path);

  Peer(pid_t process, int to, int from) : process_(process), to_(to), from_(from) {}
  void go();
  std::string read_line();

  pid_t process_;
  int to_;
  int from_;
  std::string name_;
};

}  // namespace andiron::bench
