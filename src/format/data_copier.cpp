// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/data_copier_test.cpp and tests/format/write_test.cpp
#include "src/format/data_copier.h"

#include <algorithm>
#include <vector>

#include "src/core/reading_order.h"
#include "src/core/tensor_windows.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {

template <class Put>
Status DataCopier::copy_windows(const TensorSnapshot& snapshot, std::uint64_t planned, Put put) {
  if (snapshot.byte_size() != planned) {
    return Error{.code = ErrorCode::size_mismatch,
                 .message = "the tensor's data does not have the announced size",
                 .tensor = snapshot.full_path(),
                 .found = std::to_string(snapshot.byte_size()) + " bytes",
                 .expected = std::to_string(planned)};
  }
  std::uint64_t copied = 0;
  return for_each_window(snapshot, options_.limits.window_bytes, window_,
                         [&](std::span<const std::byte> window) -> Status {
                           ANDIRON_TRY(put(copied, window));
                           copied += window.size();
                           return advance(window.size());
                         });
}

Status DataCopier::copy(const TensorSnapshot& snapshot, std::uint64_t planned) {
  if (options_.dry_run) return {};
  return copy_windows(snapshot, planned, [&](std::uint64_t, std::span<const std::byte> window) {
    return sink_.write(window);
  });
}

Status DataCopier::copy_parts(const Archive& archive, std::span<const FilePart> parts,
                              const SnapshotOf& snapshot_of, OutputFile* file) {
  if (file != nullptr && !options_.dry_run) {
    std::vector<CompressedInputs> inputs;
    inputs.reserve(parts.size());
    for (const FilePart& part : parts) {
      inputs.push_back({compressed_data_of(archive, part.tensor)});
    }
    const std::vector<std::size_t> order = reading_order(inputs);
    if (!std::is_sorted(order.begin(), order.end())) {
      return copy_to_places(parts, order, snapshot_of, *file);
    }
  }
  for (const FilePart& part : parts) {
    if (!part.lead.empty()) ANDIRON_TRY(sink_.write(part.lead));
    ANDIRON_ASSIGN(const TensorSnapshot snapshot, snapshot_of(part.tensor));
    ANDIRON_TRY(copy(snapshot, part.bytes));
  }
  return {};
}

Status DataCopier::copy_to_places(std::span<const FilePart> parts,
                                  std::span<const std::size_t> order, const SnapshotOf& snapshot_of,
                                  OutputFile& file) {
  std::vector<std::uint64_t> begins;
  begins.reserve(parts.size());
  std::uint64_t end = file.written();
  for (const FilePart& part : parts) {
    begins.push_back(end);
    end += part.lead.size() + part.bytes;
  }
  for (const std::size_t i : order) {
    const FilePart& part = parts[i];
    ANDIRON_TRY(file.write_at(begins[i], part.lead));
    const std::uint64_t data = begins[i] + part.lead.size();
    ANDIRON_ASSIGN(const TensorSnapshot snapshot, snapshot_of(part.tensor));
    ANDIRON_TRY(copy_windows(snapshot, part.bytes,
                             [&](std::uint64_t at, std::span<const std::byte> window) {
                               return file.write_at(data + at, window);
                             }));
  }
  return {};
}

Status DataCopier::advance(std::uint64_t bytes) {
  done_ += bytes;
  if (!options_.progress || options_.progress(done_, total_)) return {};
  return Error{.code = ErrorCode::cancelled, .message = "the write was cancelled"};
}

}  // namespace andiron::inline v1::detail
