// SPDX-License-Identifier: MIT OR Apache-2.0
// Files as byte sources and sinks: how files are read and replaced.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "andiron/byte_source.h"
#include "andiron/sink.h"

namespace andiron::inline v1 {

namespace detail {
class FileDraft;
}

/// How a file is read.
enum class IoMode : std::uint8_t {
  automatic,  ///< positional reads for copies, a mapping for zero-copy views
  mmap,       ///< the same as automatic
  pread,      ///< only positional reads; view() fails with Unsupported, and borrow() copies
  direct,     ///< positional reads that bypass the page cache if the file system allows it
};

/// Opens a regular file for reading. The descriptor and the mapping live as long as the source or
/// any view of it. Fails with NotFound, Io, or Unsupported for folders, pipes and devices.
///
/// WARNING: do not truncate a file that is open. Later calls of read_at() fail with Truncated, and
/// of view() with FileChanged, but touching memory that view() returned before raises SIGBUS. Saves
/// of this library never truncate a file; they replace it.
Result<ByteSourcePtr> open_file(const std::string& path, IoMode mode = IoMode::automatic);

/// Returns the files of a folder. Opens and lists nothing before it is needed.
FileSetPtr folder_files(std::string path, IoMode mode = IoMode::automatic);

/// How a file is replaced.
struct AtomicFileOptions {
  bool overwrite = false;  ///< replace an existing target; otherwise fail with AlreadyExists
  bool sync = true;        ///< survive a power cut: fsync of the file and its folder
};

/// A file that appears whole or not at all. Bytes go to a nameless file in the target's folder (a
/// temporary one if the file system has no nameless files). commit() gives it the target's name.
/// Without commit(), nothing is left behind, and an old target keeps its content.
///
/// Follows a symlink: its target is replaced or created. Without `overwrite`, any symlink fails
/// with AlreadyExists. Links of other users in a folder that everybody can write to are refused.
/// Keeps owner, group, permissions and extended attributes of a replaced file as far as the process
/// may; notes() tells what it may not. A file that would pass RLIMIT_FSIZE fails with Io. Temporary
/// files that killed processes left beside the target are removed. Used by one thread at a time.
class AtomicFile : public Sink {
 public:
  /// Prepares to write `path`. Fails with AlreadyExists, NotFound if there is no such folder,
  /// Unsupported if the target is not a regular file, and Io.
  static Result<std::unique_ptr<AtomicFile>> create(const std::string& path,
                                                    AtomicFileOptions options = {});
  ~AtomicFile() override;

  Status reserve(std::uint64_t total) override;
  Status write(std::span<const std::byte> data) override;
  /// Appends a range of `source`. If the system can, copies without passing through user memory,
  /// and shares blocks on file systems with reflinks.
  Status copy_from(const ByteSource& source, std::uint64_t offset, std::uint64_t count);
  /// Makes the file visible. Call it at most once; nothing can be written afterwards.
  Status commit();
  /// What could not be kept of the replaced file: "could not keep the old file's owner".
  const std::vector<Message>& notes() const& noexcept;

 private:
  explicit AtomicFile(std::unique_ptr<detail::FileDraft> draft);
  std::unique_ptr<detail::FileDraft> draft_;
};

}  // namespace andiron::inline v1
