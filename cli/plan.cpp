// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron plan: whether a file fits a model, and which settings would make it fit.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "andiron/text.h"
#include "cli/inputs.h"
#include "cli/json_output.h"
#include "cli/model_listing.h"
#include "cli/report.h"
#include "cli/verb.h"

namespace andiron::cli {

struct PlanVerb final : ReadingVerb {
  std::string model;  // a weight file or a listing

  VerbHelp help() const override {
    return {
        "plan", "Check whether a file fits a model, and how it would",
        names_help + R"(Compares names, shapes and dtypes; reads no tensor. If they do not match, it
searches for settings under which they do, and prints them as flags, each with
its reason. A guess says that it is one. MODEL is a weight file, or a listing:
what 'andiron ls --wide' or 'andiron ls --json' prints, or JSON with a shape
for each name. --include and --exclude select parameters of the model.

Exit codes: 0 it fits, 1 it does not.

Examples:
  andiron plan checkpoint.pt --model mine.safetensors
  andiron plan checkpoint.pt --model names.txt
  andiron plan checkpoint.pt --model mine.safetensors --top-level-key state_dict
  andiron plan --json checkpoint.pt --model mine.safetensors | jq -r .flags[0])"};
  }

  void declare_own(OptionList& list) override {
    list.value("--model", "MODEL", model,
               "A weight file of the model, or a listing of its\n"
               "names, dtypes and shapes")
        .is_required = true;
  }

  ExitCode run() override;
};

template std::unique_ptr<Verb> make_verb<PlanVerb>();

namespace {

bool takes_none(const ApplyResult& result) {
  return result.applied.empty() && result.missing.empty() && result.errors.empty() &&
         !result.skipped.empty();
}

bool fits(const ApplyResult& result) {
  return result.missing.empty() && result.errors.empty() && !takes_none(result);
}

std::string flags_of(const Proposal& proposal) {
  std::string flags;
  for (const ProposedStep& step : proposal.steps) {
    const std::string flag = step.to_string(Wording::flags);
    if (!flag.empty()) flags += (flags.empty() ? "" : " ") + flag;
  }
  return flags;
}

void append_some_names(std::string& out, const std::string& what,
                       const std::vector<std::string>& names) {
  constexpr std::size_t shown = 5;
  if (names.empty()) return;
  out += "\n" + what + " (" + std::to_string(names.size()) + "):\n";
  for (std::size_t i = 0; i < std::min(shown, names.size()); ++i) {
    out += "  " + display_line(names[i]) + "\n";
  }
  if (names.size() > shown) out += "  ... and " + std::to_string(names.size() - shown) + " more\n";
}

// Whether it leaves parameters out and changes nothing else.
bool only_leaves_out(const Proposal& proposal) {
  return std::all_of(proposal.steps.begin(), proposal.steps.end(),
                     [](const ProposedStep& step) { return step.sets<ExcludePaths>(); });
}

std::string heading_of(const Proposal& proposal, bool is_first) {
  const std::string count =
      std::to_string(proposal.matched) + " of " + std::to_string(proposal.wanted) + " parameters";
  if (only_leaves_out(proposal)) {
    return count + (proposal.matched == 1 ? " has a tensor" : " have tensors") +
           "; a load that leaves out the others succeeds";
  }
  return std::string(is_first ? "These settings feed " : "Or these, which feed ") + count +
         (proposal.is_averaged ? " with averaged weights" : "") +
         (proposal.is_guess() ? "; guesses are marked, check them" : "");
}

// `has_names`: names are changed by flags already.
void append_proposal(std::string& out, const std::string& path, const Proposal& proposal,
                     bool is_first, bool has_names) {
  out += "\n" + heading_of(proposal, is_first) + ":\n";
  std::size_t width = 0;
  bool is_all_flags = true;
  for (const ProposedStep& step : proposal.steps) {
    const std::size_t size = step.to_string(Wording::flags).size();
    width = std::max(width, std::min<std::size_t>(size, 60));
    is_all_flags = is_all_flags && size != 0;
  }
  for (const ProposedStep& step : proposal.steps) {
    std::string flag = display_line(step.to_string(Wording::flags));
    if (flag.empty()) {
      out += "  (in C++: " + display_line(step.to_string()) + ")\n";
      continue;
    }
    flag.resize(std::max(flag.size(), width), ' ');
    out += "  " + flag + "  " + (step.is_guess ? "a guess, " : "") + step.why + "\n";
  }
  const std::string flags = flags_of(proposal);
  if (only_leaves_out(proposal) || !is_all_flags) return;
  out += std::string("To write a file with the model's names") +
         (has_names ? ", with these flags after those that you gave" : "") +
         ":\n  andiron convert " + display_line(shell_word(path)) + " -o OUTPUT.safetensors " +
         display_line(flags) + "\n";
}

void append_text(std::string& out, const std::string& path, const std::string& model,
                 const Plan& plan, bool has_names) {
  const ApplyResult& result = plan.result;
  const std::size_t wanted =
      result.applied.size() + result.missing.size() + result.errors.size() + result.skipped.size();
  out += display_line(path) + (fits(result) ? " fits " : " does not fit ") + display_line(model) +
         (fits(result) && plan.is_too_short ? ", which seems too short for it: " : ": ") +
         std::to_string(result.applied.size()) + " of " + std::to_string(wanted) +
         " parameters get a tensor";
  if (!result.skipped.empty()) out += ", " + std::to_string(result.skipped.size()) + " left out";
  out += "\n";
  if (takes_none(result)) out += "Note: --include and --exclude leave out all parameters\n";
  for (const Message& note : result.notes) {
    out += "Note: " + display_line(note.to_string(Wording::flags)) + "\n";
  }
  for (std::size_t i = 0; i < result.proposals.size(); ++i) {
    append_proposal(out, path, result.proposals[i], i == 0, has_names);
  }
  std::vector<std::string> missing;
  missing.reserve(result.missing.size());
  for (const MissingTensor& one : result.missing) {
    missing.push_back(
        one.path + (one.did_you_mean.empty() ? "" : "  (did you mean " + one.did_you_mean + "?)"));
  }
  append_some_names(out, "Missing in the file", missing);
  std::vector<std::string> wrong;
  wrong.reserve(result.errors.size());
  for (const Error& error : result.errors) {
    wrong.push_back(error.tensor + ": " + error.found + " in the file, " + error.expected +
                    " in the model");
  }
  append_some_names(out, "Of another shape or dtype", wrong);
  append_some_names(out, "Not used by the model", result.unused);
}

void append_plan_json(std::string& out, const std::string& path, const std::string& model,
                      const ApplyResult& result) {
  out += json_start(path);
  append_json_field(out, "model", model);
  append_json_key(out, "fits");
  out += fits(result) ? "true" : "false";
  append_json_key(out, "report");
  out += to_json(result.to_value());
  std::vector<std::string> flags;
  flags.reserve(result.proposals.size());
  for (const Proposal& proposal : result.proposals) flags.push_back(flags_of(proposal));
  append_json_field(out, "flags", flags);
  out += "}\n";
}

}  // namespace

ExitCode PlanVerb::run() {
  // A plan has its own name stages, and its filter is for the model.
  const NameOptions names = std::exchange(reading.names, {});
  const PathFilter filter = std::exchange(reading.filter, {});
  if (Status status = names.status(); !status) {
    print_error(status.error());
    return ExitCode::usage;
  }
  const Result<std::vector<ListedParameter>> listed = read_model(model, reading.open);
  // As JSON, each input says so.
  if (!listed && !reading.json) {
    print_error(listed.error());
    return exit_code_of(listed.error());
  }
  const bool has_names = !names.remapper.is_empty() || !names.edits.empty() ||
                         !names.top_level_key.empty() || names.fold_weight_norm || names.close_gaps;
  bool all_fit = true;
  const auto render = [&](const std::string& path, Result<Archive> opened,
                          std::string& out) -> Status {
    if (!listed) return listed.error();
    if (!opened) return std::move(opened).error();
    const Result<Plan> planned = plan_listing(*listed, *opened, names, {.filter = filter});
    if (!planned) {
      // A name that is listed twice is the model's fault.
      Error error = planned.error();
      if (error.file.empty() && error.code == ErrorCode::name_collision) error.file = model;
      return error;
    }
    all_fit = all_fit && fits(planned->result);
    if (reading.json) {
      append_plan_json(out, path, model, planned->result);
    } else {
      append_text(out, path, model, *planned, has_names);
    }
    return {};
  };
  const ExitCode code = for_each_input_opened(reading, reading.json, render);
  return combine(code, all_fit ? ExitCode::ok : ExitCode::findings);
}

}  // namespace andiron::cli
