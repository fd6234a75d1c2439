// SPDX-License-Identifier: MIT OR Apache-2.0
// The stage between a file and a module, or a module and a file: what tensors are called.
#pragma once

#include <string>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/key_remapper.h"

namespace andiron::inline v1 {

/// How the names of a file become those of a module. A save uses the remapper alone.
struct NameOptions {
  /// Take what lies below this key, named from there; everything where it is empty
  /// (top_level_key.h).
  std::string top_level_key = {};
  KeyRemapper remapper = {};
  /// fc.0 fc.2 fc.4 become fc.0 fc.1 fc.2 (index_gaps.h).
  bool close_gaps = false;
  /// Regular expressions for the lists whose numbers stay (IndexGapOptions).
  std::vector<std::string> except = {};

  /// InvalidPattern for the first pattern that does not parse. apply_names() returns it, too.
  Status status() const;
};

/// The archive under its new names: first the top-level key, then the remapper, then index gaps. No
/// data is copied or read, and the result can tell what each tensor was called before
/// (Archive::name_history). Notes tell of replacements that name no group, and of a key that a
/// PyTorch model seems to lie below. MissingTensor when nothing lies below the key, NameCollision
/// when two tensors would share a name.
Result<Archive> apply_names(const Archive& archive, const NameOptions& options);

}  // namespace andiron::inline v1
