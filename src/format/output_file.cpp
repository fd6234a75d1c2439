// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/write_test.cpp
#include "src/format/output_file.h"

#include "src/core/try.h"
#include "src/io/write_target.h"

namespace andiron::inline v1::detail {

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path,
                                                       const WriteOptions& options) {
  std::unique_ptr<AtomicFile> file;
  if (!options.dry_run) {
    ANDIRON_ASSIGN(file, AtomicFile::create(path, {options.overwrite, options.sync}));
  } else {
    ANDIRON_ASSIGN(const Target target, find_target(path));
    if (!options.overwrite && target.is_taken()) {
      return Error{.code = ErrorCode::already_exists,
                   .message = "the file exists",
                   .file = path,
                   .hint = "pass .overwrite(true) to replace it, or choose another name"};
    }
  }
  return std::unique_ptr<OutputFile>(new OutputFile(std::move(file)));
}

Status OutputFile::reserve(std::uint64_t total) { return file_ ? file_->reserve(total) : Status(); }

Status OutputFile::write(std::span<const std::byte> data) {
  return file_ ? file_->write(data) : Status();
}

Status OutputFile::commit() { return file_ ? file_->commit() : Status(); }

}  // namespace andiron::inline v1::detail
