// SPDX-License-Identifier: MIT OR Apache-2.0
// How many threads a forward pass uses.
#pragma once

namespace andiron::inline v1 {
namespace nn {

/// Sets how many threads a forward pass may use, for the whole process; 0 means one for each core
/// that the process may use (or OMP_NUM_THREADS), which is the default. Safe from several threads
/// at once. More than 1024 count as 1024. Of the rest of the library, only statistics() and
/// compare() start threads, as their options say.
void set_threads(unsigned count) noexcept;
/// The number in use: at least 1. It is 1 without OpenMP and within a parallel region of the
/// caller, and not more than OMP_THREAD_LIMIT allows (1 if OMP_MAX_ACTIVE_LEVELS is 0).
unsigned threads() noexcept;
/// "oneDNN 2.6.3", or "plain loops" where the library was built without oneDNN.
const char* backend() noexcept;

}  // namespace nn
}  // namespace andiron::inline v1
