// SPDX-License-Identifier: MIT OR Apache-2.0
// How verbs that read all data share the work and the memory.
#include "cli/workforce.h"

#include <algorithm>

namespace andiron::cli {

Workforce workforce(const ReadingOptions& options, std::uint64_t least_window) {
  Workforce force = {options.threads, Limits().window_bytes};
  if (options.max_memory) {
    const std::uint64_t windows = *options.max_memory / window_share;
    const std::uint64_t most = std::max<std::uint64_t>(1, windows / least_window);
    force.threads = static_cast<unsigned>(std::min<std::uint64_t>(force.threads, most));
    force.window = std::min(force.window, windows / force.threads);
  }
  return force;
}

}  // namespace andiron::cli
