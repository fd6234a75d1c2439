// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies tensor data into a sink; used by all writers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "andiron/archive.h"
#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/sink.h"
#include "andiron/snapshot.h"
#include "andiron/write.h"
#include "src/format/output_file.h"

namespace andiron::inline v1::detail {

// A tensor as it stands in the file: what comes before its data, and how long that is.
struct FilePart {
  std::span<const std::byte> lead;
  std::size_t tensor = 0;
  std::uint64_t bytes = 0;
};

// Copies tensor data into a sink, through one window of memory.
class DataCopier {
 public:
  // `total` is what progress is measured against.
  DataCopier(Sink& sink, const WriteOptions& options, std::uint64_t total)
      : sink_(sink), options_(options), total_(total) {}

  // Copies a tensor. Fails with SizeMismatch if it does not have the `planned` bytes of the header.
  Status copy(const TensorSnapshot& snapshot, std::uint64_t planned);

  // Writes the next parts of a file. If tensors of several compressed records take turns, and the
  // sink is this file, those of one record are read together, and all are put where they belong.
  using SnapshotOf = std::function<Result<TensorSnapshot>(std::size_t tensor)>;
  Status copy_parts(const Archive& archive, std::span<const FilePart> parts,
                    const SnapshotOf& snapshot_of, OutputFile* file);

 private:
  // Calls put(begin, bytes) for each window.
  template <class Put>
  Status copy_windows(const TensorSnapshot& snapshot, std::uint64_t planned, Put put);
  Status copy_to_places(std::span<const FilePart> parts, std::span<const std::size_t> order,
                        const SnapshotOf& snapshot_of, OutputFile& file);
  Status advance(std::uint64_t bytes);

  Sink& sink_;
  const WriteOptions& options_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  Bytes window_;
};

}  // namespace andiron::inline v1::detail
