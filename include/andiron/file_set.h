// SPDX-License-Identifier: MIT OR Apache-2.0
// Files that belong together: a model's shards, their index, the parts of a distributed checkpoint.
// Implement it to open a model that lies behind HTTP, in an archive or in a browser.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/error.h"

namespace andiron::inline v1 {

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
