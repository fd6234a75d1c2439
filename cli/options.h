// SPDX-License-Identifier: MIT OR Apache-2.0
// What the command line asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "andiron/burnpack_generation.h"
#include "andiron/open.h"
#include "andiron/write.h"
#include "cli/terminal.h"

namespace andiron::cli {

/// Common to all verbs that read weight files.
struct ReadingOptions {
  std::vector<std::string> inputs;
  bool json = false;

  std::vector<std::string> include;  ///< globs
  std::vector<std::string> exclude;  ///< globs
  std::vector<std::string> regex;
  std::optional<std::string> top_level_key;
  std::vector<std::pair<std::string, std::string>> substitutions;  ///< pattern, replacement
  bool contiguous_indices = false;

  IoMode io = IoMode::automatic;
  Strictness strictness = Strictness::standard;
  unsigned threads = 1;
  /// Bounds the tensor data held at once, and the header.
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
  bool overwrite = false;
  bool dry_run = false;
  bool sync = true;
};

struct LsOptions {
  ReadingOptions reading;
  SortKey sort = SortKey::name;
  bool offsets = false;
};

struct InfoOptions {
  ReadingOptions reading;
  bool all = false;  ///< list every tensor
  bool hex = false;  ///< show the bytes of the header instead
};

struct HashOptions {
  ReadingOptions reading;
  SortKey sort = SortKey::name;
  bool full = false;
};

struct ConvertOptions {
  ReadingOptions reading;
  WritingOptions writing;
  Format format = Format::safetensors;
  BurnpackGeneration burn_release = BurnpackGeneration::burn_0_22;
  bool beyond_burn = false;  ///< write Burnpack files that Burn's reader refuses for their size
  RecordPrecision precision = RecordPrecision::full;
  std::uint64_t max_shard_bytes = 0;
  bool param_ids = false;
};

}  // namespace andiron::cli
