// SPDX-License-Identifier: MIT OR Apache-2.0
// What each proposed setting does, and how the front ends call it.
// Tested by tests/load/proposed_step_test.cpp
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "andiron/apply.h"
#include "andiron/proposal.h"
#include "src/core/text/literal.h"

namespace andiron::inline v1 {
namespace {

using detail::literal;

// A call in the words of each front end; empty where it has no such setting.
struct Call {
  std::string cpp;
  std::string flags = {};
  std::string javascript = {};
};

struct Settings {
  NameOptions& names;
  ApplyOptions& options;
};

std::string in_cpp(std::string_view text) { return literal(text, Wording::cpp); }
std::string in_shell(std::string_view text) { return literal(text, Wording::flags); }
const char* in_cpp(bool is_set) { return is_set ? "true" : "false"; }

// A raw string literal needs a delimiter that does not occur in it.
std::string raw_literal(std::string_view text) {
  std::string delimiter;
  while (text.find(")" + delimiter + "\"") != std::string_view::npos) delimiter += '-';
  return "R\"" + delimiter + "(" + std::string(text) + ")" + delimiter + "\"";
}

// ---- The settings, one after the other ----

void make(const TakeKey& setting, const Settings& settings) {
  settings.names.top_level_key = setting.key;
}
Call call_of(const TakeKey& setting) {
  return {".with_top_level_key(" + in_cpp(setting.key) + ")",
          "--top-level-key " + in_shell(setting.key), "topLevelKey: " + in_cpp(setting.key)};
}

void make(const FoldWeightNorm&, const Settings& settings) {
  settings.names.fold_weight_norm = true;
}
Call call_of(const FoldWeightNorm&) {
  return {".fold_weight_norm(true)", "--fold-weight-norm", "foldWeightNorm: true"};
}

void make(const RenameKeys& setting, const Settings& settings) {
  settings.names.remapper.add_pattern(setting.pattern, setting.replacement);
}
Call call_of(const RenameKeys& setting) {
  const std::string replacement = in_cpp(setting.replacement);
  return {".with_key_remapping(" + raw_literal(setting.pattern) + ", " + replacement + ")",
          "--sub " + in_shell(setting.pattern) + " " + in_shell(setting.replacement),
          "rename: [[" + in_cpp(setting.pattern) + ", " + replacement + "]]"};
}

void make(const TensorEdit& edit, const Settings& settings) {
  settings.names.edits.push_back(edit);
}
std::string list_of_literals(std::span<const std::string> texts) {
  std::string list = "{";
  for (const std::string& text : texts) list += (list.size() == 1 ? "" : ", ") + in_cpp(text);
  return list + "}";
}
std::string list_of_numbers(std::span<const std::uint64_t> numbers) {
  std::string list = "{";
  for (const std::uint64_t number : numbers) {
    list += (list.size() == 1 ? "" : ", ") + std::to_string(number);
  }
  return list + "}";
}
// A list of the tool cannot hold all names.
std::string flag_of(const TensorEdit& edit) {
  if (edit.kind == TensorEdit::Kind::transpose) return "--transpose " + in_shell(edit.pattern);
  std::string list;
  for (std::size_t i = 0; i < edit.names.size(); ++i) {
    if (edit.names[i].find_first_of(",=") != std::string::npos) return {};
    list += (i == 0 ? "" : ",") + edit.names[i];
    if (!edit.shares.empty()) list += "=" + std::to_string(edit.shares[i]);
  }
  const bool is_split = edit.kind == TensorEdit::Kind::split;
  return (is_split ? "--split " : "--join ") + in_shell(edit.pattern) + " " + in_shell(list);
}
Call call_of(const TensorEdit& edit) {
  const std::string pattern = raw_literal(edit.pattern);
  const std::span<const std::string> names = edit.names;
  switch (edit.kind) {
    case TensorEdit::Kind::split: {
      const std::string shares = edit.shares.empty() ? "" : ", 0, " + list_of_numbers(edit.shares);
      return {".split_tensors(" + pattern + ", " + list_of_literals(names) + shares + ")",
              flag_of(edit)};
    }
    case TensorEdit::Kind::join:
      return {".join_tensors(" + pattern + ", " + list_of_literals(names.first(names.size() - 1)) +
                  ", " + in_cpp(names.back()) + ")",
              flag_of(edit)};
    case TensorEdit::Kind::transpose:
      break;
  }
  return {".transpose_tensors(" + pattern + ")", flag_of(edit)};
}

void make(const CloseGaps& setting, const Settings& settings) {
  settings.names.close_gaps = setting.is_set;
}
Call call_of(const CloseGaps& setting) {
  return {".map_indices_contiguous(" + std::string(in_cpp(setting.is_set)) + ")",
          setting.is_set ? "--contiguous-indices" : "",
          "contiguousIndices: " + std::string(in_cpp(setting.is_set))};
}

void make(const ExcludePaths& setting, const Settings& settings) {
  settings.options.filter.exclude_regex(setting.pattern);
}
// The glob for '^fc\.' is 'fc.**', and for '^fc$' 'fc'; empty if none can say it.
std::string glob_for(std::string_view pattern) {
  const bool is_module = pattern.ends_with("\\.");
  if (!pattern.starts_with('^') || (!is_module && !pattern.ends_with('$'))) return {};
  pattern.remove_prefix(1);
  pattern.remove_suffix(is_module ? 2 : 1);
  std::string glob;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    glob += pattern[i];
  }
  if (glob.find_first_of("*?[]{}\\") != std::string::npos) return {};
  return is_module ? glob + ".**" : glob;
}
Call call_of(const ExcludePaths& setting) {
  const std::string glob = glob_for(setting.pattern);
  return {".exclude_regex(" + raw_literal(setting.pattern) + ")",
          glob.empty() ? "" : "--exclude " + in_shell(glob)};
}

void make(const UseAdapter& setting, const Settings& settings) {
  settings.options.adapter = detail::adapter_of(setting);
}
Call call_of(const UseAdapter& setting) {
  const bool is_from = setting.kind == UseAdapter::Kind::pytorch_to_burn;
  const bool is_to = setting.kind == UseAdapter::Kind::burn_to_pytorch;
  return {std::string(".with_from_adapter(") +
          (is_from ? "PyTorchToBurn"
           : is_to ? "BurnToPyTorch"
                   : "Identity") +
          "Adapter())"};
}

void make(const SkipVariants& setting, const Settings& settings) {
  settings.options.skip_enum_variants = setting.is_set;
}
Call call_of(const SkipVariants& setting) {
  return {".skip_enum_variants(" + std::string(in_cpp(setting.is_set)) + ")"};
}

void make(const AllowUnused&, const Settings& settings) { settings.options.allow_unused = true; }
Call call_of(const AllowUnused&) { return {".allow_unused(true)"}; }

}  // namespace

AnyAdapter detail::adapter_of(const UseAdapter& setting) {
  switch (setting.kind) {
    case UseAdapter::Kind::pytorch_to_burn:
      return PyTorchToBurnAdapter();
    case UseAdapter::Kind::burn_to_pytorch:
      return BurnToPyTorchAdapter();
    case UseAdapter::Kind::identity:
      break;
  }
  return IdentityAdapter();
}

std::string ProposedStep::to_string(Wording wording) const {
  Call call = std::visit([](const auto& held) { return call_of(held); }, setting);
  switch (wording) {
    case Wording::flags:
      return std::move(call.flags);
    case Wording::javascript:
      return std::move(call.javascript);
    case Wording::cpp:
      break;
  }
  return std::move(call.cpp);
}

void apply_proposal(const Proposal& proposal, NameOptions& names, ApplyOptions& options) {
  for (const ProposedStep& step : proposal.steps) {
    std::visit([&](const auto& setting) { make(setting, {names, options}); }, step.setting);
    if (step.is_guess) options.guesses.push_back(step.to_string());
  }
}

}  // namespace andiron::inline v1
