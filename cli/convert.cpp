// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron convert: the tensors of one weight file into another.
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "andiron/convert.h"
#include "andiron/text.h"
#include "andiron/write.h"
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

Error nothing_taken(const Archive& source) {
  return Error{.code = ErrorCode::unsupported,
               .message = "no tensor in the file can be read",
               .found = count_of(source.skipped().size(), "tensor") + " skipped",
               .hint = "'andiron info' says why"};
}

Result<Conversion> convert_for(const ConvertOptions& options, const Archive& source) {
  andiron::ConvertOptions conversion{.format = options.format(), .casts = options.casts};
  if (options.layout) {
    Result<LayerRules> rules = read_layer_rules(options.layout->layers);
    if (!rules) return std::move(rules).error();
    conversion.layout = {options.layout->to, *std::move(rules), options.layout->is_given};
  }
  return convert(source, conversion);
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

// Appends ,"casts":[{"name":"NAME","from":"f32","to":"f16","overflowed":0,"underflowed":0},...].
void append_json_casts(std::string& out, const std::vector<CastTensor>& tensors, bool written) {
  append_json_key(out, "casts");
  out += '[';
  for (const CastTensor& tensor : tensors) {
    if (out.back() != '[') out += ',';
    out += "{\"name\":";
    append_json_string(out, tensor.name);
    append_json_field(out, "from", dtype_name(tensor.from));
    append_json_field(out, "to", dtype_name(tensor.to));
    if (written) {
      append_json_field(out, "overflowed", tensor.loss->overflowed.load());
      append_json_field(out, "underflowed", tensor.loss->underflowed.load());
    }
    out += '}';
  }
  out += ']';
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
        if (source.empty() && !options.reading.filter.is_empty()) return nothing_passes();
        if (source.empty() && !source.skipped().empty()) return nothing_taken(source);
        Result<Conversion> conversion = convert_for(options, source);
        if (!conversion) return std::move(conversion).error();
        const Result<WriteReport> report = write_output(conversion->archive, options);
        if (!report) return report.error();

        std::vector<std::string> notes = std::move(conversion->notes);
        for (std::string& lost : conversion->cast_losses()) notes.push_back(std::move(lost));
        notes.insert(notes.end(), report->notes.begin(), report->notes.end());
        if (json) {
          notes.insert(notes.begin(), source.notes().begin(), source.notes().end());
          out += json_line(path, source, options, *report, conversion->casts, notes);
          return {};
        }
        print_notes(path, source);
        for (const std::string& note : notes) {
          print_message(display_text(options.writing.output) + ": note: " + in_flags(note));
        }
        out += text_line(options, *report, conversion->casts.size());
        return {};
      });
}

}  // namespace andiron::cli
