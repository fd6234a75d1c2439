// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/proposals_test.cpp
#include "src/proposals/recipe.h"

#include <algorithm>
#include <utility>

#include "andiron/names.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/load/fit.h"
#include "src/names/training_names.h"
#include "src/proposals/model_root.h"
#include "src/proposals/module_views.h"

namespace andiron::inline v1::detail {
namespace {

// A raw string literal needs a delimiter that does not occur in it.
std::string raw_literal(std::string_view text) {
  std::string delimiter;
  while (text.find(")" + delimiter + "\"") != std::string_view::npos) delimiter += '-';
  return "R\"" + delimiter + "(" + std::string(text) + ")" + delimiter + "\"";
}

std::string literal(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string_view name_of(AdapterChoice adapter) {
  switch (adapter) {
    case AdapterChoice::pytorch_to_burn:
      return "PyTorchToBurnAdapter()";
    case AdapterChoice::burn_to_pytorch:
      return "BurnToPyTorchAdapter()";
    case AdapterChoice::identity:
      return "IdentityAdapter()";
    case AdapterChoice::present:
      break;
  }
  return {};
}

// What a pattern without groups and classes matches.
std::string unescaped(std::string_view pattern) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    text += pattern[i];
  }
  return text;
}

std::string in_words(const NameRule& rule) {
  const std::string_view pattern = rule.pattern;
  if (pattern == "^") return "adding " + in_quotes(rule.replacement) + " before names";
  const bool is_strip = rule.replacement.empty() && pattern.starts_with('^') &&
                        pattern.find("(\\d+)") == std::string_view::npos;
  if (is_strip) return "stripping " + in_quotes(unescaped(pattern.substr(1))) + " from names";
  return "renaming " + in_quotes(rule.pattern) + " to " + in_quotes(rule.replacement);
}

// Why a rule is believed.
std::string reason_for(const NameRule& rule) {
  constexpr const char* by_chance = "by order or shape alone";
  if (!rule.reason.empty()) return rule.reason;
  if (rule.evidence == Evidence::square) return "nothing tells whether the matrix is transposed";
  if (rule.is_guess) return by_chance;
  switch (rule.evidence) {
    case Evidence::name:
      return "the same names below";
    case Evidence::words:
      return "words that mean the same, or what stands beside it";
    case Evidence::numbers:
      return "the same place in a numbered list";
    case Evidence::shape:
      return "the only place of that shape";
    case Evidence::rest:
      return "all others of that shape are taken";
    case Evidence::order:
    case Evidence::square:
      break;
  }
  return by_chance;
}

std::string list_of_literals(std::span<const std::string> texts) {
  std::string list = "{";
  for (const std::string& text : texts) list += (list.size() == 1 ? "" : ", ") + literal(text);
  return list + "}";
}

std::string list_of_numbers(std::span<const std::uint64_t> numbers) {
  std::string list = "{";
  for (const std::uint64_t number : numbers) {
    list += (list.size() == 1 ? "" : ", ") + std::to_string(number);
  }
  return list + "}";
}

// The call of a step, as C++.
std::string code_of(const ProposedStep& step) {
  using StepKind = ProposedStep::Kind;
  const std::vector<std::string>& given = step.arguments;
  const std::span<const std::string> rest = std::span(given).subspan(1);
  switch (step.kind) {
    case StepKind::top_level_key:
      return ".with_top_level_key(" + literal(given[0]) + ")";
    case StepKind::fold_weight_norm:
      return ".fold_weight_norm(" + given[0] + ")";
    case StepKind::rename:
      return ".with_key_remapping(" + raw_literal(given[0]) + ", " + literal(given[1]) + ")";
    case StepKind::split: {
      const std::string shares = step.shares.empty() ? "" : ", 0, " + list_of_numbers(step.shares);
      return ".split_tensors(" + raw_literal(given[0]) + ", " + list_of_literals(rest) + shares +
             ")";
    }
    case StepKind::join:
      return ".join_tensors(" + raw_literal(given[0]) + ", " +
             list_of_literals(rest.first(rest.size() - 1)) + ", " + literal(rest.back()) + ")";
    case StepKind::transpose:
      return ".transpose_tensors(" + raw_literal(given[0]) + ")";
    case StepKind::close_gaps:
      return ".map_indices_contiguous(" + given[0] + ")";
    case StepKind::exclude:
      return ".exclude_regex(" + raw_literal(given[0]) + ")";
    case StepKind::adapter:
      return ".with_from_adapter(" + given[0] + ")";
    case StepKind::skip_variants:
      return ".skip_enum_variants(" + given[0] + ")";
    case StepKind::allow_unused:
      return ".allow_unused(" + given[0] + ")";
  }
  return {};
}

// Where a variant lies (empty at the top), and its present alternative, with dots at their ends.
struct VariantPaths {
  std::string_view variant;
  std::string_view alternative;  // empty where paths do not name it
};

// How many segments of a path come before the outermost variant's alternative; nothing when the
// place does not lie in a variant.
std::optional<std::size_t> depth_of_variant(const Container& container) {
  const std::vector<std::string>& kinds = container.kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [](const std::string& one) { return one.starts_with("Enum:"); });
  if (kind == kinds.end()) return std::nullopt;
  return static_cast<std::size_t>(kind - kinds.begin());
}

// REQUIRES: the place lies in a variant.
VariantPaths paths_of_variant(const Place& place, bool names_variants) {
  const std::string_view path = place.path;
  const auto first_segments = [&](std::size_t count) {
    std::size_t end = 0;
    for (; count > 0 && end < path.size(); --count) {
      end = std::min(path.find('.', end), path.size() - 1) + 1;
    }
    return path.substr(0, end);
  };
  const std::size_t depth = *depth_of_variant(place.container);
  return {first_segments(depth), names_variants ? first_segments(depth + 1) : ""};
}

// Knows which tensors were found.
class NotingLookup final : public TensorLookup {
 public:
  explicit NotingLookup(const Archive& archive) : archive_(archive), is_used_(archive.size()) {}
  Result<std::optional<TensorSnapshot>> find(std::string_view name) override {
    const std::optional<std::size_t> index = archive_.find(name);
    if (index) is_used_[*index] = true;
    return index ? std::make_optional(archive_.snapshot(*index)) : std::nullopt;
  }
  Trial::Unused unused() const {
    Trial::Unused unused;
    for (std::size_t i = 0; i < archive_.size(); ++i) {
      const TensorInfo info = archive_.info(i);
      const bool is_of_training = is_optimizer_state(info.name) || is_averaged(info.name) ||
                                  is_lora_matrix(info.name) || is_flattened(info.name);
      if (is_used_[i] || is_of_training) continue;
      std::vector<std::uint64_t> key(info.shape.begin(), info.shape.end());
      key.push_back(kind_number(info.dtype));
      unused.try_emplace(std::move(key), info.name);
    }
    return unused;
  }

 private:
  const Archive& archive_;
  std::vector<bool> is_used_;
};

bool has_another(const Archive& source, const VariantPaths& paths) {
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::string_view name = source.info(i).name;
    if (!name.starts_with(paths.variant)) continue;
    if (paths.alternative.empty() || !name.starts_with(paths.alternative)) return true;
  }
  return false;
}

}  // namespace

AnyAdapter chosen_adapter(AdapterChoice choice, const AnyAdapter& present) {
  switch (choice) {
    case AdapterChoice::pytorch_to_burn:
      return PyTorchToBurnAdapter();
    case AdapterChoice::burn_to_pytorch:
      return BurnToPyTorchAdapter();
    case AdapterChoice::identity:
      return IdentityAdapter();
    case AdapterChoice::present:
      break;
  }
  return present;
}

AnyAdapter adapter_named(std::string_view name) {
  for (const AdapterChoice choice :
       {AdapterChoice::pytorch_to_burn, AdapterChoice::burn_to_pytorch}) {
    if (name == name_of(choice)) return chosen_adapter(choice, {});
  }
  return IdentityAdapter();
}

std::string reason_for_rival(std::string_view prefix) {
  while (!prefix.empty() && (prefix.back() == '.' || prefix.back() == '/')) {
    prefix.remove_suffix(1);
  }
  return "the file has another model like it under " + in_quotes(prefix);
}

double Recipe::cost() const {
  constexpr double of_setting = 0.9;
  double cost = 0;
  if (!top_level_key.empty()) cost += of_setting;
  if (folds_weight_norm) cost += of_setting;
  if (closes_gaps) cost += of_setting;
  if (adapter != AdapterChoice::present) cost += of_setting;
  if (skips_variants) cost += of_setting;
  for (const NameRule& rule : rules) cost += rule.is_narrow ? 1.25 : 1;
  // An adapter that knows the layout is better than transposing by hand.
  constexpr double of_transpose = 2.5;
  for (const ProposedEdit& one : edits) {
    cost += one.edit.kind == TensorEdit::Kind::transpose ? of_transpose : 1;
  }
  return cost;
}

NameOptions Recipe::added_to(NameOptions present) const {
  if (!top_level_key.empty()) {
    present.top_level_key += (present.top_level_key.empty() ? "" : ".") + top_level_key;
  }
  present.fold_weight_norm = present.fold_weight_norm || folds_weight_norm;
  for (const NameRule& rule : rules) present.remapper.add_pattern(rule.pattern, rule.replacement);
  for (const ProposedEdit& one : edits) present.edits.push_back(one.edit);
  present.close_gaps = closes_gaps.value_or(present.close_gaps);
  return present;
}

bool Recipe::is_guess() const {
  return !rival.empty() ||
         std::any_of(rules.begin(), rules.end(), [](const auto& one) { return one.is_guess; }) ||
         std::any_of(edits.begin(), edits.end(), [](const auto& one) { return one.is_guess; });
}

std::vector<ProposedStep> Recipe::steps(const NameOptions& present) const {
  using StepKind = ProposedStep::Kind;
  std::vector<ProposedStep> steps;
  const auto add = [&](StepKind kind, std::vector<std::string> arguments, std::string why = {},
                       bool is_guess = false) {
    ProposedStep step;
    step.kind = kind;
    step.arguments = std::move(arguments);
    step.why = std::move(why);
    step.is_guess = is_guess;
    step.code = code_of(step);
    steps.push_back(std::move(step));
  };
  if (!top_level_key.empty()) {
    add(StepKind::top_level_key, {added_to(present).top_level_key},
        rival.empty() ? "the tensors lie under it" : reason_for_rival(rival), !rival.empty());
  }
  if (folds_weight_norm) {
    add(StepKind::fold_weight_norm, {"true"}, "the file has the parts of weight norm");
  }
  for (const NameRule& rule : rules) {
    add(StepKind::rename, {rule.pattern, rule.replacement}, reason_for(rule), rule.is_guess);
  }
  for (const ProposedEdit& one : edits) {
    const TensorEdit& edit = one.edit;
    std::vector<std::string> arguments = {edit.pattern};
    arguments.insert(arguments.end(), edit.names.begin(), edit.names.end());
    const StepKind kind = edit.kind == TensorEdit::Kind::split  ? StepKind::split
                          : edit.kind == TensorEdit::Kind::join ? StepKind::join
                                                                : StepKind::transpose;
    add(kind, std::move(arguments), one.why, one.is_guess);
    steps.back().shares = edit.shares;
    steps.back().code = code_of(steps.back());
  }
  if (closes_gaps) {
    add(StepKind::close_gaps, {*closes_gaps ? "true" : "false"},
        *closes_gaps ? "the file's numbers have gaps" : "the module has the file's numbers");
  }
  for (const Exclusion& one : excluded) {
    add(StepKind::exclude, {one.pattern}, one.why, one.is_guess);
  }
  if (adapter != AdapterChoice::present) {
    add(StepKind::adapter, {std::string(name_of(adapter))}, "shapes and names of the file tell");
  }
  if (skips_variants) {
    add(StepKind::skip_variants, {*skips_variants ? "true" : "false"},
        *skips_variants ? "the file's names are without variants"
                        : "the file's names have variants");
  }
  if (!too_short_for.empty()) {
    add(StepKind::allow_unused, {"true"}, "the module is too short for " + in_quotes(too_short_for),
        true);
  }
  return steps;
}

std::string Recipe::text() const {
  constexpr std::size_t most_rules = 3;
  std::vector<std::string> parts;
  if (!top_level_key.empty()) {
    parts.push_back("taking the tensors under " + in_quotes(top_level_key));
  }
  if (folds_weight_norm) parts.emplace_back("computing the weights of weight norm");
  for (std::size_t i = 0; i < std::min(rules.size(), most_rules); ++i) {
    parts.push_back(in_words(rules[i]));
  }
  if (rules.size() > most_rules) {
    const std::size_t more = rules.size() - most_rules;
    parts.push_back(std::to_string(more) + (more == 1 ? " more rename" : " more renames"));
  }
  const auto count_edits = [&](TensorEdit::Kind kind) {
    return std::count_if(edits.begin(), edits.end(),
                         [&](const ProposedEdit& one) { return one.edit.kind == kind; });
  };
  if (count_edits(TensorEdit::Kind::transpose) > 0) parts.emplace_back("transposing matrices");
  if (count_edits(TensorEdit::Kind::split) > 0) parts.emplace_back("splitting fused tensors");
  if (count_edits(TensorEdit::Kind::join) > 0) parts.emplace_back("joining tensors");
  if (closes_gaps) {
    parts.emplace_back(*closes_gaps ? "closing gaps in numbered names"
                                    : "keeping the numbers in names");
  }
  if (adapter == AdapterChoice::pytorch_to_burn) {
    parts.emplace_back("converting PyTorch's layouts and names");
  } else if (adapter == AdapterChoice::burn_to_pytorch) {
    parts.emplace_back("converting Burn's layouts and names to PyTorch's");
  } else if (adapter == AdapterChoice::identity) {
    parts.emplace_back("reading tensors as they are");
  }
  if (skips_variants) {
    parts.emplace_back(*skips_variants ? "leaving variant names out of paths"
                                       : "keeping variant names in paths");
  }
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

std::span<const WantedTensor> wanted_by(const ProposalInput& input, const Recipe& recipe) {
  return recipe.skips_variants ? input.wanted_other : input.wanted;
}

Result<Trial> try_recipe(const ProposalInput& input, const Recipe& recipe) {
  Archive source = input.source.named;
  if (recipe.changes_names()) {
    ANDIRON_ASSIGN(source, apply_names(input.source.opened, recipe.added_to(input.source.names)));
  }
  Trial trial;
  const AnyAdapter adapter = chosen_adapter(recipe.adapter, input.options.adapter);
  NotingLookup lookup(source);
  const std::span<const WantedTensor> wanted = wanted_by(input, recipe);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Result<std::optional<TensorSnapshot>> found =
        pass_on_out_of_memory(adapter->load(wanted[i].place, lookup));
    if (!found || !*found) {
      trial.unfed.push_back({i, {}, {}});
    } else if (Result<TensorSnapshot> tensor = pass_on_out_of_memory(
                   fit(**found, wanted[i].leaf, input.options.dtype_policy))) {
      ++trial.matched;
    } else {
      Error error = std::move(tensor).error();
      trial.unfed.push_back({i, std::move(error.found), std::move(error.expected)});
    }
  }
  if (!trial.unfed.empty()) trial.unused = lookup.unused();
  const auto lies_in_variant = [&](const Trial::Unfed& unfed) {
    return depth_of_variant(wanted[unfed.wanted].place.container).has_value();
  };
  if (!trial.unfed.empty() &&
      std::all_of(trial.unfed.begin(), trial.unfed.end(), lies_in_variant)) {
    // One speaks for all.
    const Place& place = wanted[trial.unfed.front().wanted].place;
    const bool names_variants = !recipe.skips_variants.value_or(input.options.skip_enum_variants);
    trial.is_other_variant = has_another(source, paths_of_variant(place, names_variants));
  }
  return trial;
}

}  // namespace andiron::inline v1::detail
