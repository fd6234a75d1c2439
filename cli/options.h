// SPDX-License-Identifier: MIT OR Apache-2.0
// What the command line asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "andiron/compare.h"
#include "andiron/convert.h"
#include "andiron/names.h"
#include "andiron/open.h"
#include "andiron/write.h"
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

struct StatOptions {
  ReadingOptions reading;
  SortKey sort = SortKey::name;
  std::size_t bins = 0;  ///< of histograms; 0 for none
  bool check = false;    ///< NaN and infinity are findings, and all that is shown
};

struct DiffOptions {
  /// The two inputs; names and filter are for both.
  ReadingOptions reading;
  /// More for one of them.
  struct Side {
    std::string top_level_key;                                       ///< instead of that for both
    std::vector<std::pair<std::string, std::string>> substitutions;  ///< after those for both
  };
  Side a;
  Side b;
  /// Without threads, memory and progress.
  CompareOptions compare;
  bool quiet = false;  ///< only the exit code
  bool all = false;    ///< list every difference
};

struct ConvertOptions {
  ReadingOptions reading;
  WritingOptions writing;
  std::vector<CastRule> casts;
  std::optional<LayoutRequest> layout;
  bool beyond_burn = false;  ///< write Burnpack files that Burn's reader refuses for their size

  Format format() const { return *writing.write.format; }
};

}  // namespace andiron::cli
