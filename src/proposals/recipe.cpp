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

AnyAdapter chosen_adapter(const AdapterChoice& choice, const AnyAdapter& present) {
  return choice ? adapter_of(*choice) : present;
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
  if (adapter) cost += of_setting;
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
  std::vector<ProposedStep> steps;
  if (!top_level_key.empty()) {
    steps.push_back({TakeKey{added_to(present).top_level_key},
                     rival.empty() ? "the tensors lie under it" : reason_for_rival(rival),
                     !rival.empty()});
  }
  if (folds_weight_norm) {
    steps.push_back({FoldWeightNorm{}, "the file has the parts of weight norm"});
  }
  for (const NameRule& rule : rules) {
    steps.push_back({RenameKeys{rule.pattern, rule.replacement}, reason_for(rule), rule.is_guess});
  }
  for (const ProposedEdit& one : edits) steps.push_back({one.edit, one.why, one.is_guess});
  if (closes_gaps) {
    steps.push_back({CloseGaps{*closes_gaps}, *closes_gaps ? "the file's numbers have gaps"
                                                           : "the module has the file's numbers"});
  }
  for (const Exclusion& one : excluded) {
    steps.push_back({ExcludePaths{one.pattern}, one.why, one.is_guess});
  }
  if (adapter) steps.push_back({*adapter, "shapes and names of the file tell"});
  if (skips_variants) {
    steps.push_back({SkipVariants{*skips_variants}, *skips_variants
                                                        ? "the file's names are without variants"
                                                        : "the file's names have variants"});
  }
  if (!too_short_for.empty()) {
    steps.push_back(
        {AllowUnused{}, "the module is too short for " + in_quotes(too_short_for), true});
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
  if (adapter) {
    constexpr const char* words[] = {"reading tensors as they are",
                                     "converting PyTorch's layouts and names",
                                     "converting Burn's layouts and names to PyTorch's"};
    parts.emplace_back(words[static_cast<std::size_t>(adapter->kind)]);
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
