// SPDX-License-Identifier: MIT OR Apache-2.0
// How verbs that read all data share the work and the memory.
#pragma once

#include <cstdint>

#include "cli/options.h"

namespace andiron::cli {

/// Threads, and the memory that each may use for tensor data.
struct Workforce {
  unsigned threads = 1;
  std::uint64_t window = 0;
};

/// What part of --max-memory windows may take: inflated records need the rest.
inline constexpr std::uint64_t window_share = 4;

/// What --threads and --max-memory allow: so many threads that each has `least_window`, below which
/// a window costs more in calls than it saves in memory.
Workforce workforce(const ReadingOptions& options, std::uint64_t least_window = 64 * 1024);

}  // namespace andiron::cli
