// SPDX-License-Identifier: MIT OR Apache-2.0
// Progress of long work.
#pragma once

#include <cstdint>
#include <functional>

namespace andiron::inline v1 {

/// Called on the calling thread, after each window of tensor data, with bytes done and bytes in
/// all; not at all when there are none. Return false to cancel: the operation then ends with
/// Cancelled and leaves nothing behind.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

}  // namespace andiron::inline v1
