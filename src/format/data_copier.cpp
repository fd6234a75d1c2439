// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/write_test.cpp
#include "src/format/data_copier.h"

#include "src/core/tensor_windows.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {

Status DataCopier::copy(const TensorSnapshot& snapshot, std::uint64_t planned) {
  if (options_.dry_run) return {};
  std::uint64_t copied = 0;
  const auto take = [&](std::span<const std::byte> part) -> Status {
    copied += part.size();
    ANDIRON_TRY(sink_.write(part));
    return advance(part.size());
  };
  ANDIRON_TRY(for_each_window(snapshot, options_.limits.window_bytes, window_, take));
  if (copied == planned) return {};
  return Error{.code = ErrorCode::size_mismatch,
               .message = "the tensor's data does not have the announced size",
               .tensor = snapshot.full_path(),
               .found = std::to_string(copied) + " bytes",
               .expected = std::to_string(planned)};
}

Status DataCopier::advance(std::uint64_t bytes) {
  done_ += bytes;
  if (!options_.progress || options_.progress(done_, total_)) return {};
  return Error{.code = ErrorCode::cancelled, .message = "the write was cancelled"};
}

}  // namespace andiron::inline v1::detail
