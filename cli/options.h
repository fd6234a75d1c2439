// SPDX-License-Identifier: MIT OR Apache-2.0
// What the command line asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "andiron/names.h"
#include "andiron/open.h"
#include "andiron/write.h"
#include "cli/casts.h"
#include "cli/layouts.h"
#include "cli/terminal.h"

namespace andiron::cli {

/// Common to all verbs that read weight files.
struct ReadingOptions {
  std::vector<std::string> inputs;
  bool json = false;

  OpenOptions open;
  NameOptions names;
  PathFilter filter;

  unsigned threads = 1;
  /// Bounds the tensor data held at once, and the header; open.limits knows it, too.
  std::optional<std::uint64_t> max_memory;

  ColorChoice color = ColorChoice::automatic;
  bool wide = false;
};

/// The order of --sort. Tensors that are equal in it are in natural order of names.
enum class SortKey : std::uint8_t {
  name,    ///< layers.2 before layers.10
  size,    ///< largest first
  offset,  ///< as they lie in the file, shard by shard
  dtype,
};

/// Common to all verbs that write weight files.
struct WritingOptions {
  std::string output;
  WriteOptions write;
};

struct LsOptions {
  ReadingOptions reading;
  SortKey sort = SortKey::name;
  bool offsets = false;
  bool renames = false;  ///< show the name in the file and after each step that changed it
};

struct InfoOptions {
  ReadingOptions reading;
  bool all = false;  ///< list every tensor
  bool hex = false;  ///< show the bytes of the header instead
};

struct ConfigOptions {
  ReadingOptions reading;
  std::string key;  ///< a path into the values; empty for all of them
};

struct PlanOptions {
  ReadingOptions reading;
  std::string model;  ///< a weight file or a listing
};

struct HashOptions {
  ReadingOptions reading;
  SortKey sort = SortKey::name;
  bool full = false;
};

struct ConvertOptions {
  ReadingOptions reading;
  WritingOptions writing;
  std::vector<CastRule> casts;
  std::optional<LayoutChange> layout;
  bool beyond_burn = false;  ///< write Burnpack files that Burn's reader refuses for their size

  Format format() const { return *writing.write.format; }
};

}  // namespace andiron::cli
