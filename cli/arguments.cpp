// SPDX-License-Identifier: MIT OR Apache-2.0
// The command line. The only file that includes CLI11, which is slow to compile.
#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "andiron/version.h"
#include "cli/help_texts.h"
#include "cli/output_form.h"
#include "cli/quantities.h"
#include "cli/workforce.h"

namespace andiron::cli {
namespace {

constexpr std::uint64_t least_memory = 64 * 1024;
constexpr unsigned most_threads = 1024;

unsigned usual_threads() { return std::clamp(std::thread::hardware_concurrency(), 1u, 8u); }

std::string in_quotes(const std::string& text) { return "'" + text + "'"; }

// CLI11 takes values like [0-9], {} and %% for lists of its own, and loses "--" after the first
// input, depending on its version. Text that it must leave alone carries a mark in front while it
// parses.
constexpr char literal_mark = '\x01';

// The arguments, last one first, as CLI11 wants them.
std::vector<std::string> marked_arguments(int argc, const char* const* argv) {
  std::vector<std::string> arguments;
  bool only_inputs_follow = false;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (!only_inputs_follow && argument == "--") {
      only_inputs_follow = true;
      continue;
    }
    const bool has_value = !only_inputs_follow && argument.starts_with("--");
    const std::size_t value = has_value ? argument.find('=') + 1 : 0;
    const bool misleading = value < argument.size() &&
                            std::string_view("[{%").find(argument[value]) != std::string_view::npos;
    if (only_inputs_follow || misleading) argument.insert(value, 1, literal_mark);
    arguments.push_back(std::move(argument));
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

void unmark(std::string& text) { std::erase(text, literal_mark); }

std::uint64_t size_argument(const std::string& option, const std::string& text) {
  const std::optional<std::uint64_t> size = parse_size(text);
  if (!size) {
    throw CLI::ValidationError(option,
                               in_quotes(text) + " is not a size; sizes look like 512M or 1.5GiB");
  }
  return *size;
}

// From 1 to `most`.
unsigned long count_argument(const std::string& option, const std::string& text,
                             unsigned long most) {
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  const unsigned long count = digits && !text.empty() && text.size() < 10 ? std::stoul(text) : 0;
  if (count < 1 || count > most) {
    throw CLI::ValidationError(
        option, in_quotes(text) + " is not a number from 1 to " + std::to_string(most));
  }
  return count;
}

double tolerance_argument(const std::string& option, const std::string& text) {
  const std::optional<double> number = parse_number(text);
  if (!number) {
    throw CLI::ValidationError(option,
                               in_quotes(text) + " is not a tolerance; tolerances look like 1e-5");
  }
  return *number;
}

template <class Choice>
using Choices = std::vector<std::pair<std::string, Choice>>;

// An option whose value is one of a few words.
template <class Choice>
CLI::Option* add_choice(CLI::App& verb, const std::string& name, Choice& target,
                        const Choices<Choice>& choices, const std::string& description) {
  std::string words;
  for (const auto& [word, choice] : choices) words += (words.empty() ? "" : "|") + word;
  const auto choose = [name, words, choices, &target](const std::string& text) {
    for (const auto& [word, choice] : choices) {
      if (word != text) continue;
      target = choice;
      return;
    }
    throw CLI::ValidationError(name, in_quotes(text) + " is not one of " + words);
  };
  return verb.add_option_function<std::string>(name, choose, description)->option_text(words);
}

void add_sort(CLI::App& verb, SortKey& sort) {
  add_choice<SortKey>(verb, "--sort", sort,
                      {{"name", SortKey::name},
                       {"size", SortKey::size},
                       {"offset", SortKey::offset},
                       {"dtype", SortKey::dtype}},
                      "Order of the tensors; by name by default");
}

// An option that may be repeated, and takes one value each time: the inputs follow.
CLI::Option* add_repeatable(CLI::App& verb, const std::string& name,
                            const std::function<void(const std::string& value)>& take,
                            const std::string& description) {
  const auto take_all = [take](std::vector<std::string> values) {
    for (std::string& value : values) {
      unmark(value);
      take(value);
    }
  };
  return verb.add_option_function<std::vector<std::string>>(name, take_all, description)
      ->allow_extra_args(false);
}

// "A,B,C", or with sizes "A=4,B=1,C=1".
TensorEdit edit_argument(TensorEdit::Kind kind, std::string pattern, std::string_view list) {
  TensorEdit edit;
  edit.kind = kind;
  edit.pattern = std::move(pattern);
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string_view name = list.substr(begin, end - begin);
    const std::size_t sign = kind == TensorEdit::Kind::split ? name.rfind('=') : name.npos;
    if (sign != name.npos) {
      std::uint64_t share = 0;
      const char* const last = name.data() + name.size();
      const auto [next, error] = std::from_chars(name.data() + sign + 1, last, share);
      if (error != std::errc() || next != last || share == 0) {
        throw CLI::ValidationError("--split",
                                   "the size in '" + std::string(name) + "' is no number");
      }
      edit.shares.push_back(share);
      name = name.substr(0, sign);
    }
    edit.names.emplace_back(name);
    begin = end + 1;
  }
  if (edit.names.size() < 2) {
    throw CLI::ValidationError(kind == TensorEdit::Kind::split ? "--split" : "--join",
                               "give two names or more, with commas between them");
  }
  if (!edit.shares.empty() && edit.shares.size() != edit.names.size()) {
    throw CLI::ValidationError("--split", "give a size for each name, or for none");
  }
  return edit;
}

// CLI11 takes options in the order in which they were added, not in that of the command line.
void transpose_first(std::vector<TensorEdit>& edits) {
  std::stable_partition(edits.begin(), edits.end(), [](const TensorEdit& edit) {
    return edit.kind == TensorEdit::Kind::transpose;
  });
}

void add_selection_options(CLI::App& verb, ReadingOptions& reading) {
  const std::string group = "Tensors and names";
  PathFilter& filter = reading.filter;
  NameOptions& names = reading.names;
  add_repeatable(
      verb, "--include", [&filter](const std::string& glob) { filter.with_glob(glob); },
      "Take matching tensors; * matches within one\ndotted segment, ** any depth (repeatable)")
      ->option_text("GLOB")
      ->group(group);
  add_repeatable(
      verb, "--exclude", [&filter](const std::string& glob) { filter.exclude_glob(glob); },
      "Leave out matching tensors, even if included\n(repeatable)")
      ->option_text("GLOB")
      ->group(group);
  add_repeatable(
      verb, "--regex", [&filter](const std::string& regex) { filter.with_regex(regex); },
      "Take tensors whose name contains a match\n(repeatable)")
      ->option_text("RE")
      ->group(group);
  const auto set_key = [&names](std::string key) {
    unmark(key);
    if (key.empty()) throw CLI::ValidationError("--top-level-key", "the key must not be empty");
    names.top_level_key = std::move(key);
  };
  verb.add_option_function<std::string>("--top-level-key", set_key,
                                        "Take the tensors under this key, and drop the\n"
                                        "key from their names")
      ->option_text("KEY")
      ->group(group);
  using Substitutions = std::vector<std::pair<std::string, std::string>>;
  const auto add_rules = [&names](Substitutions rules) {
    for (auto& [pattern, replacement] : rules) {
      unmark(pattern);
      unmark(replacement);
      names.remapper.add_pattern(pattern, replacement);
    }
  };
  verb.add_option_function<Substitutions>(
          "--sub", add_rules,
          "Rename by regular expression; $1 is a group,\n${1} before a letter, digit or _ "
          "(repeatable,\nin order)")
      ->allow_extra_args(false)
      ->option_text("PATTERN REPLACEMENT")
      ->group(group);
  const auto add_edits = [&names](TensorEdit::Kind kind) {
    return [&names, kind](Substitutions edits) {
      for (auto& [pattern, list] : edits) {
        unmark(pattern);
        unmark(list);
        names.edits.push_back(edit_argument(kind, std::move(pattern), list));
      }
    };
  };
  verb.add_option_function<Substitutions>("--split", add_edits(TensorEdit::Kind::split),
                                          "Cut tensors in equal parts, with names for them:\n"
                                          "'\\.qkv\\.' '.q.,.k.,.v.'; a size may follow:\n"
                                          "'.q.=4,.k.=1,.v.=1' (repeatable)")
      ->allow_extra_args(false)
      ->option_text("PATTERN NAMES")
      ->group(group);
  verb.add_option_function<Substitutions>("--join", add_edits(TensorEdit::Kind::join),
                                          "Join each match with others, and name the\n"
                                          "result: '\\.q\\.' '.k.,.v.,.qkv.' (repeatable)")
      ->allow_extra_args(false)
      ->option_text("PATTERN NAMES")
      ->group(group);
  add_repeatable(
      verb, "--transpose",
      [&names](const std::string& pattern) {
        names.edits.push_back(TensorEdit::transpose(pattern));
      },
      "Transpose matching matrices (repeatable)")
      ->option_text("PATTERN")
      ->group(group);
  verb.add_flag("--contiguous-indices", names.close_gaps,
                "Close gaps in numbered names: 0 2 4 become 0 1 2")
      ->group(group);
  verb.add_flag(
          "--fold-weight-norm", names.fold_weight_norm,
          "Compute weights from the parts that PyTorch's\nweight norm keeps: weight_g and weight_v")
      ->group(group);
}

// What a file may ask for where memory is bounded.
void bound_memory(Limits& limits, std::uint64_t most) {
  for (std::uint64_t* limit : {&limits.header_bytes, &limits.burnpack_metadata_bytes,
                               &limits.index_bytes, &limits.inflated_bytes, &limits.memory_bytes}) {
    *limit = std::min(*limit, most);
  }
  limits.window_bytes = std::min(limits.window_bytes, most / window_share);
}

void add_file_options(CLI::App& verb, ReadingOptions& reading) {
  const std::string group = "Reading";
  add_choice<IoMode>(verb, "--io", reading.open.io,
                     {{"auto", IoMode::automatic},
                      {"mmap", IoMode::mmap},
                      {"pread", IoMode::pread},
                      {"direct", IoMode::direct}},
                     "How to read files")
      ->group(group);
  const auto set_threads = [&reading](const std::string& text) {
    reading.threads = static_cast<unsigned>(count_argument("--threads", text, most_threads));
  };
  verb.add_option_function<std::string>("--threads", set_threads,
                                        "Threads of hash, stat and diff; by default one\n"
                                        "per processor, at most 8")
      ->option_text("N")
      ->group(group);
  const auto set_memory = [&reading](const std::string& text) {
    reading.max_memory = size_argument("--max-memory", text);
    if (*reading.max_memory < least_memory) {
      throw CLI::ValidationError("--max-memory", in_quotes(text) + " is less than 64K");
    }
    bound_memory(reading.open.limits, *reading.max_memory);
  };
  verb.add_option_function<std::string>("--max-memory", set_memory,
                                        "The most tensor data to hold at once, the\n"
                                        "largest header and inflated file, and the most\n"
                                        "memory for names and values; at least 64K.\n"
                                        "K M G and KiB MiB GiB are powers of 1024,\n"
                                        "KB MB GB of 1000")
      ->option_text("SIZE")
      ->group(group);
  verb.add_flag_callback(
          "--numpy-arrays",
          [&reading] { reading.open.settings = PytorchSettings{.numpy_arrays = true}; },
          "Also take the NumPy arrays in a PyTorch file")
      ->option_text(" ")
      ->group(group);
  verb.add_flag("--verify", reading.open.verify,
                "Compare the checksums of everything that is read\n"
                "from zip archives (PyTorch, .npz); exit with 1\n"
                "if one does not match")
      ->group(group);
  CLI::Option* strict = verb.add_flag_callback(
      "--strict", [&reading] { reading.open.strictness = Strictness::strict; },
      "Refuse unknown dtypes; in Burnpack, also\nduplicate names and overlapping data");
  CLI::Option* lenient = verb.add_flag_callback(
      "--lenient", [&reading] { reading.open.strictness = Strictness::lenient; },
      "Accept harmless oddities, with a note");
  strict->group(group)->option_text(" ")->excludes(lenient);
  lenient->group(group)->option_text(" ");
}

void add_output_options(CLI::App& verb, ReadingOptions& reading) {
  verb.add_flag("--json", reading.json, "One JSON object per input, on one line");
  verb.add_flag("--wide", reading.wide, "Do not shorten or wrap lines");
  add_choice<ColorChoice>(verb, "--color", reading.color,
                          {{"auto", ColorChoice::automatic},
                           {"always", ColorChoice::always},
                           {"never", ColorChoice::never}},
                          "Color in tables; auto respects NO_COLOR");
}

CLI::App& add_verb(CLI::App& app, const std::string& name, const std::string& description,
                   const std::string& footer, ReadingOptions& reading) {
  CLI::App& verb = *app.add_subcommand(name, description);
  verb.footer(names_footer + footer);
  reading.threads = usual_threads();
  const auto set_inputs = [&reading](const std::vector<std::string>& inputs) {
    reading.inputs = inputs;
    for (std::string& input : reading.inputs) unmark(input);
  };
  verb.add_option_function<std::vector<std::string>>("INPUT", set_inputs,
                                                     "Weight files, shard indexes or folders")
      ->required()
      ->option_text(" ");
  add_output_options(verb, reading);
  return verb;
}

void add_writing_options(CLI::App& verb, WritingOptions& writing) {
  const std::string group = "Writing";
  const auto set_output = [&writing](std::string path) {
    unmark(path);
    writing.output = std::move(path);
  };
  verb.add_option_function<std::string>("-o,--output", set_output, "The file to write")
      ->option_text("OUT")
      ->group(group);
  WriteOptions& write = writing.write;
  verb.add_flag("-f,--force", write.overwrite, "Replace an existing file")->group(group);
  verb.add_flag("--dry-run", write.dry_run, "Check everything, but write nothing")->group(group);
  verb.add_flag_callback(
          "--no-sync", [&write] { write.sync = false; }, "Do not wait until the data is on disk")
      ->option_text(" ")
      ->group(group);
}

// What the command line says of a conversion, before it is known whether it makes sense.
struct ConvertArguments {
  ConvertOptions options;
  std::optional<OutputForm> to;
  BurnpackSettings burnpack;
  MpkSettings mpk;
  bool param_ids = false;
  CLI::App* verb = nullptr;
  CLI::Option* burn_release = nullptr;
  CLI::Option* beyond_burn = nullptr;
  CLI::Option* precision = nullptr;
  CLI::Option* max_shard_size = nullptr;
  std::optional<Layout> from_layout;
  std::optional<Layout> to_layout;
  std::string layers;
};

void add_convert(CLI::App& app, ConvertArguments& arguments) {
  ConvertOptions& options = arguments.options;
  CLI::App& verb = add_verb(app, "convert", "Write the tensors to a file of another format",
                            convert_footer, options.reading);
  verb.get_option("INPUT")->expected(1)->description("A weight file, shard index or folder");
  add_writing_options(verb, options.writing);

  const std::string group = "Formats";
  Choices<std::optional<OutputForm>> forms;
  for (const OutputForm& form : output_forms()) forms.emplace_back(form.name, form);
  add_choice<std::optional<OutputForm>>(
      verb, "--to", arguments.to, forms,
      list_of_forms() + ";\nby default from the extension of the output")
      ->option_text("FORMAT")
      ->group(group);
  arguments.burn_release =
      add_choice<BurnpackGeneration>(verb, "--burn-release", arguments.burnpack.release,
                                     {{"0.19", BurnpackGeneration::burn_0_19},
                                      {"0.20", BurnpackGeneration::burn_0_20},
                                      {"0.21", BurnpackGeneration::burn_0_21},
                                      {"0.22-pre", BurnpackGeneration::burn_0_22_pre},
                                      {"0.22", BurnpackGeneration::burn_0_22},
                                      {"0.23", BurnpackGeneration::burn_0_22}},
                                     "The Burn release to write a Burnpack file for;\n"
                                     "the newest by default")
          ->group(group);
  arguments.beyond_burn = verb.add_flag("--beyond-burn", options.beyond_burn,
                                        "Write a Burnpack file even if Burn's reader\n"
                                        "refuses it: more than 100,000 tensors, 10 GiB\n"
                                        "per tensor, 100 GiB in all, 100 MiB of metadata")
                              ->group(group);
  arguments.precision = add_choice<RecordPrecision>(verb, "--precision", arguments.mpk.precision,
                                                    {{"full", RecordPrecision::full},
                                                     {"half", RecordPrecision::half},
                                                     {"double", RecordPrecision::doubled}},
                                                    "Dtypes of an .mpk record: f32 and i32,\n"
                                                    "f16 and i16, or f64 and i64; full by default")
                            ->group(group);
  WriteOptions& write = options.writing.write;
  const auto set_shard_size = [&write](const std::string& text) {
    write.max_shard_bytes = size_argument("--max-shard-size", text);
    if (write.max_shard_bytes == 0) {
      throw CLI::ValidationError("--max-shard-size", "must be more than 0");
    }
  };
  arguments.max_shard_size =
      verb.add_option_function<std::string>("--max-shard-size", set_shard_size,
                                            "Split SafeTensors into files with at most\n"
                                            "this many bytes of tensor data, with an index")
          ->option_text("SIZE")
          ->group(group);
  const auto add_cast = [&options](const std::string& text) {
    Result<CastRule> rule = CastRule::parse(text);
    if (!rule) throw CLI::ValidationError("--cast", rule.error().to_string());
    options.casts.push_back(*std::move(rule));
  };
  add_repeatable(verb, "--cast", add_cast,
                 "Change dtypes, as in '**=f16': floats to floats,\n"
                 "integers to integers; a whole name casts any\n"
                 "tensor. The last match counts (repeatable)")
      ->option_text("GLOB=DTYPE")
      ->group(group);
  const Choices<std::optional<Layout>> layouts = {{"pytorch", Layout::pytorch},
                                                  {"burn", Layout::burn}};
  add_choice<std::optional<Layout>>(verb, "--from-layout", arguments.from_layout, layouts,
                                    "Whose names and layouts the input has;\n"
                                    "by default the other of the two")
      ->group(group);
  add_choice<std::optional<Layout>>(verb, "--to-layout", arguments.to_layout, layouts,
                                    "Transpose Linear weights and rename the\n"
                                    "parameters of norms; needs --layers")
      ->group(group);
  const auto set_layers = [&arguments](std::string path) {
    unmark(path);
    arguments.layers = std::move(path);
  };
  verb.add_option_function<std::string>("--layers", set_layers,
                                        "A file that says which parts are Linear, norms\n"
                                        "...; 'guess' prints one to correct, with reasons")
      ->option_text("RULES")
      ->group(group);
  verb.add_flag(
          "--param-ids", arguments.param_ids,
          "Keep parameter ids in SafeTensors, in the\nmetadata; Burnpack and mpk always keep them")
      ->group(group);
  arguments.verb = &verb;
}

void lift_limits_of_burn(Limits& limits) {
  for (std::uint64_t* limit : {&limits.burnpack_tensors, &limits.burnpack_tensor_bytes,
                               &limits.burnpack_file_bytes, &limits.burnpack_metadata_bytes}) {
    *limit = ~std::uint64_t{0};
  }
}

// Decides on the layout; the text says what makes no sense, if something does.
std::string settle_layout(ConvertArguments& arguments) {
  const std::optional<Layout> from = arguments.from_layout;
  const std::optional<Layout> to = arguments.to_layout;
  const bool is_guess = arguments.layers == "guess";
  if (!from && !to && arguments.layers.empty()) return {};
  if (!arguments.layers.empty() && !to && !(from && is_guess)) {
    return "--layers: say with --to-layout what it is for";
  }
  if (arguments.layers.empty()) {
    return std::string(to ? "--to-layout" : "--from-layout") +
           ": which parts are Linear, norms and so on? '--layers guess' prints rules to correct; "
           "then give their file";
  }
  if (from == to) return "--from-layout and --to-layout are the same";
  if (is_guess && !arguments.options.writing.output.empty()) {
    return "--layers guess prints rules and writes nothing; leave --output out";
  }
  const Layout goal = to ? *to : *from == Layout::burn ? Layout::pytorch : Layout::burn;
  arguments.options.layout =
      LayoutChange{.from = goal == Layout::burn ? Layout::pytorch : Layout::burn,
                   .to = goal,
                   .is_given = from.has_value(),
                   .layers = arguments.layers};
  return {};
}

// Decides on the format; the text says what makes no sense, if something does.
std::string settle_format(ConvertArguments& arguments) {
  ConvertOptions& options = arguments.options;
  const std::string& output = options.writing.output;
  const std::optional<OutputForm> by_name = form_of(output);
  const std::optional<OutputForm> chosen = arguments.to ? arguments.to : by_name;
  if (!chosen) {
    return "--output: cannot tell the format from " + in_quotes(output) +
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
  WriteOptions& write = options.writing.write;
  write.format = chosen->format;
  if (arguments.param_ids && chosen->format == Format::safetensors) {
    write.settings = SafetensorsSettings{.param_ids = true};
  }
  if (arguments.burn_release->count() != 0) write.settings = arguments.burnpack;
  if (arguments.precision->count() != 0) write.settings = arguments.mpk;
  write.limits.window_bytes = options.reading.open.limits.window_bytes;
  if (options.beyond_burn) lift_limits_of_burn(write.limits);

  const std::pair<const CLI::Option*, Format> particular[] = {
      {arguments.burn_release, Format::burnpack},
      {arguments.beyond_burn, Format::burnpack},
      {arguments.precision, Format::mpk}};
  const auto not_for = [&](const CLI::Option& option, std::string_view others) {
    return option.get_name() + " is for " + std::string(others) + ", not for " +
           std::string(format_name(chosen->format));
  };
  for (const auto& [option, format] : particular) {
    if (option->count() == 0 || chosen->format == format) continue;
    return not_for(*option, format_name(format));
  }
  if (!options.casts.empty() && chosen->format == Format::mpk) {
    return "--cast is not for mpk, which has one precision for the whole file; use --precision";
  }
  if (arguments.max_shard_size->count() == 0 || format_info(chosen->format).has_shards) return {};
  return not_for(*arguments.max_shard_size, list_of_sharded());
}

void add_reading_options(CLI::App& verb, ReadingOptions& reading) {
  add_selection_options(verb, reading);
  add_file_options(verb, reading);
}

void add_stat(CLI::App& app, StatOptions& stat) {
  constexpr std::size_t usual_bins = 16;
  constexpr unsigned long most_bins = 10'000;
  CLI::App& verb = add_verb(app, "stat", "Statistics of each tensor: range, mean, NaN, infinity",
                            stat_footer, stat.reading);
  add_sort(verb, stat.sort);
  verb.add_flag("--check", stat.check,
                "Only look for NaN and infinity: name the tensors\n"
                "that have them, and exit with 1 if there are any");
  verb.add_flag_callback(
          "--histogram",
          [&stat] {
            if (stat.bins == 0) stat.bins = usual_bins;
          },
          "Also show how the elements of each tensor are\ndistributed, in 16 bins")
      ->option_text(" ");
  const auto set_bins = [&stat](const std::string& text) {
    stat.bins = count_argument("--bins", text, most_bins);
  };
  verb.add_option_function<std::string>("--bins", set_bins, "The same, in N bins")
      ->option_text("N");
  add_reading_options(verb, stat.reading);
}

void add_side(CLI::App& verb, const std::string& letter, const std::string& which,
              DiffOptions::Side& side) {
  const std::string group = "Names of one side";
  const auto set_key = [&side](std::string key) {
    unmark(key);
    side.top_level_key = std::move(key);
  };
  verb.add_option_function<std::string>("--top-level-key-" + letter, set_key,
                                        "As --top-level-key, for the " + which + " input alone")
      ->option_text("KEY")
      ->group(group);
  using Substitutions = std::vector<std::pair<std::string, std::string>>;
  const auto add_rules = [&side](Substitutions rules) {
    for (auto& [pattern, replacement] : rules) {
      unmark(pattern);
      unmark(replacement);
      side.substitutions.emplace_back(pattern, replacement);
    }
  };
  verb.add_option_function<Substitutions>("--sub-" + letter, add_rules,
                                          "As --sub, and after it, for the " + which +
                                              " input\n"
                                              "alone (repeatable)")
      ->allow_extra_args(false)
      ->option_text("PATTERN REPLACEMENT")
      ->group(group);
}

CLI::App& add_diff(CLI::App& app, DiffOptions& diff) {
  CLI::App& verb =
      add_verb(app, "diff", "Compare the tensors of two weight files", diff_footer, diff.reading);
  verb.get_option("INPUT")->expected(2)->description(
      "The two weight files, shard indexes or\nfolders");
  CompareOptions& compare = diff.compare;
  const auto add_tolerance = [&verb](const std::string& name, double& tolerance,
                                     const std::string& description) {
    const auto set = [name, &tolerance](const std::string& text) {
      tolerance = tolerance_argument(name, text);
    };
    verb.add_option_function<std::string>(name, set, description)->option_text("NUMBER");
  };
  add_tolerance("--atol", compare.absolute_tolerance,
                "Elements are close if |a - b| is at most this,");
  add_tolerance("--rtol", compare.relative_tolerance,
                "plus this times |b|; close tensors count as equal");
  verb.add_flag_callback(
          "--nan-differs", [&compare] { compare.nan_equals_nan = false; }, "NaN differs from NaN")
      ->option_text(" ");
  verb.add_flag("--ignore-dtype", compare.ignore_dtype,
                "Judge tensors of other dtypes by their numbers");
  verb.add_flag_callback(
          "--no-renames", [&compare] { compare.find_renamed = false; },
          "Do not look for renamed tensors, which reads\nthose that only one side has")
      ->option_text(" ");
  verb.add_flag("--metadata", compare.metadata,
                "Also compare metadata, and the values beside the\ntensors (configs, scalars)");
  verb.add_flag("--all", diff.all, "List every difference, not the first ten of a\nkind");
  verb.add_flag("-q,--quiet", diff.quiet, "Print nothing; the exit code tells");
  add_side(verb, "a", "first", diff.a);
  add_side(verb, "b", "second", diff.b);
  add_reading_options(verb, diff.reading);
  return verb;
}

UsageError usage_error(const CLI::App& app, std::string message) {
  const auto verbs = app.get_subcommands();
  message += "; try 'andiron ";
  if (!verbs.empty()) message += verbs.front()->get_name() + " ";
  message += "--help'";
  unmark(message);
  return {std::move(message)};
}

}  // namespace

Arguments parse_arguments(int argc, const char* const* argv) {
  CLI::App app(tool_description, "andiron");
  app.footer(tool_footer);
  app.get_formatter()->column_width(32);
  // At most one: an input may be called "info".
  app.require_subcommand(0, 1);
  bool version = false;
  app.add_flag("--version", version, "Print the version and exit");

  LsOptions ls;
  CLI::App& ls_verb =
      add_verb(app, "ls", "List tensors: name, dtype, shape, size", ls_footer, ls.reading);
  add_sort(ls_verb, ls.sort);
  ls_verb.add_flag("--offsets", ls.offsets, "Also show where each tensor is in its file");
  ls_verb.add_flag("--renames", ls.renames,
                   "Also show the name in the file and after each\n"
                   "step that changes it, and the tensors that are\n"
                   "not under --top-level-key");
  add_reading_options(ls_verb, ls.reading);

  InfoOptions info;
  CLI::App& info_verb = add_verb(app, "info", "Summarize a file: sizes, dtypes, metadata, shards",
                                 info_footer, info.reading);
  info_verb.add_flag("--all", info.all, "List every tensor with its offset");
  info_verb.add_flag("--hex", info.hex, "Show the bytes of a Burnpack header, field by\nfield");
  add_reading_options(info_verb, info.reading);

  ConfigOptions config;
  CLI::App& config_verb = add_verb(
      app, "config", "Show configs and other values beside the tensors", "", config.reading);
  config_verb.footer(config_footer);
  const auto set_config_key = [&config](std::string key) {
    unmark(key);
    config.key = std::move(key);
  };
  config_verb
      .add_option_function<std::string>("--key", set_config_key,
                                        "The part to show, as in 'config.optimizer';\n"
                                        "everything by default")
      ->option_text("KEY");
  add_reading_options(config_verb, config.reading);

  PlanOptions plan;
  CLI::App& plan_verb = add_verb(app, "plan", "Check whether a file fits a model, and how it would",
                                 plan_footer, plan.reading);
  const auto set_model = [&plan](std::string path) {
    unmark(path);
    plan.model = std::move(path);
  };
  plan_verb
      .add_option_function<std::string>("--model", set_model,
                                        "A weight file of the model, or a listing of its\n"
                                        "names, dtypes and shapes")
      ->required()
      ->option_text("MODEL");
  add_reading_options(plan_verb, plan.reading);

  HashOptions hash;
  CLI::App& hash_verb = add_verb(app, "hash", "SHA-256 of each tensor", hash_footer, hash.reading);
  add_sort(hash_verb, hash.sort);
  hash_verb.add_flag("--full", hash.full, "Print whole hashes in the format of sha256sum");
  add_reading_options(hash_verb, hash.reading);

  StatOptions stat;
  add_stat(app, stat);
  DiffOptions diff;
  const CLI::App& diff_verb = add_diff(app, diff);

  ConvertArguments convert;
  add_convert(app, convert);
  add_reading_options(*convert.verb, convert.options.reading);

  try {
    app.parse(marked_arguments(argc, argv));
  } catch (const CLI::CallForHelp&) {
    return ShowText{app.help()};
  } catch (const CLI::ParseError& error) {
    if (convert.verb->get_option("INPUT")->count() > 1) {
      return usage_error(app, "convert takes one INPUT; name the output with -o");
    }
    if (diff_verb.parsed() && diff_verb.get_option("INPUT")->count() != 2) {
      return usage_error(app, "diff takes two INPUTs");
    }
    return usage_error(app, error.what());
  }
  if (version) return ShowText{"andiron " ANDIRON_VERSION "\n"};
  for (ReadingOptions* reading :
       {&ls.reading, &info.reading, &config.reading, &plan.reading, &hash.reading, &stat.reading,
        &diff.reading, &convert.options.reading}) {
    transpose_first(reading->names.edits);
  }
  if (ls_verb.parsed()) return ls;
  if (info_verb.parsed()) return info;
  if (config_verb.parsed()) return config;
  if (plan_verb.parsed()) return plan;
  if (hash_verb.parsed()) return hash;
  if (app.got_subcommand("stat")) return stat;
  if (app.got_subcommand("diff")) return diff;
  if (convert.verb->parsed()) {
    std::string mistake = settle_layout(convert);
    const bool writes = !convert.options.layout || !convert.options.layout->is_guess();
    if (mistake.empty() && writes && convert.options.writing.output.empty()) {
      mistake = "--output is required";
    }
    if (mistake.empty() && writes) mistake = settle_format(convert);
    if (!mistake.empty()) return usage_error(app, std::move(mistake));
    return convert.options;
  }
  return ShowUsage{app.help()};
}

}  // namespace andiron::cli
