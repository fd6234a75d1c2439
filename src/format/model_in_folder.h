// SPDX-License-Identifier: MIT OR Apache-2.0
// Which file of a folder is the model, and which folder a path leads to.
#pragma once

#include <string>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "andiron/file.h"

namespace andiron::inline v1::detail {

// The name of the one model: a shard index before a single file, the usual names before others, a
// pickle only where there is nothing else. NotAWeightFile when there is none, or more than one.
Result<std::string> model_in(const FileSet& files);

// A file in its folder, or a folder with the empty name. The system's reason for a path that names
// nothing.
struct PathInFolder {
  FileSetPtr files;
  std::string name;
};
Result<PathInFolder> folder_and_name(const std::string& path, IoMode io);

}  // namespace andiron::inline v1::detail
