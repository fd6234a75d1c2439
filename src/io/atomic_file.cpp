// SPDX-License-Identifier: MIT OR Apache-2.0
// The public face of FileDraft.
#include "andiron/file.h"
#include "src/core/try.h"
#include "src/io/file_draft.h"

namespace andiron::inline v1 {

AtomicFile::AtomicFile(std::unique_ptr<detail::FileDraft> draft) : draft_(std::move(draft)) {}
AtomicFile::~AtomicFile() = default;

Result<std::unique_ptr<AtomicFile>> AtomicFile::create(const std::string& path,
                                                       AtomicFileOptions options) {
  ANDIRON_ASSIGN(
      std::unique_ptr<detail::FileDraft> draft,
      detail::FileDraft::create(path, {.overwrite = options.overwrite, .sync = options.sync}));
  return std::unique_ptr<AtomicFile>(new AtomicFile(std::move(draft)));
}

Status AtomicFile::reserve(std::uint64_t total) { return draft_->reserve(total); }
Status AtomicFile::write(std::span<const std::byte> data) { return draft_->write(data); }
Status AtomicFile::copy_from(const ByteSource& source, std::uint64_t offset, std::uint64_t count) {
  return draft_->copy_from(source, offset, count);
}
Status AtomicFile::commit() { return draft_->commit(); }
const std::vector<std::string>& AtomicFile::notes() const& noexcept { return draft_->notes(); }

}  // namespace andiron::inline v1
