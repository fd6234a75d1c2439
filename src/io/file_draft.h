// SPDX-License-Identifier: MIT OR Apache-2.0
// A file that is being written beside its target, until one rename gives it the target's name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "src/io/system_calls.h"
#include "src/io/write_target.h"

namespace andiron::inline v1::detail {

Error already_exists(const std::string& path);

struct FileDraftOptions {
  bool overwrite = false;  // replace an existing target; otherwise fail with AlreadyExists
  bool sync = true;        // survive a power cut
  // Gives the draft a temporary name of this number, or the next free one, from the beginning.
  std::optional<unsigned> first_number = {};
  // commit() leaves what it replaced under the temporary name, as long as this exists.
  bool keep_replaced = false;
  // The file whose owner, group, permissions and access list a new file gets; empty for none.
  std::string like = {};
};

class FileDraft {
 public:
  // Also removes what killed processes left of earlier drafts, unless `first_number` is given:
  // then the temporary files mean something to the caller.
  static Result<std::unique_ptr<FileDraft>> create(const std::string& path,
                                                   FileDraftOptions options);
  FileDraft(const FileDraft&) = delete;
  FileDraft& operator=(const FileDraft&) = delete;
  ~FileDraft();

  // After a failed write or copy, all calls fail.
  Status reserve(std::uint64_t total);
  Status write(std::span<const std::byte> data);
  // The same at any place. What write() appends then follows the last one in the file.
  Status write_at(std::uint64_t offset, std::span<const std::byte> data);
  Status copy_from(const ByteSource& source, std::uint64_t offset, std::uint64_t count);
  // Everything written so far survives a power cut, and so does the temporary name.
  Status flush();
  // Gives the file its name. Nothing can be written afterwards.
  Status commit();

  // Removes the temporary name, as the end of the draft does. False if it stays.
  bool remove_temporary() noexcept;
  // Leaves the temporary name behind, as a killed process would, for the next save to tidy up.
  void leave_temporary() noexcept { leaves_temporary_ = true; }

  // Whether the target's name refers to this file. True also if commit() failed afterwards, because
  // the folder could not be flushed.
  bool is_published() const noexcept { return is_published_; }
  std::uint64_t written() const noexcept { return written_; }
  // Of the temporary name. REQUIRES: first_number was given.
  unsigned number() const noexcept { return number_; }
  // The file that commit() replaced, still open. Empty if there was none.
  const Descriptor& replaced() const noexcept { return replaced_; }
  // What could not be kept of the old file, as notes for the user.
  const std::vector<Message>& notes() const noexcept { return notes_; }

 private:
  FileDraft() = default;

  Status ready() const;
  template <class Step>
  Status run(Step step);
  Status open();
  Status open_named(mode_t mode);
  Status take_old_attributes();
  Status put(std::uint64_t offset, std::span<const std::byte> data);
  void advance(std::uint64_t count);
  Status check_size_limit(std::uint64_t end) const;

  Status copy(const ByteSource& source, std::uint64_t offset, std::uint64_t count);
  std::uint64_t copy_in_kernel(int source, std::uint64_t offset, std::uint64_t count);
  std::uint64_t copy_range(int source, std::uint64_t offset, std::uint64_t count);

  Status finish();
  Status flush_content();
  int flush_folder() const;
  Status publish();
  int replace_and_keep();
  int link_as(const char* name) const;
  int rename_without_replacing() const;
  template <class Make>
  int with_fresh_name(Make make);

  Error write_error(std::string_view action, int error_number, std::uint64_t needed) const;

  std::string path_;  // as the caller gave it, for messages
  FileDraftOptions options_;
  Target target_;
  Descriptor file_;
  std::string temporary_;  // its name in the target's folder; empty while it has none
  unsigned number_ = 0;    // in `temporary_`
  std::uint64_t written_ = 0;
  std::uint64_t size_limit_ = 0;  // of this process; asked once, not for each small write
  std::uint64_t writeback_ = 0;   // on its way to disk up to here
  bool is_reserved_ = false;
  bool is_published_ = false;
  bool is_committed_ = false;
  bool leaves_temporary_ = false;
  Descriptor replaced_;
  bool is_broken_ = false;        // a step failed: whatever came after it would leave a gap
  std::optional<Error> failure_;  // of that step, unless it threw
  std::vector<Message> notes_;
};

}  // namespace andiron::inline v1::detail
