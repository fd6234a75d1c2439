// SPDX-License-Identifier: MIT OR Apache-2.0
// Collects the tensors of a record for an archive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "andiron/archive.h"
#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/open.h"
#include "andiron/param_id.h"
#include "andiron/shape.h"
#include "andiron/value.h"
#include "src/core/archive_builder.h"
#include "src/format/header_diagnostics.h"
#include "src/format/record/dtype.h"

namespace andiron::inline v1::detail {

struct RecordTensor {
  RecordDType dtype;
  Shape shape;
  // A run of the source that the record is read from, or elements in memory.
  std::uint64_t offset = 0;
  std::uint64_t byte_size = 0;
  std::optional<Bytes> elements = {};
};

class RecordTensors {
 public:
  // `file` is what the archive is opened from, `source` what its bytes are: the same, or what a
  // compressed file inflates to.
  RecordTensors(const ByteSourcePtr& file, ByteSourcePtr source, const OpenOptions& options,
                std::string packaging);

  Result<TensorIndex> add(std::string_view name, RecordTensor tensor, std::optional<ParamId> id);
  std::size_t size() const noexcept { return archive_ ? archive_->size() : builder_.size(); }
  // DuplicateKey when two tensors have one name.
  Result<Archive> finish();

 private:
  Status check(std::string_view name, const RecordTensor& tensor);
  // A tensor that is no run of the file takes a snapshot, and so do those after it.
  Status leave_runs();
  Status check_names();

  std::string file_;
  ByteSourcePtr source_;
  const OpenOptions& options_;
  ArchiveBuilder builder_;          // while all tensors are runs of the file
  std::optional<Archive> archive_;  // afterwards
  Oddity unknown_dtypes_;
};

}  // namespace andiron::inline v1::detail
