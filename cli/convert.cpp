// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron convert: the tensors of one weight file into another.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "andiron/convert.h"
#include "andiron/text.h"
#include "andiron/write.h"
#include "cli/inputs.h"
#include "cli/interruption.h"
#include "cli/json_output.h"
#include "cli/layouts.h"
#include "cli/output_form.h"
#include "cli/quantities.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace andiron::cli {

struct ConvertVerb final : ReadingVerb {
  WritingOptions writing;
  std::vector<CastRule> casts;
  std::optional<Layout> from_layout;
  std::optional<Layout> to_layout;
  std::string layers;  // a file of rules, or "guess": print the rules instead of converting

  VerbHelp help() const override {
    return {"convert", "Write the tensors to a file of another format",
            names_help +
                R"(The extension of the output chooses the format: .safetensors, .bpk, .mpk,
.mpk.gz, .npz or .npy, unless --to is given. Metadata, scalars and parameter ids
are written where the format can store them; notes report what is lost. Elements
keep their dtype unless you use --cast or write .mpk. Names and layouts stay
unless you use --to-layout: a PyTorch Linear keeps its [out, in] weight. The
output appears whole or not at all; with --force it may be the input itself.

Examples:
  andiron convert model.safetensors -o model.bpk
  andiron convert --burn-release 0.20 model.safetensors -o model.bpk
  andiron convert --cast '**=bf16' --cast '**.norm.*=f32' in.pt -o out.bpk
  andiron convert --max-shard-size 5GB model.bpk -o model.safetensors
  andiron convert --top-level-key model --sub '^net\.' '' in.mpk -o out.bpk
  andiron convert --to-layout burn --layers guess in.pt > layers.txt
  andiron convert --to-layout burn --layers layers.txt in.pt -o out.bpk
  andiron convert --dry-run --exclude 'optimizer.**' a.bpk -o b.safetensors)"};
  }

  void declare_own(OptionList& list) override;
  std::string settle() override;
  ExitCode run() override;

  Format format() const { return *writing.write.format; }
  bool guesses_layers() const { return layers == "guess"; }
  // The layout of the output. REQUIRES: --from-layout or --to-layout.
  Layout to() const { return to_layout ? *to_layout : other_than(*from_layout); }
  static Layout other_than(Layout layout) {
    return layout == Layout::burn ? Layout::pytorch : Layout::burn;
  }

 private:
  std::string mistake_in_layout() const;
  std::string settle_format();

  std::optional<OutputForm> to_;
  std::optional<BurnpackGeneration> burn_release_;
  std::optional<RecordPrecision> precision_;
  bool beyond_burn_ = false;  // write Burnpack files that Burn's reader refuses for their size
  bool param_ids_ = false;
};

template std::unique_ptr<Verb> make_verb<ConvertVerb>();

namespace {

void lift_limits_of_burn(Limits& limits) {
  for (std::uint64_t* limit : {&limits.burnpack_tensors, &limits.burnpack_tensor_bytes,
                               &limits.burnpack_file_bytes, &limits.burnpack_metadata_bytes}) {
    *limit = ~std::uint64_t{0};
  }
}

Error nothing_taken(const Archive& source) {
  return Error{.code = ErrorCode::unsupported,
               .message = "no tensor in the file can be read",
               .found = count_of(source.skipped().size(), "tensor") + " skipped",
               .hint = "'andiron info' says why"};
}

Result<Conversion> convert_for(const ConvertVerb& verb, const Archive& source) {
  ConvertOptions conversion{.format = verb.format(), .casts = verb.casts};
  if (!verb.layers.empty()) {
    Result<LayerRules> rules = read_layer_rules(verb.layers);
    if (!rules) return std::move(rules).error();
    conversion.layout = {verb.to(), *std::move(rules), verb.from_layout.has_value()};
  }
  return convert(source, conversion);
}

Result<WriteReport> write_output(const Archive& archive, const ConvertVerb& verb) {
  const std::string& path = verb.writing.output;
  WriteOptions write_options = verb.writing.write;
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
bool is_size_known(const ConvertVerb& verb) {
  return !verb.writing.write.dry_run || !verb.writing.output.ends_with(".gz");
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

std::string json_line(const std::string& path, const Archive& source, const ConvertVerb& verb,
                      const WriteReport& report, const std::vector<CastTensor>& casts,
                      const std::vector<Message>& notes) {
  std::string out = json_start(path);
  append_json_field(out, "output", verb.writing.output);
  append_json_field(out, "format", format_name(verb.format()));
  append_json_field(out, "tensors", report.tensors);
  if (is_size_known(verb)) append_json_field(out, "bytes", report.bytes);
  append_json_field(out, "files", report.files);
  append_json_key(out, "dry_run");
  out += verb.writing.write.dry_run ? "true" : "false";
  if (!casts.empty()) append_json_casts(out, casts, !verb.writing.write.dry_run);
  append_json_field(out, "skipped", source.skipped());
  append_json_notes(out, notes);
  return out + "}\n";
}

std::string text_line(const ConvertVerb& verb, const WriteReport& report, std::size_t casts) {
  std::string line = display_text(verb.writing.output) + ": " + count_of(report.tensors, "tensor");
  if (is_size_known(verb)) line += ", " + format_size(report.bytes);
  line.append(", ").append(format_name(verb.format()));
  // The last file of several is their index.
  if (report.files.size() > 1) line += ", " + count_of(report.files.size() - 1, "shard");
  if (casts != 0) line += ", " + format_count(casts) + " cast";
  if (verb.writing.write.dry_run) line += " (dry run, nothing written)";
  return line + "\n";
}

}  // namespace

void ConvertVerb::declare_own(OptionList& list) {
  list.inputs.count = 1;
  list.inputs.help = "A weight file, shard index or folder";
  list.inputs.other_count = "convert takes one INPUT; name the output with -o";
  declare_writing_options(list, writing);

  list.begin_group("Formats");
  Choices<OutputForm> forms;
  for (const OutputForm& form : output_forms()) forms.emplace_back(form.name, form);
  list.choice("--to", to_, forms,
              list_of_forms() + ";\nby default from the extension of the output")
      .value = "FORMAT";
  list.choice("--burn-release", burn_release_,
              Choices<BurnpackGeneration>{{"0.19", BurnpackGeneration::burn_0_19},
                                          {"0.20", BurnpackGeneration::burn_0_20},
                                          {"0.21", BurnpackGeneration::burn_0_21},
                                          {"0.22-pre", BurnpackGeneration::burn_0_22_pre},
                                          {"0.22", BurnpackGeneration::burn_0_22},
                                          {"0.23", BurnpackGeneration::burn_0_22}},
              "The Burn release to write a Burnpack file for;\n"
              "the newest by default");
  list.flag("--beyond-burn", beyond_burn_,
            "Write a Burnpack file even if Burn's reader\n"
            "refuses it: more than 100,000 tensors, 10 GiB\n"
            "per tensor, 100 GiB in all, 100 MiB of metadata");
  list.choice("--precision", precision_,
              Choices<RecordPrecision>{{"full", RecordPrecision::full},
                                       {"half", RecordPrecision::half},
                                       {"double", RecordPrecision::doubled}},
              "Dtypes of an .mpk record: f32 and i32,\n"
              "f16 and i16, or f64 and i64; full by default");
  const auto set_shard_size = [this](const std::string& text) {
    writing.write.max_shard_bytes = size_argument(text);
    if (writing.write.max_shard_bytes == 0) throw WrongValue{"must be more than 0"};
  };
  list.value("--max-shard-size", "SIZE", set_shard_size,
             "Split SafeTensors into files with at most\n"
             "this many bytes of tensor data, with an index");
  const auto add_cast = [this](const std::string& text) {
    Result<CastRule> rule = CastRule::parse(text);
    if (!rule) throw WrongValue{rule.error().to_string()};
    casts.push_back(*std::move(rule));
  };
  list.values("--cast", "GLOB=DTYPE", add_cast,
              "Change dtypes, as in '**=f16': floats to floats,\n"
              "integers to integers; a whole name casts any\n"
              "tensor. The last match counts (repeatable)");
  const Choices<Layout> layouts = {{"pytorch", Layout::pytorch}, {"burn", Layout::burn}};
  list.choice("--from-layout", from_layout, layouts,
              "Whose names and layouts the input has;\n"
              "by default the other of the two");
  list.choice("--to-layout", to_layout, layouts,
              "Transpose Linear weights and rename the\n"
              "parameters of norms; needs --layers");
  list.value("--layers", "RULES", layers,
             "A file that says which parts are Linear, norms\n"
             "...; 'guess' prints one to correct, with reasons");
  list.flag(
      "--param-ids", param_ids_,
      "Keep parameter ids in SafeTensors, in the\nmetadata; Burnpack and mpk always keep them");
}

std::string ConvertVerb::settle() {
  std::string mistake = mistake_in_layout();
  if (!mistake.empty() || guesses_layers()) return mistake;
  return writing.output.empty() ? "--output is required" : settle_format();
}

std::string ConvertVerb::mistake_in_layout() const {
  if (layers.empty()) {
    if (!from_layout && !to_layout) return {};
    return std::string(to_layout ? "--to-layout" : "--from-layout") +
           ": which parts are Linear, norms and so on? '--layers guess' prints rules to correct; "
           "then give their file";
  }
  if (!to_layout && !(from_layout && guesses_layers())) {
    return "--layers: say with --to-layout what it is for";
  }
  if (from_layout == to_layout) return "--from-layout and --to-layout are the same";
  if (guesses_layers() && !writing.output.empty()) {
    return "--layers guess prints rules and writes nothing; leave --output out";
  }
  return {};
}

std::string ConvertVerb::settle_format() {
  const std::optional<OutputForm> by_name = form_of(writing.output);
  const std::optional<OutputForm> chosen = to_ ? to_ : by_name;
  if (!chosen) {
    return "--output: cannot tell the format from " + in_quotes(writing.output) +
           "; use a name that ends in " + list_of_endings() + ", or --to";
  }
  // Of a format with several forms, the output's name tells which.
  const bool is_other_form = by_name && by_name->format == chosen->format
                                 ? by_name->ending != chosen->ending
                                 : chosen->ending != format_info(chosen->format).endings.front();
  if (!chosen->ending.empty() && is_other_form) {
    return "--to: " + chosen->name + " needs an output whose name ends in " +
           std::string(chosen->ending);
  }
  WriteOptions& write = writing.write;
  write.format = chosen->format;
  if (param_ids_ && chosen->format == Format::safetensors) {
    write.settings = SafetensorsSettings{.param_ids = true};
  }
  if (burn_release_) write.settings = BurnpackSettings{.release = *burn_release_};
  if (precision_) write.settings = MpkSettings{.precision = *precision_};
  write.limits.window_bytes = reading.open.limits.window_bytes;
  if (beyond_burn_) lift_limits_of_burn(write.limits);

  const auto not_for = [&](const std::string& option, std::string_view others) {
    return option + " is for " + std::string(others) + ", not for " +
           std::string(format_name(chosen->format));
  };
  const std::tuple<bool, const char*, Format> particular[] = {
      {burn_release_.has_value(), "--burn-release", Format::burnpack},
      {beyond_burn_, "--beyond-burn", Format::burnpack},
      {precision_.has_value(), "--precision", Format::mpk}};
  for (const auto& [is_given, option, format] : particular) {
    if (is_given && format != chosen->format) return not_for(option, format_name(format));
  }
  if (!casts.empty() && chosen->format == Format::mpk) {
    return "--cast is not for mpk, which has one precision for the whole file; use --precision";
  }
  if (write.max_shard_bytes == 0 || format_info(chosen->format).has_shards) return {};
  return not_for("--max-shard-size", list_of_sharded());
}

ExitCode ConvertVerb::run() {
  const bool json = reading.json;
  if (guesses_layers()) {
    return for_each_input(
        reading, true,
        [&](const std::string& path, const Archive& source, std::string& out) -> Status {
          const Layout from = other_than(to());
          out += json ? guessed_layers_json(path, source, from) : guessed_layers_text(source, from);
          return {};
        });
  }
  return for_each_input(
      reading, true,
      [&](const std::string& path, const Archive& source, std::string& out) -> Status {
        if (source.empty() && !reading.filter.is_empty()) return nothing_passes();
        if (source.empty() && !source.skipped().empty()) return nothing_taken(source);
        Result<Conversion> conversion = convert_for(*this, source);
        if (!conversion) return std::move(conversion).error();
        const Result<WriteReport> report = write_output(conversion->archive, *this);
        if (!report) return report.error();

        std::vector<Message> notes = std::move(conversion->notes);
        for (std::string& lost : conversion->cast_losses()) notes.push_back(std::move(lost));
        notes.insert(notes.end(), report->notes.begin(), report->notes.end());
        if (json) {
          notes.insert(notes.begin(), source.notes().begin(), source.notes().end());
          out += json_line(path, source, *this, *report, conversion->casts, notes);
          return {};
        }
        print_notes(path, source);
        for (const Message& note : notes) {
          print_message(display_text(writing.output) + ": note: " + note.to_string(Wording::flags));
        }
        out += text_line(*this, *report, conversion->casts.size());
        return {};
      });
}

}  // namespace andiron::cli
