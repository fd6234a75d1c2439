// SPDX-License-Identifier: MIT OR Apache-2.0
// Ctrl-C and its kind while a file is written.
#pragma once

#include <signal.h>

#include <array>

namespace andiron::cli {

/// While this exists, a signal that would end the tool is noted instead, so that a write can stop
/// and remove its temporary files. The signal takes effect in the destructor; a second one at once.
/// Only one at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool is_requested() const noexcept;

 private:
  static constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> old_{};
};

}  // namespace andiron::cli
