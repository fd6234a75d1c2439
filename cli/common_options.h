// SPDX-License-Identifier: MIT OR Apache-2.0
// The options that verbs have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "andiron/names.h"
#include "andiron/open.h"
#include "andiron/write.h"
#include "cli/option_list.h"
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

/// Threads, and the memory that each may use for tensor data.
struct Workforce {
  unsigned threads = 1;
  std::uint64_t window = 0;
};

/// What --threads and --max-memory allow: so many threads that each has `least_window`, below which
/// a window costs more in calls than it saves in memory.
Workforce workforce(const ReadingOptions& options, std::uint64_t least_window = 64 * 1024);

/// The inputs, and how the tool answers.
void declare_output_options(OptionList& list, ReadingOptions& reading);
/// What is taken from the inputs, and how they are read.
void declare_reading_options(OptionList& list, ReadingOptions& reading);

/// The part of a verb's help that explains the options for names.
inline const std::string names_help =
    R"(Names: --top-level-key applies first, then --fold-weight-norm, --sub,
--transpose, --split, --join and --contiguous-indices; --include, --regex and
--exclude match the resulting names. A tensor is taken if one --include or
--regex matches.

)";

/// The order of --sort. Tensors that are equal in it are in natural order of names.
enum class SortKey : std::uint8_t {
  name,    ///< layers.2 before layers.10
  size,    ///< largest first
  offset,  ///< as they lie in the file, shard by shard
  dtype,
};

void declare_sort(OptionList& list, SortKey& sort);

/// Common to all verbs that write weight files.
struct WritingOptions {
  std::string output;
  WriteOptions write;
};

void declare_writing_options(OptionList& list, WritingOptions& writing);

}  // namespace andiron::cli
