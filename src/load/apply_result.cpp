// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/apply_result_test.cpp
#include "andiron/apply.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <utility>

#include "andiron/text.h"
#include "src/core/text/in_quotes.h"

namespace andiron::inline v1 {
namespace {

constexpr std::size_t shown = ApplyResult::shown;
constexpr std::string_view bar = "\u2502";
constexpr std::string_view dash = "\u2500";

std::string dashes(std::size_t count) {
  std::string line;
  for (std::size_t i = 0; i < count; ++i) line += dash;
  return line;
}

std::string error_text(const Error& error) {
  const std::string path = detail::in_quotes(display_text(error.tensor));
  const std::string both = ": expected " + error.expected + ", found " + error.found;
  switch (error.code) {
    case ErrorCode::shape_mismatch:
      return "Shape mismatch for " + path + both;
    case ErrorCode::dtype_mismatch:
      return "DType mismatch for " + path + both;
    case ErrorCode::adapter_failed:
      return "Adapter error for " + path + ": " + error.message;
    default: {
      Error unnamed = error;
      unnamed.tensor.clear();
      return "Load error for " + path + ": " + unnamed.description();
    }
  }
}

// Lines that start with a bar.
class Summary {
 public:
  void line(std::string_view text = {}) {
    text_ += bar;
    if (!text.empty()) (text_ += ' ') += text;
    text_ += '\n';
  }
  void heading(std::string_view title) {
    line();
    ((text_ += "\u251c\u2500 ") += title) += '\n';
    line();
  }
  void count(std::string_view label, std::size_t number, std::string_view unit) {
    line(std::string(label) + std::to_string(number) + " " + std::string(unit));
  }
  // The first items, each through `show`, and how many follow.
  template <class Items, class Show>
  void list(const Items& items, Show show) {
    for (std::size_t i = 0; i < std::min(items.size(), shown); ++i) show(items[i]);
    if (items.size() > shown) {
      line("... and " + std::to_string(items.size() - shown) + " more");
    }
  }
  // Text of several lines.
  void block(std::string_view text, std::string_view indent) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      line(std::string(indent) + display_line(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  std::string text_;
};

// Whether the path has the name of a variant in it, which paths without such names lack.
bool has_variant_name(const MissingTensor& tensor) {
  const std::vector<std::string>& kinds = tensor.container.kinds();
  const auto dots = std::count(tensor.path.begin(), tensor.path.end(), '.');
  return static_cast<std::size_t>(dots) + 1 >= kinds.size() &&
         std::any_of(kinds.begin(), kinds.end(),
                     [](const std::string& kind) { return kind.starts_with("Enum:"); });
}

void explain_variants(Summary& summary, const std::vector<MissingTensor>& missing) {
  const auto affected = std::count_if(missing.begin(), missing.end(), has_variant_name);
  if (affected == 0) return;
  summary.line("Of these paths, " + std::to_string(affected) +
               " contain the name of an enum variant.");
  summary.line("If the source has another variant, choose it in the module:");
  summary.line("  choose_variants(model, store)");
  summary.line("PyTorch's names have no variants ('field.BaseConv.weight' is 'field.weight'):");
  summary.line("  .skip_enum_variants(true)");
  summary.line("  .with_key_remapping(R\"(field\\.(\\w+))\", \"field.BaseConv.$1\")");
  summary.line();
}

Value list_of(const std::vector<std::string>& names) {
  return ValueList(names.begin(), names.end());
}

Value list_of(const std::vector<Message>& notes) {
  ValueList list;
  for (const Message& note : notes) list.emplace_back(note.to_string());
  return list;
}

}  // namespace

std::string ApplyResult::to_string() const {
  Summary summary;
  summary.text_ = "\u250c\u2500 Tensor Loading Summary " + dashes(25) + "\n";
  summary.line();
  summary.count("\u2713 Successfully applied: ", applied.size(), "tensors");
  summary.count("\u2298 Skipped (filtered):  ", skipped.size(), "tensors");
  summary.count("\u2717 Missing in source:    ", missing.size(), "tensors");
  summary.count("? Unused in target:     ", unused.size(), "tensors");
  summary.count("! Errors:               ", errors.size(), "errors");

  if (!missing.empty()) {
    summary.heading("Missing Tensors (in the model, but not in the source)");
    explain_variants(summary, missing);
    summary.line("First 10 missing tensors:");
    summary.list(missing, [&](const MissingTensor& tensor) {
      summary.line("  \u2022 " + display_text(tensor.path));
      if (!tensor.did_you_mean.empty()) {
        summary.line("      Did you mean: '" + display_text(tensor.did_you_mean) + "'?");
      }
    });
  }
  if (!unused.empty()) {
    summary.heading("Unused Tensors (in the source, but not in the model)");
    summary.line("First 10 unused tensors:");
    summary.list(unused,
                 [&](const std::string& name) { summary.line("  \u2022 " + display_text(name)); });
  }
  if (!errors.empty()) {
    summary.heading("Errors");
    summary.list(errors, [&](const Error& error) {
      summary.line("  \u26a0\ufe0f " + display_line(error_text(error)));
    });
  }
  if (!notes.empty()) {
    summary.heading("Notes");
    summary.list(notes,
                 [&](const Message& note) { summary.line("  " + display_line(note.to_string())); });
  }
  if (!proposals.empty()) {
    summary.heading("Suggested settings");
    for (const Proposal& proposal : proposals) {
      summary.line(display_line(proposal.text) + ":");
      summary.block(proposal.code, "    ");
    }
  }
  summary.line();
  return summary.text_ + "\u2514" + dashes(51);
}

Value ApplyResult::to_value() const {
  ValueList missing_list;
  for (const MissingTensor& tensor : missing) {
    missing_list.emplace_back(ValueDict{{"path", tensor.path},
                                        {"container", tensor.container.path()},
                                        {"did_you_mean", tensor.did_you_mean}});
  }
  ValueList error_list;
  for (const Error& error : errors) {
    error_list.emplace_back(ValueDict{{"code", std::string(code_name(error.code))},
                                      {"path", error.tensor},
                                      {"message", error.message},
                                      {"found", error.found},
                                      {"expected", error.expected},
                                      {"hint", error.hint.to_string()}});
  }
  ValueList proposal_list;
  for (const Proposal& proposal : proposals) {
    ValueList steps;
    for (const ProposedStep& step : proposal.steps) {
      steps.emplace_back(
          ValueDict{{"code", step.to_string()}, {"why", step.why}, {"guess", step.is_guess}});
    }
    proposal_list.emplace_back(ValueDict{{"text", proposal.text},
                                         {"code", proposal.code},
                                         {"matched", static_cast<std::int64_t>(proposal.matched)},
                                         {"wanted", static_cast<std::int64_t>(proposal.wanted)},
                                         {"guess", proposal.is_guess()},
                                         {"steps", std::move(steps)}});
  }
  return ValueDict{{"applied", list_of(applied)},          {"skipped", list_of(skipped)},
                   {"missing", std::move(missing_list)},   {"unused", list_of(unused)},
                   {"errors", std::move(error_list)},      {"notes", list_of(notes)},
                   {"proposals", std::move(proposal_list)}};
}

std::ostream& operator<<(std::ostream& out, const ApplyResult& result) {
  return out << result.to_string();
}

}  // namespace andiron::inline v1
