// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the model in a folder, and the folder of a path.
#pragma once

#include <string>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "andiron/file.h"

namespace andiron::inline v1::detail {

// Returns the name of the only model: usual names before others, a single file before an index of
// the same name, an index before other files, a pickle only if there is nothing else. Fails with
// NotAWeightFile if there is none, or more than one.
Result<std::string> model_in(const FileSet& files);

// A file in its folder, or a folder with the empty name. The system's reason for a path that names
// nothing.
struct PathInFolder {
  FileSetPtr files;
  std::string name;
};
Result<PathInFolder> folder_and_name(const std::string& path, IoMode io);

}  // namespace andiron::inline v1::detail
