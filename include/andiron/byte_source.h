// SPDX-License-Identifier: MIT OR Apache-2.0
// Where bytes come from: a file (ByteSource), and files that belong together, such as shards and
// their index (FileSet). Implement these to read weights over HTTP, from an archive or in a
// browser. Exceptions that they throw pass through: a load then changed nothing, a save kept the
// old file.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "andiron/bytes.h"
#include "andiron/detail/no_throw.h"
#include "andiron/error.h"

namespace andiron::inline v1 {

class ByteSource;

/// Data that is decompressed as a whole, whatever part of it is read, such as a record of a zip
/// archive.
struct CompressedData {
  const ByteSource* source = nullptr;  ///< that has it; null where there is none
  std::uint64_t memory = 0;            ///< that it takes while parts of it are read
  std::uint64_t most_memory = 0;       ///< for all of a file that is read at the same time
};

/// A fixed sequence of bytes that can be read at any offset. All calls are const and must be safe
/// from several threads at once.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Total number of bytes.
  virtual std::uint64_t size() const noexcept = 0;
  /// For messages: a path, or "memory".
  virtual const std::string& name() const noexcept = 0;

  /// Fills all of `out` from `offset`, or fails; never reads less. Fails with Truncated if the
  /// range passes the end.
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;

  /// Returns the range without a copy. The returned Bytes keep it alive. Fails with Unsupported if
  /// the source cannot lend its memory; then use read_at().
  Result<Bytes> view(std::uint64_t offset, std::uint64_t count) const;

  /// True if view() can succeed.
  virtual bool can_view() const noexcept { return false; }
  /// True if the bytes are permanently in memory. Then callers work on views instead of copies.
  virtual bool in_memory() const noexcept { return false; }
  /// The descriptor of an open file with these bytes, so that the system can copy them directly; -1
  /// if there is none.
  virtual int file_descriptor() const noexcept { return -1; }
  /// The compressed data that these bytes are, or are made from. Who reads a lot takes what is in
  /// one together.
  virtual CompressedData compressed_data() const noexcept { return {}; }

 protected:
  ByteSource() = default;
  /// Called with a range within size().
  virtual Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const = 0;
  /// Called with a range within size(). Defined here, so that programs with RTTI can derive from
  /// this class if the library was built without.
  virtual Result<Bytes> do_view(std::uint64_t, std::uint64_t) const ANDIRON_NO_THROW {
    return Error{.code = ErrorCode::unsupported,
                 .message = "this source cannot lend its memory",
                 .file = name(),
                 .hint = "read it instead"};
  }
  ANDIRON_OR_OUT_OF_MEMORY

 private:
  Status check_range(std::uint64_t offset, std::uint64_t count) const;
};

using ByteSourcePtr = std::shared_ptr<const ByteSource>;

/// Returns a source over bytes in memory. Copies nothing.
ByteSourcePtr memory_source(Bytes bytes, std::string name = "memory");

/// A set of named files. All calls are const and must be safe from several threads at once.
class FileSet {
 public:
  virtual ~FileSet() = default;
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  /// For messages: a folder's path, or "memory".
  virtual std::string name() const = 0;
  /// Opens a file of the set. The source may outlive the set. Names that come from an index were
  /// checked: they are relative, use '/' and contain no "..". Fails with NotFound if there is no
  /// such file.
  virtual Result<ByteSourcePtr> open(const std::string& name) const = 0;
  /// Returns the names of all files, without those in subfolders, sorted bytewise. Fails with
  /// Unsupported if they cannot be listed; then the caller must name the file to open.
  virtual Result<std::vector<std::string>> names() const;

 protected:
  FileSet() = default;
};

using FileSetPtr = std::shared_ptr<const FileSet>;

/// Returns a set of files in memory.
FileSetPtr memory_files(std::map<std::string, Bytes> files, std::string name = "memory");

}  // namespace andiron::inline v1
