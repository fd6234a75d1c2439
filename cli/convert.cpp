// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron convert: the tensors of one weight file into another.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "andiron/text.h"
#include "andiron/write.h"
#include "cli/casts.h"
#include "cli/inputs.h"
#include "cli/interruption.h"
#include "cli/json_output.h"
#include "cli/layouts.h"
#include "cli/quantities.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace andiron::cli {
namespace {

// Tensors as they lie in the files, so that the data is read in one sweep and Burnpack, which keeps
// the order it is given, keeps the layout. Those that lie nowhere, as in a compressed record, keep
// their order.
Result<Archive> in_file_order(const Archive& archive) {
  std::vector<std::size_t> order(archive.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto lies_before = [&](std::size_t left, std::size_t right) {
    const TensorInfo a = archive.info(left);
    const TensorInfo b = archive.info(right);
    if (a.file != b.file) return natural_less(a.file, b.file);
    if (!a.offset || !b.offset) return a.offset.has_value() && !b.offset.has_value();
    // An empty tensor starts where the next one does.
    return std::tuple(*a.offset, a.byte_size) < std::tuple(*b.offset, b.byte_size);
  };
  if (std::is_sorted(order.begin(), order.end(), lies_before)) return archive;
  std::stable_sort(order.begin(), order.end(), lies_before);
  return archive.select(order);
}

// Tensors of the same bytes are written for each name.
void tell_copies(const Archive& source, std::vector<std::string>& notes) {
  const std::vector<std::optional<std::size_t>> ties = source.ties();
  const auto copies = static_cast<std::size_t>(
      std::count_if(ties.begin(), ties.end(), [](const auto& tie) { return tie.has_value(); }));
  if (copies == 0) return;
  notes.push_back(count_of(copies, "tied tensor") + " written as " +
                  (copies == 1 ? "a copy" : "copies"));
}

// What readers go by: the matrices of PyTorch's Linear lie the other way round than Burn's.
void note_origin(Archive& archive) {
  Metadata metadata = archive.metadata();
  metadata.emplace("format", "pt");
  archive.set_metadata(std::move(metadata));
}

Error nothing_taken(const Archive& source) {
  return Error{.code = ErrorCode::unsupported,
               .message = "no tensor in the file can be read",
               .found = count_of(source.skipped().size(), "tensor") + " skipped",
               .hint = "'andiron info' says why"};
}

// What a record says of its recorder. Other formats have no use for it, and records say their own.
constexpr std::string_view recorder_keys[] = {"float", "int", "format", "version", "settings"};

void drop_recorder_metadata(Archive& archive) {
  Metadata metadata = archive.metadata();
  for (const std::string_view key : recorder_keys) metadata.erase(std::string(key));
  archive.set_metadata(std::move(metadata));
}

bool is_of_pytorch(const Archive& archive) {
  const auto format = archive.metadata().find("format");
  return archive.is_pickled() || (format != archive.metadata().end() && format->second == "pt");
}

// Burn's programs expect Burn's layouts in Burn's formats.
void tell_layout(const Archive& source, const ConvertOptions& options,
                 std::vector<std::string>& notes) {
  const bool is_of_burn = options.format() == Format::burnpack || options.format() == Format::mpk;
  if (options.layout || !is_of_burn || !is_of_pytorch(source)) return;
  notes.push_back(
      "the tensors keep PyTorch's layouts: load them with PyTorchToBurnAdapter, or see "
      "--to-layout");
}

// What a file says of its own layout counts more than that --to-layout is the other one.
Status check_layout(const Archive& source, const LayoutChange& change) {
  const bool is_of_burn = !is_of_pytorch(source) && (source.format() == "burnpack" ||
                                                     source.format() == format_name(Format::mpk));
  const bool has_it_already = change.to == Layout::pytorch ? is_of_pytorch(source) : is_of_burn;
  if (change.is_given || !has_it_already) return {};
  return Error{
      .code = ErrorCode::invalid_argument,
      .message = "the input seems to have this layout already",
      .found = std::string(layout_name(change.to)),
      .hint = "say --from-layout " + std::string(layout_name(change.from)) + " if it does not"};
}

Result<Archive> with_layout(const Archive& source, const LayoutChange& change,
                            std::vector<std::string>& notes) {
  if (Status status = check_layout(source, change); !status) return std::move(status).error();
  const Result<LayerRules> rules = read_layer_rules(change.layers);
  if (!rules) return rules.error();
  Result<Archive> changed = change_layout(source, *rules, change.to);
  if (!changed) return changed;
  const auto first = changed->notes().begin() + static_cast<std::ptrdiff_t>(source.notes().size());
  notes.insert(notes.end(), first, changed->notes().end());
  return changed;
}

// The archive as it is to be written; notes say what is done to it for that.
Result<Archive> prepare(const Archive& source, const ConvertOptions& options,
                        std::vector<std::string>& notes) {
  Result<Archive> archive = in_file_order(source);
  if (archive && options.layout) archive = with_layout(*archive, *options.layout, notes);
  if (!archive) return archive;
  tell_layout(source, options, notes);
  // Burnpack could keep them, but Burn would miss the tied names.
  if (const std::size_t ties = archive->aliases().size();
      ties != 0 && options.format() == Format::burnpack) {
    archive = archive->with_ties_as_copies();
    if (!archive) return archive;
    notes.push_back(count_of(ties, "tied name") + " written as " +
                    (ties == 1 ? "a copy" : "copies"));
  }
  tell_copies(source, notes);
  const bool is_record = source.format() == format_name(Format::mpk);
  const bool to_record = options.format() == Format::mpk;
  const bool keeps_notes = !to_record && options.format() != Format::numpy;
  const bool has_pytorch_layout = source.is_pickled() && !options.layout;
  if (has_pytorch_layout && keeps_notes) note_origin(*archive);
  if (has_pytorch_layout && options.format() == Format::numpy) {
    notes.push_back(std::string(format_name(options.format())) +
                    " cannot record that the tensors have PyTorch's layout; load them with "
                    "PyTorchToBurnAdapter");
  }
  if (is_record && !to_record) drop_recorder_metadata(*archive);
  return archive;
}

Result<WriteReport> write_output(const Archive& archive, const ConvertOptions& options) {
  const std::string& path = options.writing.output;
  WriteOptions write_options = options.writing.write;
  const Interruption interruption;
  std::optional<ProgressBar> bar;
  write_options.progress = [&](std::uint64_t done, std::uint64_t total) {
    if (!bar) bar.emplace(path, total);
    bar->show(done, total);
    return !interruption.is_requested();
  };
  return write(archive, path, write_options);
}

// What a record compresses to is known when it is written.
bool is_size_known(const ConvertOptions& options) {
  return !options.writing.write.dry_run || !options.writing.output.ends_with(".gz");
}

std::string json_line(const std::string& path, const Archive& source, const ConvertOptions& options,
                      const WriteReport& report, const std::vector<CastTensor>& casts,
                      const std::vector<std::string>& notes) {
  std::string out = "{\"schema\":1";
  append_json_field(out, "path", path);
  append_json_field(out, "output", options.writing.output);
  append_json_field(out, "format", format_name(options.format()));
  append_json_field(out, "tensors", report.tensors);
  if (is_size_known(options)) append_json_field(out, "bytes", report.bytes);
  append_json_field(out, "files", report.files);
  append_json_key(out, "dry_run");
  out += options.writing.write.dry_run ? "true" : "false";
  if (!casts.empty()) append_json_casts(out, casts, !options.writing.write.dry_run);
  append_json_field(out, "skipped", source.skipped());
  append_json_notes(out, notes);
  return out + "}\n";
}

std::string text_line(const ConvertOptions& options, const WriteReport& report, std::size_t casts) {
  std::string line =
      display_text(options.writing.output) + ": " + count_of(report.tensors, "tensor");
  if (is_size_known(options)) line += ", " + format_size(report.bytes);
  line.append(", ").append(format_name(options.format()));
  // The last file of several is their index.
  if (report.files.size() > 1) line += ", " + count_of(report.files.size() - 1, "shard");
  if (casts != 0) line += ", " + format_count(casts) + " cast";
  if (options.writing.write.dry_run) line += " (dry run, nothing written)";
  return line + "\n";
}

}  // namespace

ExitCode run(const ConvertOptions& options) {
  const bool json = options.reading.json;
  if (options.layout && options.layout->is_guess()) {
    return for_each_input(
        options.reading, true,
        [&](const std::string& path, const Archive& source, std::string& out) -> Status {
          const Layout from = options.layout->from;
          out += json ? guessed_layers_json(path, source, from) : guessed_layers_text(source, from);
          return {};
        });
  }
  return for_each_input(
      options.reading, true,
      [&](const std::string& path, const Archive& source, std::string& out) -> Status {
        std::vector<std::string> notes;
        if (source.empty() && !options.reading.filter.is_empty()) return nothing_passes();
        if (source.empty() && !source.skipped().empty()) return nothing_taken(source);
        Result<Archive> archive = prepare(source, options, notes);
        if (!archive) return std::move(archive).error();
        Result<CastArchive> cast = cast_tensors(*archive, options.casts);
        if (!cast) return std::move(cast).error();
        Result<WriteReport> report = write_output(cast->archive, options);
        if (!report) return std::move(report).error();

        for (std::string& note : cast->notes) notes.push_back(std::move(note));
        for (std::string& note : cast_notes(cast->tensors)) notes.push_back(std::move(note));
        notes.insert(notes.end(), report->notes.begin(), report->notes.end());
        if (json) {
          notes.insert(notes.begin(), source.notes().begin(), source.notes().end());
          out += json_line(path, source, options, *report, cast->tensors, notes);
          return {};
        }
        print_notes(path, source);
        for (const std::string& note : notes) {
          print_message(display_text(options.writing.output) + ": note: " + in_flags(note));
        }
        out += text_line(options, *report, cast->tensors.size());
        return {};
      });
}

}  // namespace andiron::cli
