// SPDX-License-Identifier: MIT OR Apache-2.0
// Where bytes come from: one file, and files that belong together (shards and their index).
// Implement these to read weights from HTTP, an archive or a browser.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "andiron/bytes.h"
#include "andiron/error.h"

namespace andiron::inline v1 {

/// A fixed run of bytes that can be read at any position. All calls are const and safe from several
/// threads at once.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  virtual std::uint64_t size() const noexcept = 0;
  /// For messages: a path, or "memory".
  virtual const std::string& name() const noexcept = 0;

  /// Fills `out` from `offset`, wholly or with an error; never short. Truncated when the range
  /// passes the end.
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;

  /// The range without a copy, alive as long as the returned Bytes. Unsupported where the source
  /// cannot lend its memory; callers then use read_at.
  Result<Bytes> view(std::uint64_t offset, std::uint64_t count) const;

  /// Whether view() can succeed.
  virtual bool can_view() const noexcept { return false; }
  /// Whether the bytes lie in memory for good, so that work is done on views rather than on copies.
  virtual bool in_memory() const noexcept { return false; }
  /// The system's descriptor of an open file with these bytes, so that copies can stay within the
  /// system; -1 where there is none.
  virtual int file_descriptor() const noexcept { return -1; }

 protected:
  ByteSource() = default;
  /// The range lies within size().
  virtual Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const = 0;
  /// Defined here so that programs with RTTI can derive from it when the library was built without.
  virtual Result<Bytes> do_view(std::uint64_t, std::uint64_t) const {
    return Error{.code = ErrorCode::unsupported,
                 .message = "this source cannot lend its memory",
                 .file = name(),
                 .hint = "read it instead"};
  }

 private:
  Status check_range(std::uint64_t offset, std::uint64_t count) const;
};

using ByteSourcePtr = std::shared_ptr<const ByteSource>;

/// Bytes in memory as a source: owned or static, as the Bytes are.
ByteSourcePtr memory_source(Bytes bytes, std::string name = "memory");

/// Named files. All calls are const and safe from several threads at once.
class FileSet {
 public:
  virtual ~FileSet() = default;
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  /// For messages: a folder's path, or "memory".
  virtual std::string name() const = 0;
  /// A file of the set; it may outlive the set. Names that come from a file have been checked: they
  /// are relative, with '/' between their parts and no "..". NotFound when there is none.
  virtual Result<ByteSourcePtr> open(const std::string& name) const = 0;
  /// The names of all files, without those in folders below, sorted by their bytes. Unsupported
  /// where they cannot be listed: then the file to open must be named.
  virtual Result<std::vector<std::string>> names() const;

 protected:
  FileSet() = default;
};

using FileSetPtr = std::shared_ptr<const FileSet>;

/// Files in memory.
FileSetPtr memory_files(std::map<std::string, Bytes> files, std::string name = "memory");

}  // namespace andiron::inline v1
