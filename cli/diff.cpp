// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron diff: what differs between two weight files.
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "andiron/compare.h"
#include "andiron/text.h"
#include "cli/comparison_text.h"
#include "cli/inputs.h"
#include "cli/json_output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "cli/workforce.h"

namespace andiron::cli {
namespace {

// Rows of each kind of difference, unless all are wanted.
constexpr std::size_t few_rows = 10;

// How one of the inputs is read.
ReadingOptions reading_of(const ReadingOptions& both, const DiffOptions::Side& side) {
  ReadingOptions options = both;
  if (!side.top_level_key.empty()) options.names.top_level_key = side.top_level_key;
  for (const auto& [pattern, replacement] : side.substitutions) {
    options.names.remapper.add_pattern(pattern, replacement);
  }
  return options;
}

Result<Comparison> compare_inputs(const Archive& a, const Archive& b, const DiffOptions& options) {
  // A window for each of the two.
  const Workforce force = workforce(options.reading, 128 * 1024);
  CompareOptions compare_options = options.compare;
  compare_options.threads = force.threads;
  compare_options.window_bytes = force.window;
  std::optional<ProgressBar> bar;
  compare_options.progress = [&](std::uint64_t done, std::uint64_t total) {
    if (!bar) bar.emplace(options.reading.inputs[0], total);
    bar->show(done, total);
    return true;
  };
  return compare(a, b, compare_options);
}

std::vector<std::string> notes_of(const std::string& path, const Archive& archive) {
  std::vector<std::string> notes;
  for (const std::string& note : archive.notes()) notes.push_back(path + ": " + note);
  return notes;
}

ExitCode print(const std::string& out, ExitCode code) {
  return write_to_standard_output(out) == Written::failed ? ExitCode::failed : code;
}

}  // namespace

ExitCode run(const DiffOptions& options) {
  const ReadingOptions& reading = options.reading;
  const std::string& a_path = reading.inputs[0];
  const std::string& b_path = reading.inputs[1];
  std::string out;
  const auto fail = [&](const std::string& path, const Error& error) {
    const ExitCode code = report_failure(reading, path, error, out);
    return options.quiet ? code : print(out, code);
  };
  const ReadingOptions a_reading = reading_of(reading, options.a);
  const ReadingOptions b_reading = reading_of(reading, options.b);
  for (const auto& [path, side] : {std::pair(a_path, &a_reading), std::pair(b_path, &b_reading)}) {
    if (const Status status = check_patterns(*side); !status) return fail(path, status.error());
  }
  const Result<Archive> a = open_input(a_reading, a_path);
  if (!a) return fail(a_path, a.error());
  const Result<Archive> b = open_input(b_reading, b_path);
  if (!b) return fail(b_path, b.error());

  // Two files without a tensor are equal, but a filter that takes none is a mistake.
  if (a->empty() && b->empty() && !reading.filter.is_empty()) return fail(a_path, nothing_passes());

  const Result<Comparison> comparison = compare_inputs(*a, *b, options);
  if (!comparison) {
    const std::string& file = comparison.error().file;
    const bool is_of_b =
        file.starts_with(b_path) && (!file.starts_with(a_path) || b_path.size() > a_path.size());
    return fail(is_of_b ? b_path : a_path, comparison.error());
  }
  const ExitCode code = comparison->is_equal() ? ExitCode::ok : ExitCode::findings;
  if (options.quiet) return code;
  if (reading.json) {
    std::vector<std::string> notes = notes_of(a_path, *a);
    for (std::string& note : notes_of(b_path, *b)) notes.push_back(std::move(note));
    return print(json_comparison({a_path, *a}, {b_path, *b}, *comparison, notes), code);
  }
  const Page page = page_for_standard_output(reading.color, reading.wide);
  append_comparison(out, a_path, b_path, *comparison, page,
                    options.all ? std::numeric_limits<std::size_t>::max() : few_rows);
  print_notes(a_path, *a);
  print_notes(b_path, *b);
  return print(out, code);
}

}  // namespace andiron::cli
