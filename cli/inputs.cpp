// SPDX-License-Identifier: MIT OR Apache-2.0
// From an input named on the command line to the archive that a verb shows.
#include "cli/inputs.h"

#include <algorithm>

#include "andiron/display_text.h"
#include "andiron/index_gaps.h"
#include "andiron/top_level_key.h"
#include "cli/json_output.h"

namespace andiron::cli {

Limits limits_of(const ReadingOptions& options) {
  Limits limits;
  if (options.max_memory) {
    for (std::uint64_t* limit :
         {&limits.header_bytes, &limits.burnpack_metadata_bytes, &limits.index_bytes,
          &limits.inflated_bytes, &limits.window_bytes}) {
      *limit = std::min(*limit, *options.max_memory);
    }
  }
  return limits;
}

Result<InputReader> InputReader::create(const ReadingOptions& options) {
  InputReader reader;
  reader.open_options_.io = options.io;
  reader.open_options_.strictness = options.strictness;
  reader.open_options_.limits = limits_of(options);
  reader.limits_memory_ = options.max_memory.has_value();
  reader.top_level_key_ = options.top_level_key;
  for (const auto& [pattern, replacement] : options.substitutions) {
    reader.remapper_.add_pattern(pattern, replacement);
  }
  reader.contiguous_indices_ = options.contiguous_indices;
  for (const std::string& glob : options.include) reader.filter_.with_glob(glob);
  for (const std::string& glob : options.exclude) reader.filter_.exclude_glob(glob);
  reader.filter_.with_regexes(options.regex);

  if (Status status = reader.remapper_.status(); !status) return std::move(status).error();
  if (Status status = reader.filter_.status(); !status) return std::move(status).error();
  return reader;
}

Result<Archive> InputReader::open(const std::string& path) const {
  Result<Archive> archive = andiron::open(path, open_options_);
  if (!archive && archive.error().code == ErrorCode::header_too_large && limits_memory_) {
    Error error = std::move(archive).error();
    error.hint = "raise --max-memory";
    return error;
  }
  if (archive && top_level_key_) archive = at_top_level_key(*archive, *top_level_key_);
  if (archive && !remapper_.is_empty()) archive = remap(*archive, remapper_);
  if (archive && !top_level_key_ && archive->format() == format_name(Format::pytorch)) {
    if (const auto key = suggest_top_level_key(*archive)) {
      archive->add_note("the model seems to lie below '" + display_text(*key) +
                        "': --top-level-key '" + display_text(*key) + "' takes that off");
    }
  }
  if (archive && contiguous_indices_) archive = close_index_gaps(*archive);
  if (archive && !filter_.is_empty()) archive = filter(*archive, filter_);
  return archive;
}

namespace {

// Prints the line on standard error; returns what stands for the input on standard output.
std::string report_failure(const ReadingOptions& options, const std::string& path, Error error,
                           const std::string& shown) {
  if (error.file.empty()) error.file = path.empty() ? "''" : path;
  print_error(error);
  return options.json ? json_error(path, error, shown) : shown;
}

ExitCode report_bad_pattern(const ReadingOptions& options, const Error& error) {
  print_error(error);
  if (options.json) {
    std::string objects;
    for (const std::string& path : options.inputs) objects += json_error(path, error);
    if (write_to_standard_output(objects) == Written::failed) return ExitCode::failed;
  }
  return ExitCode::usage;
}

}  // namespace

ExitCode for_each_input(const ReadingOptions& options, bool lines, const Render& render) {
  return for_each_input_opened(
      options, lines, [&](const std::string& path, Result<Archive> opened, std::string& out) {
        Status status = opened ? render(path, *opened, out) : Status(std::move(opened).error());
        if (!status) out.clear();
        return status;
      });
}

ExitCode for_each_input_opened(const ReadingOptions& options, bool lines,
                               const RenderOpened& render) {
  Result<InputReader> reader = InputReader::create(options);
  if (!reader) return report_bad_pattern(options, reader.error());

  ExitCode code = ExitCode::ok;
  bool blank_line_due = false;
  for (const std::string& path : options.inputs) {
    std::string out;
    Status status = render(path, reader->open(path), out);
    if (!status) {
      code = combine(code, exit_code_of(status.error()));
      out = report_failure(options, path, std::move(status).error(), std::move(out));
    }
    if (out.empty()) continue;
    if (blank_line_due) out.insert(0, 1, '\n');
    blank_line_due = !lines;
    switch (write_to_standard_output(out)) {
      case Written::all:
        break;
      case Written::reader_gone:
        return code;
      case Written::failed:
        return ExitCode::failed;
    }
  }
  return code;
}

void append_input_heading(std::string& out, const std::string& path,
                          const ReadingOptions& options) {
  if (options.inputs.size() > 1) out += display_text(path) + ":\n";
}

}  // namespace andiron::cli
