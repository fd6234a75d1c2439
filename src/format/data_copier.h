// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies tensor data into a sink; used by all writers.
#pragma once

#include <cstdint>

#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/sink.h"
#include "andiron/snapshot.h"
#include "andiron/write.h"

namespace andiron::inline v1::detail {

// Copies tensor data into a sink, through one window of memory.
class DataCopier {
 public:
  // `total` is what progress is measured against.
  DataCopier(Sink& sink, const WriteOptions& options, std::uint64_t total)
      : sink_(sink), options_(options), total_(total) {}

  // Copies a tensor. Fails with SizeMismatch if it does not have the `planned` bytes of the header.
  Status copy(const TensorSnapshot& snapshot, std::uint64_t planned);

 private:
  Status advance(std::uint64_t bytes);

  Sink& sink_;
  const WriteOptions& options_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  Bytes window_;
};

}  // namespace andiron::inline v1::detail
