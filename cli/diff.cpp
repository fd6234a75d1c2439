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
#include "cli/quantities.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace andiron::cli {

struct DiffVerb final : ReadingVerb {
  // What is for one of the two inputs; names and filter of ReadingOptions are for both.
  struct Side {
    std::string top_level_key;                                       // instead of that for both
    std::vector<std::pair<std::string, std::string>> substitutions;  // after those for both
  };
  Side a;
  Side b;
  CompareOptions compare_options;  // without threads, memory and progress
  bool quiet = false;              // only the exit code
  bool all = false;                // list every difference

  VerbHelp help() const override {
    return {
        "diff", "Compare the tensors of two weight files",
        names_help +
            R"(Tensors are compared by name, whatever the formats. Tensors that only one side has
are looked for under other names by their bytes. Equal means equal numbers, and NaN
equals NaN. The first input is A, the second B.

Exit codes: 0 equal, 1 different.

Examples:
  andiron diff old.safetensors new.safetensors
  andiron diff -q model.pt model.safetensors
  andiron diff --rtol 1e-3 --ignore-dtype model.safetensors model-f16.bpk
  andiron diff --top-level-key-a state_dict checkpoint.ckpt model.safetensors
  andiron diff --json a.bpk b.bpk | jq -r '.differences[] | [.kind, .name] | @tsv')"};
  }

  void declare_own(OptionList& list) override {
    list.inputs.count = 2;
    list.inputs.help = "The two weight files, shard indexes or\nfolders";
    list.inputs.other_count = "diff takes two INPUTs";
    list.value("--atol", "NUMBER", set_tolerance(compare_options.absolute_tolerance),
               "Elements are close if |a - b| is at most this,");
    list.value("--rtol", "NUMBER", set_tolerance(compare_options.relative_tolerance),
               "plus this times |b|; close tensors count as equal");
    list.flag(
        "--nan-differs", [this] { compare_options.nan_equals_nan = false; },
        "NaN differs from NaN");
    list.flag("--ignore-dtype", compare_options.ignore_dtype,
              "Judge tensors of other dtypes by their numbers");
    list.flag(
        "--no-renames", [this] { compare_options.find_renamed = false; },
        "Do not look for renamed tensors, which reads\nthose that only one side has");
    list.flag("--metadata", compare_options.metadata,
              "Also compare metadata, and the values beside the\ntensors (configs, scalars)");
    list.flag("--all", all, "List every difference, not the first ten of a\nkind");
    list.flag("-q,--quiet", quiet, "Print nothing; the exit code tells");
    list.begin_group("Names of one side");
    declare_side(list, "a", "first", a);
    declare_side(list, "b", "second", b);
  }

  ExitCode run() override;

 private:
  static OptionList::Take set_tolerance(double& tolerance) {
    return [&tolerance](const std::string& text) {
      const std::optional<double> number = parse_number(text);
      if (!number) {
        throw WrongValue{in_quotes(text) + " is not a tolerance; tolerances look like 1e-5"};
      }
      tolerance = *number;
    };
  }

  static void declare_side(OptionList& list, const std::string& letter, const std::string& which,
                           Side& side) {
    list.value("--top-level-key-" + letter, "KEY", side.top_level_key,
               "As --top-level-key, for the " + which + " input alone");
    list.pairs(
        "--sub-" + letter, "PATTERN REPLACEMENT",
        [&side](const std::string& pattern, const std::string& replacement) {
          side.substitutions.emplace_back(pattern, replacement);
        },
        "As --sub, and after it, for the " + which + " input\nalone (repeatable)");
  }
};

template std::unique_ptr<Verb> make_verb<DiffVerb>();

namespace {

// Rows of each kind of difference, unless all are wanted.
constexpr std::size_t few_rows = 10;

// How one of the inputs is read.
ReadingOptions reading_of(const ReadingOptions& both, const DiffVerb::Side& side) {
  ReadingOptions options = both;
  if (!side.top_level_key.empty()) options.names.top_level_key = side.top_level_key;
  for (const auto& [pattern, replacement] : side.substitutions) {
    options.names.remapper.add_pattern(pattern, replacement);
  }
  return options;
}

Result<Comparison> compare_inputs(const Archive& a, const Archive& b, const DiffVerb& verb) {
  // A window for each of the two.
  const Workforce force = workforce(verb.reading, 128 * 1024);
  CompareOptions compare_options = verb.compare_options;
  compare_options.threads = force.threads;
  compare_options.window_bytes = force.window;
  std::optional<ProgressBar> bar;
  compare_options.progress = [&](std::uint64_t done, std::uint64_t total) {
    if (!bar) bar.emplace(verb.reading.inputs[0], total);
    bar->show(done, total);
    return true;
  };
  return compare(a, b, compare_options);
}

std::vector<Message> notes_of(const std::string& path, const Archive& archive) {
  std::vector<Message> notes;
  for (const Message& note : archive.notes()) notes.push_back(path + ": " + note);
  return notes;
}

}  // namespace

ExitCode DiffVerb::run() {
  const std::string& a_path = reading.inputs[0];
  const std::string& b_path = reading.inputs[1];
  std::string out;
  const auto fail = [&](const std::string& path, const Error& error) {
    const ExitCode code = report_failure(reading, path, error, out);
    return quiet ? code : print(out, code);
  };
  const ReadingOptions a_reading = reading_of(reading, a);
  const ReadingOptions b_reading = reading_of(reading, b);
  for (const auto& [path, side] : {std::pair(a_path, &a_reading), std::pair(b_path, &b_reading)}) {
    if (const Status status = check_patterns(*side); !status) return fail(path, status.error());
  }
  const Result<Archive> a_file = open_input(a_reading, a_path);
  if (!a_file) return fail(a_path, a_file.error());
  const Result<Archive> b_file = open_input(b_reading, b_path);
  if (!b_file) return fail(b_path, b_file.error());

  // Two files without a tensor are equal, but a filter that takes none is a mistake.
  if (a_file->empty() && b_file->empty() && !reading.filter.is_empty()) {
    return fail(a_path, nothing_passes());
  }

  const Result<Comparison> comparison = compare_inputs(*a_file, *b_file, *this);
  if (!comparison) {
    const std::string& file = comparison.error().file;
    const bool is_of_b =
        file.starts_with(b_path) && (!file.starts_with(a_path) || b_path.size() > a_path.size());
    return fail(is_of_b ? b_path : a_path, comparison.error());
  }
  const ExitCode code = comparison->is_equal() ? ExitCode::ok : ExitCode::findings;
  if (quiet) return code;
  if (reading.json) {
    std::vector<Message> notes = notes_of(a_path, *a_file);
    for (Message& note : notes_of(b_path, *b_file)) notes.push_back(std::move(note));
    return print(json_comparison({a_path, *a_file}, {b_path, *b_file}, *comparison, notes), code);
  }
  const Page page = page_for_standard_output(reading.color, reading.wide);
  append_comparison(out, a_path, b_path, *comparison, page,
                    all ? std::numeric_limits<std::size_t>::max() : few_rows);
  print_notes(a_path, *a_file);
  print_notes(b_path, *b_file);
  return print(out, code);
}

}  // namespace andiron::cli
