// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/safetensors_writer_test.cpp
#include "src/format/copy_data.h"

#include <algorithm>

#include "src/core/try.h"
#include "src/core/windows.h"

namespace andiron {
inline namespace v1 {
namespace detail {

Status DataCopier::advance(std::uint64_t bytes) {
  done_ += bytes;
  if (!options_.progress || options_.progress(done_, total_)) return {};
  return Error{.code = ErrorCode::cancelled, .message = "the write was cancelled"};
}

Status DataCopier::copy(const TensorSnapshot& snapshot) {
  return for_each_window(snapshot, options_.limits.window_bytes, window_,
                         [&](std::span<const std::byte> part) -> Status {
                           ANDIRON_TRY(sink_.write(part));
                           return advance(part.size());
                         });
}

}  // namespace detail
}  // namespace v1
}  // namespace andiron
