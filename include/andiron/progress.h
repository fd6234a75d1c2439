// SPDX-License-Identifier: MIT OR Apache-2.0
// Progress and cancellation of long operations.
#pragma once

#include <cstdint>
#include <functional>

namespace andiron::inline v1 {

/// Called with the bytes done and the total, on the calling thread, after each window of tensor
/// data. Not called if there is no data. Return false to cancel: the operation fails with Cancelled
/// and leaves nothing behind, except that a load in_place keeps the tensors it has replaced. The
/// same holds if it throws; the exception passes through.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

}  // namespace andiron::inline v1
