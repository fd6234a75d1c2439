// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/proposals_test.cpp
#include "src/proposals/recipe.h"

#include <algorithm>
#include <utility>

#include "andiron/names.h"
#include "src/adapters/archive_lookup.h"
#include "src/core/text/quoted.h"
#include "src/core/try.h"
#include "src/load/fit.h"

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
  if (pattern == "^") return "adding " + quoted(rule.replacement) + " before names";
  const bool is_strip = rule.replacement.empty() && pattern.starts_with('^') &&
                        pattern.find("(\\d+)") == std::string_view::npos;
  if (is_strip) return "stripping " + quoted(unescaped(pattern.substr(1))) + " from names";
  return "renaming " + quoted(rule.pattern) + " to " + quoted(rule.replacement);
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

double Recipe::cost() const {
  constexpr double of_setting = 0.9;
  double cost = 0;
  if (!top_level_key.empty()) cost += of_setting;
  if (closes_gaps) cost += of_setting;
  if (adapter != AdapterChoice::present) cost += of_setting;
  if (skips_variants) cost += of_setting;
  for (const NameRule& rule : rules) cost += rule.is_narrow ? 1.25 : 1;
  return cost;
}

NameOptions Recipe::added_to(NameOptions present) const {
  if (!top_level_key.empty()) {
    present.top_level_key += (present.top_level_key.empty() ? "" : ".") + top_level_key;
  }
  for (const NameRule& rule : rules) present.remapper.add_pattern(rule.pattern, rule.replacement);
  present.close_gaps = closes_gaps.value_or(present.close_gaps);
  return present;
}

std::string Recipe::code(const NameOptions& present) const {
  std::string code;
  const auto add = [&](std::string_view builder, const std::string& arguments) {
    if (!code.empty()) code += '\n';
    code += "." + std::string(builder) + "(" + arguments + ")";
  };
  if (!top_level_key.empty()) {
    add("with_top_level_key", literal(added_to(present).top_level_key));
  }
  for (const NameRule& rule : rules) {
    add("with_key_remapping", raw_literal(rule.pattern) + ", " + literal(rule.replacement));
  }
  if (closes_gaps) add("map_indices_contiguous", *closes_gaps ? "true" : "false");
  for (const std::string& pattern : excluded) add("exclude_regex", raw_literal(pattern));
  if (adapter != AdapterChoice::present) add("with_from_adapter", std::string(name_of(adapter)));
  if (skips_variants) add("skip_enum_variants", *skips_variants ? "true" : "false");
  return code;
}

std::string Recipe::text() const {
  constexpr std::size_t most_rules = 3;
  std::vector<std::string> parts;
  if (!top_level_key.empty()) {
    parts.push_back("taking the tensors under " + quoted(top_level_key));
  }
  for (std::size_t i = 0; i < std::min(rules.size(), most_rules); ++i) {
    parts.push_back(in_words(rules[i]));
  }
  if (rules.size() > most_rules) {
    const std::size_t more = rules.size() - most_rules;
    parts.push_back(std::to_string(more) + (more == 1 ? " more rename" : " more renames"));
  }
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

bool fits(const TensorSnapshot& tensor, const LeafInfo& leaf, DTypePolicy policy) {
  const bool has_shape = leaf.accepts_any_shape || tensor.shape() == leaf.shape;
  return has_shape && fit(tensor, leaf, policy);
}

Result<Trial> try_recipe(const ProposalInput& input, const Recipe& recipe) {
  Archive source = input.source.named;
  if (recipe.changes_names()) {
    ANDIRON_ASSIGN(source, apply_names(input.source.opened, recipe.added_to(input.source.names)));
  }
  Trial trial;
  const AnyAdapter adapter = chosen_adapter(recipe.adapter, input.options.adapter);
  ArchiveLookup lookup(source);
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
