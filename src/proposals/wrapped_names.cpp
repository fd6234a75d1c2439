// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/wrapped_names_test.cpp
#include "src/proposals/wrapped_names.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "src/core/try.h"
#include "src/names/rename.h"
#include "src/names/training_names.h"
#include "src/proposals/name_parts.h"

namespace andiron::inline v1::detail {
namespace {

using NameList = std::vector<std::string_view>;

constexpr std::string_view wrappers[] = {"_fsdp_wrapped_module", "_fpw_module",
                                         "_checkpoint_wrapped_module", "_orig_mod"};
// The last segments under which objects keep their tensor, the likeliest first.
constexpr std::string_view holders[] = {"data", "value", "tensor", "param", "parameter"};

bool any_has(const NameList& names, std::string_view segment) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return has_segment(name, segment); });
}

// One that wraps all of the model alone is a key like any other.
std::vector<NameRule> rules_for_wrappers(const NameList& source, const NameList& wanted) {
  const auto is_inside = [](std::string_view name) {
    return std::any_of(std::begin(wrappers), std::end(wrappers), [&](std::string_view one) {
      return has_segment(name.substr(std::min(name.find('.'), name.size() - 1) + 1), one);
    });
  };
  std::vector<NameRule> rules;
  if (!std::any_of(source.begin(), source.end(), is_inside)) return rules;
  for (const std::string_view wrapper : wrappers) {
    if (!any_has(source, wrapper) || any_has(wanted, wrapper)) continue;
    rules.push_back({.pattern = "(^|\\.)" + std::string(wrapper) + "\\.",
                     .replacement = "$1",
                     .reason = "a wrapper of modules in training left it"});
  }
  return rules;
}

// A last segment that no parameter has, below what parameters are called.
std::vector<NameRule> rules_for_holders(const NameList& source, const NameList& wanted) {
  const std::set<std::string_view> all(source.begin(), source.end());
  std::set<std::string_view> roles;
  for (const std::string_view path : wanted) roles.insert(last_segment(path));
  struct Count {
    std::size_t all = 0;
    std::size_t below_roles = 0;
  };
  std::map<std::string_view, Count> counts;
  for (const std::string_view name : source) {
    const std::string_view last = last_segment(name);
    const bool is_beside = all.contains(module_path(name));
    if (is_beside || roles.contains(last) || is_weight_part(name) || is_optimizer_state(name)) {
      continue;
    }
    Count& count = counts[last];
    ++count.all;
    if (roles.contains(last_segment(module_path(name)))) ++count.below_roles;
  }
  NameList found;
  for (const auto& [last, count] : counts) {
    if (10 * count.below_roles >= 9 * count.all && 2 * count.all >= wanted.size()) {
      found.push_back(last);
    }
  }
  const auto known = std::find_if(std::begin(holders), std::end(holders), [&](auto one) {
    return std::find(found.begin(), found.end(), one) != found.end();
  });
  if (known == std::end(holders) && found.size() != 1) return {};
  const std::string_view holder = known == std::end(holders) ? found.front() : *known;
  return {{.pattern = "\\." + escaped_for_regex(holder) + "$",
           .replacement = "",
           .reason = "the tensors lie under it"}};
}

}  // namespace

std::optional<UnwrappedNames> UnwrappedNames::of(const ProposalInput& input) {
  const NameList source = names_and_aliases(input.source.named);
  NameList wanted;
  for (const WantedTensor& one : input.wanted) wanted.push_back(one.place.path);
  std::vector<NameRule> rules = rules_for_wrappers(source, wanted);
  for (NameRule& rule : rules_for_holders(source, wanted)) rules.push_back(std::move(rule));
  if (rules.empty()) return std::nullopt;
  NameOptions names = input.source.names;
  for (const NameRule& rule : rules) names.remapper.add_pattern(rule.pattern, rule.replacement);
  Result<Archive> named = pass_on_out_of_memory(apply_names(input.source.opened, names));
  if (!named) return std::nullopt;
  return UnwrappedNames(std::move(rules), std::move(names), *std::move(named));
}

SearchResult UnwrappedNames::search(const ProposalInput& input) const {
  const LoadSource source = {input.source.opened, names_, named_};
  SearchResult result = search_plain_names(
      {input.wanted, input.wanted_other, source, input.options, input.tells_shapes});
  for (FoundRecipe& found : result.recipes) {
    found.recipe.rules.insert(found.recipe.rules.begin(), rules_.begin(), rules_.end());
  }
  KeyRemapper unwrap;
  for (const NameRule& rule : rules_) unwrap.add_pattern(rule.pattern, rule.replacement);
  std::unordered_map<std::string, std::string_view> before;
  for (const std::string_view name : names_and_aliases(input.source.named)) {
    before.emplace(unwrap.remap(std::string(name)), name);
  }
  for (auto* hints : {&result.meant, &result.guessed}) {
    for (auto& [path, name] : *hints) {
      if (const auto found = before.find(name); found != before.end()) name = found->second;
    }
  }
  return result;
}

}  // namespace andiron::inline v1::detail
