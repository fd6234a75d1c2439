// SPDX-License-Identifier: MIT OR Apache-2.0
// What a store is made of: where its content is, and the options of each stage.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "andiron/apply.h"
#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/names.h"
#include "andiron/open.h"
#include "andiron/write.h"

namespace andiron::inline v1::detail {

class StoreState;

// The options of each stage, in the order of a load, then of a save.
struct StoreSettings {
  OpenOptions open = {};
  NameOptions names = {};
  ApplyOptions apply = {};
  CollectOptions collect = {};
  WriteOptions write = {};
  bool auto_extension = false;
};

// Files that are not in a folder, and the name of the model among them.
struct StoreFiles {
  FileSetPtr files;
  std::string name;
};
// A path, memory (which may be empty), or a set of files.
using StoreLocation = std::variant<std::string, std::optional<Bytes>, StoreFiles>;

}  // namespace andiron::inline v1::detail
