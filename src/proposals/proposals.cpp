// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/proposals_test.cpp and tests/store/proposals_test.cpp
#include "src/proposals/proposals.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "src/core/text/quoted.h"
#include "src/core/try.h"
#include "src/proposals/name_alignment.h"
#include "src/proposals/recipe.h"
#include "src/proposals/recipe_search.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t most_proposals = 3;
// Trials on the whole source, after the search has looked at a part of it.
constexpr std::size_t most_trials = 6;
// Parts of a module that may be left out; with more, the file is for another one.
constexpr std::size_t most_excluded = 3;
// A tenth of a module can be fed by chance, and half of it by guesses.
constexpr std::size_t least_share = 10;
constexpr std::size_t least_guessed_share = 2;
// What is no simpler than that is no alternative.
constexpr double much_costlier = 0.5;

struct TriedRecipe {
  FoundRecipe found;
  Trial trial;
};

// Weights averaged over training, which checkpoints keep beside the model's own.
bool is_average(std::string_view root) {
  const std::vector<std::string> words = words_in(root);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "ema" || word == "swa" || word == "averaged" || word == "shadow";
  });
}

// Modules of which nothing is fed, and parameters apart from these.
struct LeftOut {
  std::string path;
  bool is_module;
};

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
    LeftOut part = {wanted[unfed.wanted].place.path, false};
    for_each_module(wanted[unfed.wanted].place.path, [&](std::string_view module) {
      if (modules[module].unfed < modules[module].all) return true;
      part = {std::string(module), true};
      return false;
    });
    const bool is_known = std::any_of(
        parts.begin(), parts.end(), [&](const LeftOut& other) { return other.path == part.path; });
    if (!is_known) parts.push_back(std::move(part));
    if (parts.size() > most_excluded) break;
  }
  return parts;
}

std::string why(std::span<const WantedTensor> wanted, const Trial::Unfed& unfed) {
  const WantedTensor& one = wanted[unfed.wanted];
  const std::string path = quoted(one.place.path);
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
    recipe.excluded.push_back("^" + escaped_for_regex(part.path) + (part.is_module ? "\\." : "$"));
    paths.push_back(part.path);
  }
  return "leaving out " + quoted_list(paths);
}

bool is_guessed(const Recipe& recipe) {
  return std::any_of(recipe.rules.begin(), recipe.rules.end(),
                     [](const NameRule& rule) { return rule.is_guess; });
}

Proposal proposal_for(const ProposalInput& input, const TriedRecipe& tried) {
  Recipe recipe = tried.found.recipe;
  const Trial& trial = tried.trial;
  const std::span<const WantedTensor> wanted = wanted_by(input, recipe);
  Proposal proposal;
  proposal.matched = trial.matched;
  proposal.wanted = wanted.size();
  proposal.text = recipe.text();
  if (is_average(tried.found.root)) proposal.text += " (averaged weights)";
  if (!trial.unfed.empty()) {
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
  if (is_guessed(recipe)) {
    proposal.text += "; some renames were guessed by shape and order; check them";
  }
  proposal.code = recipe.code(input.source.names);
  return proposal;
}

// Best first. Of recipes that are as good the one for the model's own weights comes first.
bool is_better_recipe(const TriedRecipe& a, const TriedRecipe& b) {
  if (a.trial.matched != b.trial.matched) return a.trial.matched > b.trial.matched;
  const double a_cost = a.found.recipe.cost();
  const double b_cost = b.found.recipe.cost();
  if (a_cost != b_cost) return a_cost < b_cost;
  return is_average(b.found.root) && !is_average(a.found.root);
}

}  // namespace

std::vector<Proposal> propose(const ProposalInput& input) {
  const Result<Trial> present = pass_on_out_of_memory(try_recipe(input, {}));
  if (!present || present->unfed.empty()) return {};

  std::vector<TriedRecipe> tried;
  for (FoundRecipe& found : search_recipes(input)) {
    const bool is_known = std::any_of(tried.begin(), tried.end(), [&](const TriedRecipe& other) {
      return other.found.sources == found.sources;
    });
    if (is_known) continue;
    Result<Trial> trial = pass_on_out_of_memory(try_recipe(input, found.recipe));
    if (trial) tried.push_back({std::move(found), *std::move(trial)});
    if (tried.size() == most_trials) break;
  }
  std::stable_sort(tried.begin(), tried.end(), is_better_recipe);

  std::vector<Proposal> proposals;
  for (const TriedRecipe& one : tried) {
    const TriedRecipe& best = tried.front();
    const bool is_as_good = one.trial.matched == best.trial.matched &&
                            one.found.recipe.cost() <= best.found.recipe.cost() + much_costlier;
    if (!is_as_good || proposals.size() == most_proposals) break;
    Proposal proposal = proposal_for(input, one);
    // The present settings, with parameters left out, feed no more but load.
    const bool is_present = one.found.recipe.cost() == 0;
    const std::size_t share = is_guessed(one.found.recipe) ? least_guessed_share : least_share;
    const bool helps = is_present ? !proposal.code.empty()
                                  : one.trial.matched > present->matched &&
                                        share * proposal.matched >= proposal.wanted;
    if (helps) proposals.push_back(std::move(proposal));
  }
  return proposals;
}

}  // namespace andiron::inline v1::detail
