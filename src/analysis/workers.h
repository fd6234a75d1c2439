// SPDX-License-Identifier: MIT OR Apache-2.0
// Spreads tasks over threads. No other file of the room starts any. Where there are none
// (ANDIRON_NO_THREADS), all tasks run on the calling thread.
#pragma once

#include <cstddef>
#include <functional>

#include "andiron/error.h"

namespace andiron::inline v1::detail {

// How many threads a caller gets that asks for `wanted`, where 0 means one for each processor, at
// most 8.
unsigned usable_threads(unsigned wanted) noexcept;

// `worker` is less than the number of threads. Worker 0 is the calling thread; a worker runs one
// task at a time.
using Task = std::function<Status(std::size_t task, unsigned worker)>;

// Runs task(0) to task(count - 1), each once, begun in this order. If tasks fail, no later ones are
// begun, and the error is that of the first of them in this order, which one thread alone would
// have met. The same holds for exceptions of a task, which pass through; std::bad_alloc becomes
// OutOfMemory.
Status run_tasks(std::size_t count, unsigned threads, const Task& task);

}  // namespace andiron::inline v1::detail
