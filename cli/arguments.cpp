// SPDX-License-Identifier: MIT OR Apache-2.0
// The command line. The only file that includes CLI11, which is slow to compile.
#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/version.h"

namespace andiron::cli {
namespace {

constexpr const char* tool_summary =
    "Neural-network weight files: list, inspect, check, compare and convert their tensors.";

constexpr const char* tool_footer =
    R"(An INPUT is a weight file (SafeTensors, PyTorch, Burnpack, NumPy, a Burn
record), an index of shards (*.safetensors.index.json, *.bin.index.json), or a
folder with an index, exactly one model or a distributed checkpoint. Formats are
recognized by content. Nothing in a PyTorch file is executed.

Exit codes: 0 success, 1 findings, 2 the operation failed, 3 unsupported or not
a weight file, 4 wrong usage. With several inputs all are tried.

Examples:
  andiron ls model.safetensors
  andiron ls --sort size --include 'encoder.**.weight' model.safetensors
  andiron info Llama-3-8B/
  andiron ls --top-level-key state_dict checkpoint.ckpt
  andiron config --key hyper_parameters checkpoint.ckpt
  andiron plan checkpoint.pt --model mine.safetensors
  andiron convert pytorch_model.bin -o model.safetensors
  andiron hash --threads 8 model.safetensors
  andiron stat --check model.safetensors
  andiron diff model.pt model.safetensors
  andiron convert model.safetensors -o model.bpk
  andiron ls --json *.safetensors | jq -r '.tensors[].name'
  andiron ls --sub '^model\.' '' --contiguous-indices model.safetensors)";

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

std::string unmarked(std::string text) {
  std::erase(text, literal_mark);
  return text;
}

ExitCode report_mistake(const CLI::App& app, std::string message) {
  const auto verbs = app.get_subcommands();
  message += "; try 'andiron ";
  if (!verbs.empty()) message += verbs.front()->get_name() + " ";
  print_message(unmarked(std::move(message)) + "--help'");
  return ExitCode::usage;
}

void add_inputs(CLI::App& parser, const Inputs& inputs) {
  const auto set = [&inputs](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) inputs.target->push_back(unmarked(text));
  };
  CLI::Option* const added =
      parser.add_option_function<std::vector<std::string>>("INPUT", set, inputs.help)
          ->required()
          ->option_text(" ");
  if (inputs.count != 0) added->expected(static_cast<int>(inputs.count));
}

CLI::Option* add_by_kind(CLI::App& parser, const Option& option) {
  const auto take = [&option](const std::string& value = {}, const std::string& second = {}) {
    try {
      option.take(unmarked(value), unmarked(second));
    } catch (const WrongValue& wrong) {
      const std::string long_name = option.names.substr(option.names.rfind(',') + 1);
      throw CLI::ValidationError(long_name, wrong.message);
    }
  };
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  switch (option.takes) {
    case Option::Takes::nothing:
      return parser.add_flag_callback(option.names, [take] { take(); }, option.help);
    case Option::Takes::value:
      return parser.add_option_function<std::string>(option.names, take, option.help);
    case Option::Takes::values: {
      const auto take_all = [take](const std::vector<std::string>& values) {
        for (const std::string& value : values) take(value);
      };
      return parser
          .add_option_function<std::vector<std::string>>(option.names, take_all, option.help)
          ->allow_extra_args(false);
    }
    case Option::Takes::pairs: {
      const auto take_all = [take](const Pairs& pairs) {
        for (const auto& [first, second] : pairs) take(first, second);
      };
      return parser.add_option_function<Pairs>(option.names, take_all, option.help)
          ->allow_extra_args(false);
    }
  }
  return nullptr;
}

void add_option(CLI::App& parser, const Option& option) {
  CLI::Option* const added = add_by_kind(parser, option);
  // CLI11 would put a word of its own where there is none.
  added->group(option.group)->option_text(option.value.empty() ? " " : option.value);
  added->required(option.is_required);
  if (!option.excludes.empty()) added->excludes(parser.get_option(option.excludes));
}

void add_verb(CLI::App& app, const Verb& verb) {
  const VerbHelp help = verb.help();
  CLI::App& parser = *app.add_subcommand(help.name, help.summary);
  parser.footer(help.footer);
  if (verb.options.inputs.target != nullptr) add_inputs(parser, verb.options.inputs);
  for (const Option& option : verb.options.all()) add_option(parser, option);
}

// Whether there are inputs, but not so many as wanted. That one is missing, CLI11 says itself.
bool has_other_count(const CLI::App& parser, const Inputs& inputs) {
  if (inputs.count == 0) return false;
  const std::size_t given = parser.get_option("INPUT")->count();
  return given != inputs.count && (given != 0 || inputs.count != 1);
}

}  // namespace

std::variant<std::unique_ptr<Verb>, ExitCode> parse_arguments(int argc, const char* const* argv) {
  CLI::App app(tool_summary, "andiron");
  app.footer(tool_footer);
  app.get_formatter()->column_width(32);
  // At most one: an input may be called "info".
  app.require_subcommand(0, 1);
  bool version = false;
  app.add_flag("--version", version, "Print the version and exit");
  std::vector<std::unique_ptr<Verb>> verbs = Verbs::make_all();
  for (const std::unique_ptr<Verb>& verb : verbs) add_verb(app, *verb);

  std::string mistake;
  try {
    app.parse(marked_arguments(argc, argv));
  } catch (const CLI::CallForHelp&) {
    return print(app.help());
  } catch (const CLI::ParseError& error) {
    mistake = error.what();
  }
  if (mistake.empty() && version) return print("andiron " ANDIRON_VERSION "\n");
  for (std::unique_ptr<Verb>& verb : verbs) {
    const CLI::App& parser = *app.get_subcommand(verb->help().name);
    if (!parser.parsed()) continue;
    const Inputs& inputs = verb->options.inputs;
    if (!mistake.empty() && has_other_count(parser, inputs)) mistake = inputs.other_count;
    if (mistake.empty()) mistake = verb->settle();
    if (mistake.empty()) return std::move(verb);
  }
  if (!mistake.empty()) return report_mistake(app, std::move(mistake));
  std::fputs(app.help().c_str(), stderr);
  return ExitCode::usage;
}

}  // namespace andiron::cli
