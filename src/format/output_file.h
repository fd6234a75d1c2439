// SPDX-License-Identifier: MIT OR Apache-2.0
// A file that is being written, or that a dry run would write.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "andiron/error.h"
#include "andiron/sink.h"
#include "src/io/file_draft.h"

namespace andiron::inline v1::detail {

class OutputFile : public Sink {
 public:
  // Fails with AlreadyExists if the file may not be replaced.
  static Result<std::unique_ptr<OutputFile>> create(const std::string& path,
                                                    const FileDraftOptions& options, bool dry_run);

  Status reserve(std::uint64_t total) override;
  Status write(std::span<const std::byte> data) override;
  // Writes at any place. What write() appends then follows the last one in the file.
  Status write_at(std::uint64_t offset, std::span<const std::byte> data);
  // Up to the end of the last place. REQUIRES: no dry run.
  std::uint64_t written() const noexcept { return draft_->written(); }
  // Gives the file its name.
  Status commit();
  bool is_published() const noexcept { return draft_ && draft_->is_published(); }
  std::vector<Message> notes() const;

 private:
  explicit OutputFile(std::unique_ptr<FileDraft> draft) : draft_(std::move(draft)) {}

  std::unique_ptr<FileDraft> draft_;  // none in a dry run
};

}  // namespace andiron::inline v1::detail
