// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/proposals_test.cpp and tests/store/proposals_test.cpp
#include "src/proposals/proposals.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/proposals/fused_layers.h"
#include "src/proposals/model_root.h"
#include "src/proposals/module_views.h"
#include "src/proposals/name_parts.h"
#include "src/proposals/namings.h"
#include "src/proposals/recipe.h"
#include "src/proposals/recipe_search.h"
#include "src/proposals/tree_alignment.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t most_proposals = 3;
// Trials on the whole source, after the search has looked at a part of it.
constexpr std::size_t most_trials = 6;
// Parts of a module that may be left out; with more, the file is for another one.
constexpr std::size_t most_excluded = 3;
// A tenth of a module can be fed by chance, and with other names half of it.
constexpr double least_share = 0.1;
constexpr double least_share_of_renamed = 0.6;
constexpr double least_share_of_kinds = 0.8;
constexpr std::size_t least_tensors_of_part = 4;
// What is no simpler than that is no alternative.
constexpr double much_costlier = 0.5;

struct TriedRecipe {
  FoundRecipe found;
  Trial trial;
};

// Modules of which nothing is fed, and parameters apart from these.
struct LeftOut {
  std::string path;
  bool is_module;
  std::string why;
  bool is_guess = false;
};

// Why a parameter is not fed.
std::string reason_to_leave_out(const Trial::Unfed& unfed) {
  if (unfed.found.empty()) return "the file has nothing for it";
  return unfed.found + " in the file, " + unfed.expected + " in the model";
}

// A tensor that nothing takes and that could feed a parameter: of its shape, as a transposed
// matrix, or joined with others.
std::string_view unused_for(const WantedTensor& wanted, const Trial& trial) {
  constexpr std::uint64_t most_joined = 4;
  const std::span<const std::uint64_t> dims = wanted.leaf.shape.dims();
  std::vector<std::uint64_t> shape(dims.begin(), dims.end());
  const bool is_matrix = shape.size() == 2;
  for (const bool is_turned : {false, true}) {
    if (is_turned && !is_matrix) break;
    if (is_turned) std::swap(shape[0], shape[1]);
    for (std::uint64_t parts = 1; parts <= (is_fused(wanted) ? most_joined : 1); ++parts) {
      std::vector<std::uint64_t> there = shape;
      if (!there.empty()) there[0] *= parts;
      there.push_back(kind_number(wanted.leaf.dtype));
      if (const auto found = trial.unused.find(there); found != trial.unused.end()) {
        return found->second;
      }
    }
  }
  return {};
}

std::vector<LeftOut> left_out(std::span<const WantedTensor> wanted, const Trial& trial) {
  struct Count {
    std::size_t all = 0;
    std::size_t unfed = 0;
  };
  std::map<std::string_view, Count> modules;
  const auto for_each_module = [](std::string_view path, auto visit) {
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos;
         dot = path.find('.', dot + 1)) {
      if (!visit(path.substr(0, dot))) return;
    }
  };
  for (const WantedTensor& one : wanted) {
    for_each_module(one.place.path, [&](std::string_view module) { return ++modules[module].all; });
  }
  for (const Trial::Unfed& unfed : trial.unfed) {
    for_each_module(wanted[unfed.wanted].place.path,
                    [&](std::string_view module) { return ++modules[module].unfed; });
  }
  std::vector<LeftOut> parts;
  for (const Trial::Unfed& unfed : trial.unfed) {
    LeftOut part = {wanted[unfed.wanted].place.path, false, reason_to_leave_out(unfed)};
    for_each_module(wanted[unfed.wanted].place.path, [&](std::string_view module) {
      if (modules[module].unfed < modules[module].all) return true;
      part.path = module;
      part.is_module = true;
      return false;
    });
    const std::string_view unused = unused_for(wanted[unfed.wanted], trial);
    if (!unused.empty()) {
      part.is_guess = true;
      part.why = "nothing takes " + in_quotes(unused) + ", which could be " +
                 in_quotes(wanted[unfed.wanted].place.path);
    }
    const auto known = std::find_if(parts.begin(), parts.end(),
                                    [&](const LeftOut& other) { return other.path == part.path; });
    if (known == parts.end()) {
      parts.push_back(std::move(part));
    } else if (part.is_guess && !known->is_guess) {
      *known = std::move(part);
    }
    if (parts.size() > most_excluded) break;
  }
  return parts;
}

std::string why(std::span<const WantedTensor> wanted, const Trial::Unfed& unfed) {
  const WantedTensor& one = wanted[unfed.wanted];
  const std::string path = in_quotes(one.place.path);
  if (unfed.found.empty()) return "the source has no " + path;
  return path + " is " + unfed.found + " in the source and " + unfed.expected + " in the module";
}

// Leaves out what cannot be fed, where that is a small part of the module. Returns it in words.
std::string exclude_rest(std::span<const WantedTensor> wanted, const Trial& trial, Recipe& recipe) {
  const std::vector<LeftOut> parts = left_out(wanted, trial);
  const bool is_small = parts.size() <= most_excluded && 2 * trial.matched >= wanted.size() &&
                        std::all_of(parts.begin(), parts.end(),
                                    [](const LeftOut& part) { return is_plain_name(part.path); });
  if (!is_small) return {};
  std::vector<std::string_view> paths;
  for (const LeftOut& part : parts) {
    recipe.excluded.push_back({"^" + escaped_for_regex(part.path) + (part.is_module ? "\\." : "$"),
                               part.why, part.is_guess});
    paths.push_back(part.path);
  }
  return "leaving out " + list_in_quotes(paths);
}

// The calls as one text. A guess says that it is one.
std::string joined_code(const std::vector<ProposedStep>& steps) {
  std::string code;
  for (const ProposedStep& step : steps) {
    if (!code.empty()) code += '\n';
    code += step.to_string();
    if (step.is_guess) code += "  // a guess, " + step.why;
  }
  return code;
}

// Gives steps that are shown already the marks that they have there. Returns whether that made one
// a guess.
bool take_marks(const std::vector<Proposal>& shown, std::vector<ProposedStep>& steps) {
  bool is_guess_now = false;
  for (ProposedStep& step : steps) {
    for (const Proposal& proposal : shown) {
      const auto same =
          std::find_if(proposal.steps.begin(), proposal.steps.end(),
                       [&](const ProposedStep& other) { return other.setting == step.setting; });
      if (same == proposal.steps.end()) continue;
      is_guess_now = is_guess_now || (same->is_guess && !step.is_guess);
      step.is_guess = same->is_guess;
      step.why = same->why;
      break;
    }
  }
  return is_guess_now;
}

// Nothing for a part without guesses that makes one by a setting that it shares with `shown`.
std::optional<Proposal> proposal_for(const ProposalInput& input, const TriedRecipe& tried,
                                     const std::vector<Proposal>& shown, bool is_sure_part) {
  Recipe recipe = tried.found.recipe;
  const Trial& trial = tried.trial;
  const std::span<const WantedTensor> wanted = wanted_by(input, recipe);
  Proposal proposal;
  proposal.matched = trial.matched;
  proposal.wanted = wanted.size();
  proposal.text = recipe.text();
  proposal.is_averaged = is_averaged(tried.found.root);
  if (proposal.is_averaged) proposal.text += " (averaged weights)";
  // What another alternative lacks is not to be left out.
  const bool has_other = trial.is_other_variant && recipe.cost() > 0;
  if (!trial.unfed.empty() && !has_other) {
    const std::string rest = exclude_rest(wanted, trial, recipe);
    if (!proposal.text.empty() && !rest.empty()) proposal.text += ", ";
    proposal.text += rest;
  }
  proposal.text += ": matches " + std::to_string(proposal.matched) + " of " +
                   std::to_string(proposal.wanted) + " parameters";
  if (!trial.unfed.empty()) proposal.text += "; " + why(wanted, trial.unfed.front());
  if (trial.is_other_variant) {
    proposal.text += "; choose_variants(model, store) may pick the alternative that the source has";
  }
  proposal.steps = recipe.steps(input.source.names);
  if (input.too_short_for) {
    recipe.too_short_for = input.too_short_for(proposal);
    if (!recipe.too_short_for.empty()) proposal.steps = recipe.steps(input.source.names);
  }
  if (take_marks(shown, proposal.steps) && is_sure_part) return std::nullopt;
  proposal.code = joined_code(proposal.steps);
  const auto guesses = std::count_if(proposal.steps.begin(), proposal.steps.end(),
                                     [](const ProposedStep& step) { return step.is_guess; });
  if (guesses > 0) {
    proposal.text += "; " + std::to_string(guesses) + " of " +
                     count_of(proposal.steps.size(), "setting") +
                     (guesses == 1 ? " is a guess: check it" : " are guesses: check them");
  }
  return proposal;
}

// Whether one of them makes the same calls: a rule without the guessed names may take them, too.
bool has_calls_of(const std::vector<Proposal>& proposals, const Proposal& proposal) {
  return std::any_of(proposals.begin(), proposals.end(), [&](const Proposal& one) {
    return std::equal(
        one.steps.begin(), one.steps.end(), proposal.steps.begin(), proposal.steps.end(),
        [](const ProposedStep& a, const ProposedStep& b) { return a.setting == b.setting; });
  });
}

// How many parameters are fed, from 0 to 1. Those that differ in numbers alone count once: a deeper
// model has more of the same.
double share_of_kinds(std::span<const WantedTensor> wanted, const Trial& trial) {
  std::vector<bool> is_unfed(wanted.size());
  for (const Trial::Unfed& unfed : trial.unfed) is_unfed[unfed.wanted] = true;
  std::set<std::string> fed;
  std::set<std::string> all;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::string kind = name_kind(wanted[i].place.path);
    if (!is_unfed[i]) fed.insert(kind);
    all.insert(std::move(kind));
  }
  return static_cast<double>(fed.size()) /
         static_cast<double>(std::max<std::size_t>(1, all.size()));
}

// Whether so few parameters are fed that it may be chance.
// `in_source`: the number of tensors of the file.
bool may_be_chance(const TriedRecipe& tried, std::span<const WantedTensor> wanted,
                   std::size_t in_source) {
  const Recipe& recipe = tried.found.recipe;
  // A file of a part of the model: all of it has found its place.
  if (!recipe.is_guess() && tried.trial.matched >= std::max(in_source, least_tensors_of_part)) {
    return false;
  }
  const bool is_by_name = std::all_of(
      recipe.rules.begin(), recipe.rules.end(),
      [](const NameRule& rule) { return rule.evidence == Evidence::name && !rule.is_guess; });
  const double least = is_by_name ? least_share : least_share_of_renamed;
  const double share =
      static_cast<double>(tried.trial.matched) / static_cast<double>(wanted.size());
  if (share >= least) return false;
  const bool is_deeper =
      !recipe.is_guess() && share_of_kinds(wanted, tried.trial) >= least_share_of_kinds;
  return !is_deeper;
}

}  // namespace

Guidance guide(const ProposalInput& input) {
  const Result<Trial> present = pass_on_out_of_memory(try_recipe(input, {}));
  if (!present || present->unfed.empty()) return {};
  SearchResult search = search_recipes(input);
  if (!search.other_family.empty()) {
    Guidance guidance;
    guidance.notes.push_back(std::move(search.other_family));
    guidance.is_other_family = true;
    return guidance;
  }

  std::vector<TriedRecipe> tried;
  tried.push_back({{}, *present});
  // Beside one that feeds all and is sure, only what is as simple is worth a trial.
  double most_cost = std::numeric_limits<double>::infinity();
  // If the present settings use all that the file has, no others feed more.
  if (present->matched >= input.source.named.size()) search.recipes.clear();
  for (FoundRecipe& found : search.recipes) {
    const double cost = found.recipe.cost();
    if (cost == 0 || cost > most_cost) continue;
    Result<Trial> trial = pass_on_out_of_memory(try_recipe(input, found.recipe));
    if (!trial) continue;
    if (trial->unfed.empty() && !found.recipe.is_guess()) {
      most_cost = std::min(most_cost, cost + much_costlier);
    }
    tried.push_back({std::move(found), *std::move(trial)});
    if (tried.size() == most_trials) break;
  }
  // Best first: what feeds the most, then what takes the fewest calls.
  std::stable_sort(tried.begin(), tried.end(), [](const TriedRecipe& a, const TriedRecipe& b) {
    if (a.trial.matched != b.trial.matched) return a.trial.matched > b.trial.matched;
    return a.found.recipe.cost() < b.found.recipe.cost();
  });
  // Rather than a guess, names for another alternative of a variant: a load chooses that one.
  const auto for_other = std::find_if(tried.begin(), tried.end(), [](const TriedRecipe& one) {
    return one.trial.is_other_variant && one.found.recipe.skips_variants &&
           !one.found.recipe.is_guess();
  });
  if (tried.front().found.recipe.is_guess() && for_other != tried.end()) {
    std::rotate(tried.begin(), for_other, for_other + 1);
  }

  std::vector<Proposal> proposals;
  const TriedRecipe& best = tried.front();
  for (const TriedRecipe& one : tried) {
    const bool is_as_good = one.trial.matched == best.trial.matched &&
                            one.found.recipe.cost() <= best.found.recipe.cost() + much_costlier;
    // Without the guesses of the best.
    const bool is_sure_part = best.found.recipe.is_guess() && !one.found.recipe.is_guess() &&
                              one.trial.matched > present->matched;
    if ((!is_as_good && !is_sure_part) || proposals.size() == most_proposals) continue;
    std::optional<Proposal> proposal = proposal_for(input, one, proposals, is_sure_part);
    if (!proposal) continue;
    // The present settings, with parameters left out, feed no more but load.
    const bool is_present = one.found.recipe.cost() == 0;
    const bool helps = is_present ? !proposal->code.empty()
                                  : one.trial.matched > present->matched &&
                                        !may_be_chance(one, wanted_by(input, one.found.recipe),
                                                       input.source.named.size());
    if (helps && !has_calls_of(proposals, *proposal)) proposals.push_back(*std::move(proposal));
    if (is_sure_part) break;
  }

  Guidance guidance;
  const bool has_renames = std::any_of(proposals.begin(), proposals.end(), [](const Proposal& one) {
    return std::any_of(one.steps.begin(), one.steps.end(),
                       [](const ProposedStep& step) { return step.sets<RenameKeys>(); });
  });
  if (has_renames && !search.naming.empty() && search.naming != search.wanted_naming) {
    std::string note = "the source looks like " + std::string(search.naming);
    if (!search.wanted_naming.empty()) {
      note += ", the module like " + std::string(search.wanted_naming);
    }
    guidance.notes.push_back(std::move(note));
    const std::string_view caveat = caveat_between(search.naming, search.wanted_naming);
    if (!caveat.empty()) guidance.notes.emplace_back(caveat);
  }
  const bool fits = !proposals.empty() && proposals.front().matched == proposals.front().wanted;
  const bool is_far_off = 2 * present->matched < input.wanted.size() || !proposals.empty();
  if (input.tells_why) {
    // More would be beside the point.
  } else if (!fits && is_far_off && !search.difference.empty() && !input.tells_shapes) {
    guidance.notes.push_back((proposals.empty() ? "no settings make it fit: " : "") +
                             search.difference);
  } else if (proposals.empty() && 2 * present->matched < input.wanted.size()) {
    guidance.notes.emplace_back("no settings were found that make it fit");
  }
  if (!proposals.empty()) {
    guidance.meant = std::move(search.meant);
    guidance.guessed = std::move(search.guessed);
  }
  guidance.proposals = std::move(proposals);
  return guidance;
}

}  // namespace andiron::inline v1::detail
