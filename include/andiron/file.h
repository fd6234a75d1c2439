// SPDX-License-Identifier: MIT OR Apache-2.0
// Files as byte sources and sinks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "andiron/byte_source.h"
#include "andiron/sink.h"

namespace andiron::inline v1 {

/// How a file is read.
enum class IoMode : std::uint8_t {
  automatic,  ///< positional reads for copies, a mapping for zero-copy views
  mmap,       ///< gathers and casts straight out of a mapping; see the warning at open_file
  pread,      ///< positional reads alone; view() is refused, and borrow() copies
  direct,     ///< positional reads past the page cache, where the file system allows it
};

/// Opens a regular file for reading. The descriptor and the mapping live as long as the source or
/// any view of it. A file that is cut short under us gives Truncated from read_at, and FileChanged
/// from view(), which asks for the size each time. What was lent by view() before the cut is beyond
/// help: the system raises SIGBUS when it is touched, so do not truncate files that are mapped (our
/// own saves never do). Errors: NotFound, Io; Unsupported for folders, pipes and devices.
Result<ByteSourcePtr> open_file(const std::string& path, IoMode mode = IoMode::automatic);

/// The files of a folder. Nothing is opened or listed before it is asked for.
FileSetPtr folder_files(std::string path, IoMode mode = IoMode::automatic);

/// How a file is replaced.
struct AtomicFileOptions {
  bool overwrite = false;  ///< replace an existing target; otherwise AlreadyExists
  bool sync = true;        ///< survive a power cut: fsync of the file and its folder
};

/// A file that appears whole or not at all. Bytes go to a nameless (or, where the file system has
/// none, a temporary) file beside the target; commit() gives it the target's name. Without commit()
/// nothing is left behind and an old target keeps its content. A symlink is followed: its target is
/// replaced, or made where there is none; without overwrite, any symlink is AlreadyExists. The mode
/// bits of a replaced file are kept.
class AtomicFile : public Sink {
 public:
  static Result<std::unique_ptr<AtomicFile>> create(const std::string& path,
                                                    AtomicFileOptions options = {});
  ~AtomicFile() override;

  Status reserve(std::uint64_t total) override;
  Status write(std::span<const std::byte> data) override;
  /// Copies a range of `source` without passing it through user memory where the system can,
  /// sharing blocks on file systems with reflinks.
  Status copy_from(const ByteSource& source, std::uint64_t offset, std::uint64_t count);
  /// Makes the file visible. At most once; nothing may be written afterwards.
  Status commit();

 private:
  struct State;
  explicit AtomicFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace andiron::inline v1
