// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron stat: statistics of each tensor, and a gate for NaN and infinity.
#include "andiron/statistics.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "andiron/text.h"
#include "cli/inputs.h"
#include "cli/json_output.h"
#include "cli/quantities.h"
#include "cli/statistics_text.h"
#include "cli/tensor_text.h"
#include "cli/terminal.h"
#include "cli/text_layout.h"
#include "cli/verb.h"

namespace andiron::cli {

struct StatVerb final : ReadingVerb {
  SortKey sort = SortKey::name;
  std::size_t bins = 0;  // of histograms; 0 for none
  bool check = false;    // NaN and infinity are findings, and all that is shown

  VerbHelp help() const override {
    return {"stat", "Statistics of each tensor: range, mean, NaN, infinity",
            names_help +
                R"(Range, mean and standard deviation (of the population) are those of the finite
elements; of a complex tensor, those of the magnitudes. --json has all digits, the
L2 norm and the histogram too.

Exit codes: with --check, 1 if an element is NaN or infinite.

Examples:
  andiron stat model.safetensors
  andiron stat --check checkpoint.pt
  andiron stat --histogram --include 'head.*' model.safetensors
  andiron stat --json model.bpk | jq '.tensors[] | [.name, .statistics.std]')"};
  }

  void declare_own(OptionList& list) override {
    constexpr std::size_t usual_bins = 16;
    constexpr unsigned most_bins = 10'000;
    declare_sort(list, sort);
    list.flag("--check", check,
              "Only look for NaN and infinity: name the tensors\n"
              "that have them, and exit with 1 if there are any");
    list.flag(
        "--histogram", [this] { bins = bins == 0 ? usual_bins : bins; },
        "Also show how the elements of each tensor are\ndistributed, in 16 bins");
    list.value(
        "--bins", "N", [this](const std::string& text) { bins = count_argument(text, most_bins); },
        "The same, in N bins");
  }

  ExitCode run() override;
};

template std::unique_ptr<Verb> make_verb<StatVerb>();

namespace {

Result<std::vector<Statistics>> compute(const Archive& archive, const StatVerb& verb,
                                        const std::string& label) {
  const Workforce force = workforce(verb.reading);
  std::optional<ProgressBar> bar;
  const auto show = [&](std::uint64_t done, std::uint64_t total) {
    if (!bar) bar.emplace(label, total);
    bar->show(done, total);
    return true;
  };
  return statistics(archive, {.histogram_bins = verb.bins,
                              .threads = force.threads,
                              .window_bytes = force.window,
                              .progress = show});
}

// How many tensors have NaN, and how many infinities.
std::string sentence_on_finiteness(std::span<const std::size_t> order,
                                   std::span<const Statistics> all) {
  std::uint64_t with_nan = 0;
  std::uint64_t with_infinity = 0;
  for (const std::size_t index : order) {
    with_nan += all[index].nans != 0;
    with_infinity += all[index].infinities() != 0;
  }
  if (with_nan + with_infinity == 0) return "no NaN or infinity";
  std::string text;
  if (with_nan != 0) text = "NaN in " + count_of(with_nan, "tensor");
  if (with_infinity != 0) {
    text += (text.empty() ? "" : ", ") + ("infinity in " + count_of(with_infinity, "tensor"));
  }
  return text;
}

void append_tables(std::string& out, const Archive& archive, std::span<const std::size_t> order,
                   std::span<const Statistics> all, const Page& page) {
  append_statistics_table(out, archive, order, all, page);
  Totals totals;
  for (const std::size_t index : order) totals.add(archive.info(index));
  append_wrapped(out,
                 count_of(totals.tensors, "tensor") + ", " +
                     count_of(totals.parameters, "parameter") + ", " + format_size(totals.bytes) +
                     ", " + sentence_on_finiteness(order, all),
                 0, page.width);
  for (const std::size_t index : order) {
    append_histogram(out, archive.info(index), all[index], page);
  }
}

// A line for each finding, or one that says that there are none.
void append_findings(std::string& out, const std::string& path, const Archive& archive,
                     std::span<const std::size_t> order, std::span<const Statistics> all) {
  const std::string start = display_text(path) + ": ";
  bool is_clean = true;
  std::size_t unknown = archive.skipped().size();
  std::size_t known = 0;
  for (const std::size_t index : order) {
    ++(all[index].refused.empty() ? known : unknown);
    if (all[index].is_finite()) continue;
    is_clean = false;
    out += start + "tensor '" + display_text(archive.info(index).name) +
           "': " + not_finite_text(all[index]) + "\n";
  }
  if (!is_clean) return;
  out += start + "no NaN or infinity in " + count_of(known, "tensor");
  if (unknown != 0) out += ", " + std::to_string(unknown) + " not checked";
  out += "\n";
}

void note_refused(const std::string& path, const Archive& archive,
                  std::span<const std::size_t> order, std::span<const Statistics> all) {
  constexpr std::size_t shown = 5;
  std::size_t refused = 0;
  for (const std::size_t index : order) {
    if (all[index].refused.empty() || ++refused > shown) continue;
    print_message(display_text(path) + ": note: tensor '" + display_text(archive.info(index).name) +
                  "' has no statistics: " + all[index].refused.to_string(Wording::flags));
  }
  if (refused > shown) {
    print_message(display_text(path) + ": note: " + count_of(refused - shown, "more tensor") +
                  " without statistics; --json says why");
  }
}

}  // namespace

ExitCode StatVerb::run() {
  const Page page = page_for_standard_output(reading.color, reading.wide);
  bool is_finite = true;
  const ExitCode code = for_each_input(
      reading, reading.json || check,
      [&](const std::string& path, const Archive& archive, std::string& out) -> Status {
        // A gate that looks at nothing passes everything.
        if (check && archive.empty() && !reading.filter.is_empty()) return nothing_passes();
        const std::vector<std::size_t> order = sorted_indices(archive, sort);
        const Result<std::vector<Statistics>> all = compute(archive, *this, path);
        if (!all) return all.error();
        for (const Statistics& one : *all) is_finite = is_finite && one.is_finite();
        if (reading.json) {
          out += json_object(path, archive, order, {.statistics = *all});
          return {};
        }
        if (check) {
          append_findings(out, path, archive, order, *all);
        } else {
          append_input_heading(out, path, reading);
          append_tables(out, archive, order, *all, page);
        }
        print_notes(path, archive);
        note_refused(path, archive, order, *all);
        return {};
      });
  const bool is_finding = check && !is_finite;
  return combine(code, is_finding ? ExitCode::findings : ExitCode::ok);
}

}  // namespace andiron::cli
