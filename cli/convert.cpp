// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron convert: the tensors of one weight file into another.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "andiron/display_text.h"
#include "andiron/natural_order.h"
#include "andiron/write.h"
#include "cli/inputs.h"
#include "cli/json_output.h"
#include "cli/output_format.h"
#include "cli/quantities.h"
#include "cli/scalars.h"
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

// Tied names as tensors of their own, for formats that have no ties.
Status untie(Archive& archive, std::vector<std::string>& notes) {
  const Aliases aliases = archive.aliases();
  if (aliases.empty()) return {};
  std::vector<TensorSnapshot> copies;
  for (const auto& [alias, kept] : aliases) {
    Result<TensorSnapshot> copy = archive.get(alias);
    if (!copy) return std::move(copy).error();
    copies.push_back(*std::move(copy));
  }
  archive.set_aliases({});
  for (TensorSnapshot& copy : copies) {
    if (Status status = archive.add(std::move(copy)); !status) return status;
  }
  notes.push_back(count_of(copies.size(), "tied name") + " written as " +
                  (copies.size() == 1 ? "a copy" : "copies"));
  return {};
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

bool may_leave_out_tensors(const ReadingOptions& reading) {
  return !reading.include.empty() || !reading.exclude.empty() || !reading.regex.empty();
}

std::size_t count_values(const Value& value) {
  std::size_t count = 0;
  if (const ValueList* list = value.get<ValueList>()) {
    for (const Value& item : *list) count += count_values(item);
  } else if (const ValueDict* dict = value.get<ValueDict>()) {
    for (const auto& [key, item] : *dict) count += count_values(item);
  } else if (!value.is_null() && value.get<TensorIndex>() == nullptr) {
    count = 1;
  }
  return count;
}

std::size_t count_ids(const Archive& archive) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < archive.size(); ++i) count += archive.info(i).param_id.has_value();
  return count;
}

Error nothing_passes() {
  return Error{.code = ErrorCode::missing_tensor,
               .message = "no tensor passes --include, --exclude and --regex",
               .hint = "'andiron ls' shows the names"};
}

// What of value() the format has a place for.
Value kept_value(const Archive& archive, const ConvertOptions& options) {
  switch (options.format) {
    case Format::safetensors:
      return {};
    case Format::burnpack:
      if (options.burn_release < BurnpackGeneration::burn_0_22_pre) return {};
      return top_level_scalars(archive);
    case Format::mpk:
      // A tree with holes in it is no record of Burn's; the names make a new one.
      if (archive.format() != "mpk" || may_leave_out_tensors(options.reading)) return {};
      return archive.value();
    case Format::pytorch:
      break;
  }
  return {};
}

// What a record says of its recorder. Other formats have no use for it, and records say their own.
constexpr std::string_view recorder_keys[] = {"float", "int", "format", "version", "settings"};

// Returns how many there were.
std::size_t drop_recorder_metadata(Archive& archive) {
  Metadata metadata = archive.metadata();
  std::size_t dropped = 0;
  for (const std::string_view key : recorder_keys) dropped += metadata.erase(std::string(key));
  if (dropped != 0) archive.set_metadata(std::move(metadata));
  return dropped;
}

// The archive as it is to be written; notes say what the format has no place for.
Result<Archive> prepare(const Archive& source, const ConvertOptions& options,
                        std::vector<std::string>& notes) {
  Result<Archive> archive = in_file_order(source);
  if (!archive) return archive;
  std::string target(format_name(options.format));
  if (options.format == Format::burnpack) target.append(" ").append(name_of(options.burn_release));
  const auto lose = [&](std::size_t count, std::string_view noun, std::string_view remedy = {}) {
    if (count == 0) return;
    notes.push_back(target + " has no place for " + count_of(count, noun) + std::string(remedy));
  };

  Value kept = kept_value(*archive, options);
  lose(count_values(source.value()) - count_values(kept),
       source.format() == "burnpack" ? "scalar" : "value");
  archive->set_value(std::move(kept));
  if (options.format == Format::safetensors) {
    if (!options.param_ids) lose(count_ids(source), "parameter id", "; --param-ids keeps them");
  } else if (Status status = untie(*archive, notes); !status) {
    return std::move(status).error();
  }
  tell_copies(source, notes);
  const bool from_record = source.format() == "mpk";
  const bool to_record = options.format == Format::mpk;
  if (source.format() == "pytorch" && !to_record) note_origin(*archive);
  if (from_record != to_record) {
    const std::size_t dropped = drop_recorder_metadata(*archive);
    if (to_record) lose(dropped, "metadata string");
  }
  return archive;
}

void lift_limits_of_burn(Limits& limits) {
  for (std::uint64_t* limit : {&limits.burnpack_tensors, &limits.burnpack_tensor_bytes,
                               &limits.burnpack_file_bytes, &limits.burnpack_metadata_bytes}) {
    *limit = ~std::uint64_t{0};
  }
}

// What a user of the tool can do about an error, where the library cannot know.
std::string hint_for(const Error& error, const ConvertOptions& options, const Limits& limits) {
  if (error.code == ErrorCode::already_exists) return "choose another name, or say --force";
  // A name that is too long is named in the error; Burn has no limit of its own for names.
  const bool is_limit_of_burn = error.code == ErrorCode::limit_exceeded &&
                                options.format == Format::burnpack && !options.beyond_burn &&
                                error.tensor.size() <= limits.name_bytes;
  if (is_limit_of_burn) return "--beyond-burn writes a file that Burn's reader refuses";
  return error.hint;
}

Result<WriteReport> write_output(const Archive& archive, const ConvertOptions& options) {
  const std::string& path = options.writing.output;
  WriteOptions write_options;
  write_options.format = options.format;
  write_options.overwrite = options.writing.overwrite;
  write_options.sync = options.writing.sync;
  write_options.dry_run = options.writing.dry_run;
  write_options.max_shard_bytes = options.max_shard_bytes;
  write_options.param_ids = options.param_ids;
  write_options.burnpack = options.burn_release;
  write_options.record_precision = options.precision;
  write_options.limits.window_bytes = limits_of(options.reading).window_bytes;
  if (options.beyond_burn) lift_limits_of_burn(write_options.limits);

  std::optional<ProgressBar> bar;
  std::uint64_t shown = 0;
  write_options.progress = [&](std::uint64_t done, std::uint64_t total) {
    if (!bar) bar.emplace(path, total);
    bar->advance(done - shown);
    shown = done;
    return true;
  };
  Result<WriteReport> report = write(archive, path, write_options);
  if (report) return report;
  Error error = std::move(report).error();
  error.hint = hint_for(error, options, write_options.limits);
  return error;
}

// What a record compresses to is known when it is written.
bool is_size_known(const ConvertOptions& options) {
  return !options.writing.dry_run || options.format != Format::mpk ||
         !options.writing.output.ends_with(".gz");
}

std::string json_line(const std::string& path, const Archive& source, const ConvertOptions& options,
                      const WriteReport& report, const std::vector<std::string>& notes) {
  std::string out = "{\"schema\":1";
  append_json_field(out, "path", path);
  append_json_field(out, "output", options.writing.output);
  append_json_field(out, "format", format_name(options.format));
  append_json_field(out, "tensors", report.tensors);
  if (is_size_known(options)) append_json_field(out, "bytes", report.bytes);
  append_json_field(out, "files", report.files);
  append_json_key(out, "dry_run");
  out += options.writing.dry_run ? "true" : "false";
  append_json_field(out, "skipped", source.skipped());
  append_json_field(out, "notes", notes);
  return out + "}\n";
}

std::string text_line(const ConvertOptions& options, const WriteReport& report) {
  std::string line =
      display_text(options.writing.output) + ": " + count_of(report.tensors, "tensor");
  if (is_size_known(options)) line += ", " + format_size(report.bytes);
  line.append(", ").append(format_name(options.format));
  // The last file of several is their index.
  if (report.files.size() > 1) line += ", " + count_of(report.files.size() - 1, "shard");
  if (options.writing.dry_run) line += " (dry run, nothing written)";
  return line + "\n";
}

}  // namespace

ExitCode run(const ConvertOptions& options) {
  const bool json = options.reading.json;
  return for_each_input(
      options.reading, true,
      [&](const std::string& path, const Archive& source, std::string& out) -> Status {
        std::vector<std::string> notes;
        if (source.empty() && may_leave_out_tensors(options.reading)) return nothing_passes();
        Result<Archive> archive = prepare(source, options, notes);
        if (!archive) return std::move(archive).error();
        Result<WriteReport> report = write_output(*archive, options);
        if (!report) return std::move(report).error();

        notes.insert(notes.end(), report->notes.begin(), report->notes.end());
        if (json) {
          notes.insert(notes.begin(), source.notes().begin(), source.notes().end());
          out += json_line(path, source, options, *report, notes);
          return {};
        }
        print_notes(path, source);
        for (const std::string& note : notes) {
          print_message(display_text(options.writing.output) + ": note: " + note);
        }
        out += text_line(options, *report);
        return {};
      });
}

}  // namespace andiron::cli
