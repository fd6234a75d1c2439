// SPDX-License-Identifier: MIT OR Apache-2.0
// What only SafeTensors has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/limits.h"

namespace andiron::inline v1 {

/// A change to a file's string metadata: keys are removed first, then set.
struct MetadataEdit {
  Metadata set = {};                     ///< added or replaced
  std::vector<std::string> remove = {};  ///< dropped; absent keys are no error
  /// Change the file itself instead of replacing it. Only done when all changed bytes lie within
  /// one 4 KiB page of the file, so that a crash leaves the old or the new header; else
  /// Unsupported.
  bool in_place = false;
  bool sync = true;  ///< survive a power cut (fsync)
  Limits limits = {};
};

/// Edits `__metadata__` and nothing else: the rest of the header and all data stay byte for byte.
/// Unless in place, the new file is built beside the old one (sharing its blocks where the file
/// system has reflinks) and takes its name when complete.
Status edit_safetensors_metadata(const std::string& path, const MetadataEdit& edit);

}  // namespace andiron::inline v1
