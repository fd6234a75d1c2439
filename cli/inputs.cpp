// SPDX-License-Identifier: MIT OR Apache-2.0
// From an input named on the command line to the archive that a verb shows.
#include "cli/inputs.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "andiron/names.h"
#include "andiron/open.h"
#include "andiron/text.h"
#include "cli/json_output.h"

namespace andiron::cli {

namespace {

// Whether the error is about a limit that --max-memory has lowered.
bool is_lowered_limit(const ReadingOptions& options, const Error& error) {
  constexpr std::uint64_t Limits::* lowered[] = {&Limits::header_bytes,
                                                 &Limits::burnpack_metadata_bytes,
                                                 &Limits::index_bytes, &Limits::inflated_bytes};
  const std::optional<std::string> named = error.hint.argument_of(Advice::raise_limit);
  return options.max_memory && named &&
         std::any_of(std::begin(lowered), std::end(lowered), [&](auto limit) {
           return *named == limit_name(limit) && options.open.limits.*limit == *options.max_memory;
         });
}

// That checksums do not match is the answer to --verify.
ExitCode exit_code_for(const ReadingOptions& options, const Error& error) {
  if (options.open.verify && error.code == ErrorCode::checksum_mismatch) return ExitCode::findings;
  return exit_code_of(error);
}

ExitCode report_bad_pattern(const ReadingOptions& options, const Error& error) {
  print_error(error);
  std::string objects;
  if (options.json) {
    for (const std::string& path : options.inputs) objects += json_error(path, error);
  }
  return print(objects, ExitCode::usage);
}

}  // namespace

Error nothing_passes() {
  return Error{.code = ErrorCode::missing_tensor,
               .message = "no tensor matches --include, --exclude and --regex",
               .hint = "'andiron ls' shows the names"};
}

Status check_patterns(const ReadingOptions& options) {
  Status names = options.names.status();
  return names ? options.filter.status() : std::move(names);
}

Result<Archive> open_input(const ReadingOptions& options, const std::string& path) {
  Result<Archive> archive = andiron::open(path, options.open);
  if (archive) archive = apply_names(*archive, options.names);
  if (archive && !options.filter.is_empty()) archive = filter(*archive, options.filter);
  return archive;
}

ExitCode report_failure(const ReadingOptions& options, const std::string& path, Error error,
                        std::string& out) {
  if (error.file.empty()) error.file = path.empty() ? "''" : path;
  if (is_lowered_limit(options, error)) error.hint = "raise --max-memory";
  print_error(error);
  if (options.json) out = json_error(path, error, out);
  return exit_code_for(options, error);
}

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
  if (const Status status = check_patterns(options); !status) {
    return report_bad_pattern(options, status.error());
  }

  ExitCode code = ExitCode::ok;
  bool blank_line_due = false;
  for (const std::string& path : options.inputs) {
    std::string out;
    Status status = render(path, open_input(options, path), out);
    if (!status) {
      code = combine(code, report_failure(options, path, status.error(), out));
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
