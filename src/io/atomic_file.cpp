// SPDX-License-Identifier: MIT OR Apache-2.0
// The public face of FileDraft.
#include "andiron/file.h"
#include "src/core/try.h"
#include "src/io/file_draft.h"

namespace andiron::inline v1 {

AtomicFile::AtomicFile(std::unique_ptr<detail::FileDraft> draft) : draft_(std::move(draft)) {}
AtomicFile::~AtomicFile() = default;

Result<std::unique_ptr<AtomicFile>> AtomicFile::create(const std::string& path,
                                                       AtomicFileOptions options) ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(
      std::unique_ptr<detail::FileDraft> draft,
      detail::FileDraft::create(path, {.overwrite = options.overwrite, .sync = options.sync}));
  return std::unique_ptr<AtomicFile>(new AtomicFile(std::move(draft)));
}
ANDIRON_OR_OUT_OF_MEMORY

Status AtomicFile::reserve(std::uint64_t total) ANDIRON_NO_THROW { return draft_->reserve(total); }
ANDIRON_OR_OUT_OF_MEMORY

Status AtomicFile::write(std::span<const std::byte> data) ANDIRON_NO_THROW {
  return draft_->write(data);
}
ANDIRON_OR_OUT_OF_MEMORY

Status AtomicFile::copy_from(const ByteSource& source, std::uint64_t offset, std::uint64_t count)
    ANDIRON_NO_THROW {
  return draft_->copy_from(source, offset, count);
}
ANDIRON_OR_OUT_OF_MEMORY

Status AtomicFile::commit() ANDIRON_NO_THROW { return draft_->commit(); }
ANDIRON_OR_OUT_OF_MEMORY

const std::vector<Message>& AtomicFile::notes() const& noexcept { return draft_->notes(); }

}  // namespace andiron::inline v1
