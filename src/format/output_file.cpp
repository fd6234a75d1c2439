// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/write_test.cpp
#include "src/format/output_file.h"

#include "src/core/try.h"
#include "src/io/write_target.h"

namespace andiron::inline v1::detail {

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path,
                                                       const FileDraftOptions& options,
                                                       bool dry_run) {
  std::unique_ptr<FileDraft> draft;
  if (!dry_run) {
    ANDIRON_ASSIGN(draft, FileDraft::create(path, options));
  } else {
    ANDIRON_ASSIGN(const Target target, find_target(path));
    if (!options.overwrite && target.is_taken()) return already_exists(path);
  }
  return std::unique_ptr<OutputFile>(new OutputFile(std::move(draft)));
}

Status OutputFile::reserve(std::uint64_t total) {
  return draft_ ? draft_->reserve(total) : Status();
}

Status OutputFile::write(std::span<const std::byte> data) {
  return draft_ ? draft_->write(data) : Status();
}

Status OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> data) {
  return draft_ ? draft_->write_at(offset, data) : Status();
}

Status OutputFile::commit() { return draft_ ? draft_->commit() : Status(); }

std::vector<Message> OutputFile::notes() const {
  return draft_ ? draft_->notes() : std::vector<Message>();
}

}  // namespace andiron::inline v1::detail
