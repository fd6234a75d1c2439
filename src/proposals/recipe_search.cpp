// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/proposals_test.cpp
#include "src/proposals/recipe_search.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "andiron/text.h"
#include "src/core/try.h"
#include "src/names/index_gaps.h"
#include "src/names/rename.h"
#include "src/names/training_names.h"
#include "src/proposals/module_views.h"
#include "src/proposals/name_sample.h"
#include "src/proposals/work_budget.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::uint64_t whole_budget = 300'000;
constexpr std::size_t most_names = 1500;
// Names are compared at the product of their lengths. Longer ones than this are no model's.
constexpr std::size_t longest_name = 256;
constexpr std::size_t most_roots = 10;
constexpr std::size_t most_depth = 6;
constexpr std::size_t most_rules = 16;
constexpr std::size_t most_tries = 6;  // of rules that look useful
constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

// A name in the file, or an alias.
struct Entry {
  std::string_view name;
  std::size_t tensor;
  std::size_t form;  // equal for equal dtypes and shapes
};

// A tree of the file that may be the model.
struct Root {
  std::string prefix;  // without a dot at its end
  std::vector<std::size_t> entries;
  bool is_alone;  // nothing lies beside it
};

struct Outcome {
  std::size_t matched = 0;
  bool collides = false;
  std::vector<std::size_t> sources;  // for each place the entry that feeds it, or none
  std::vector<bool> is_used;         // for each entry
};

class EntryLookup final : public TensorLookup {
 public:
  EntryLookup(const std::unordered_map<std::string_view, std::size_t>& positions,
              const std::vector<TensorSnapshot>& tensors)
      : positions_(positions), tensors_(tensors) {}
  Result<std::optional<TensorSnapshot>> find(std::string_view name) override {
    const auto at = positions_.find(name);
    if (at == positions_.end()) return std::optional<TensorSnapshot>();
    found.push_back(at->second);
    return std::make_optional(tensors_[at->second]);
  }
  std::vector<std::size_t> found;

 private:
  const std::unordered_map<std::string_view, std::size_t>& positions_;
  const std::vector<TensorSnapshot>& tensors_;
};

class Search {
 public:
  explicit Search(const ProposalInput& input)
      : input_(input),
        base_(input.source.named.before(NameStage::index_gaps).value_or(input.source.named)) {
    take_sample();
    find_roots();
    views_ = views_of(input, places_, forms_, budget_);
    for (const std::string& pattern : input.source.names.except) {
      if (Result<Pattern> except = pass_on_out_of_memory(Pattern::regex(pattern))) {
        gap_exceptions_.push_back(*std::move(except));
      }
    }
  }

  std::vector<FoundRecipe> run() {
    struct Start {
      const Root* root;
      const ModuleView* view;
      bool closes_gaps;
      std::size_t most_matched;
      double cost;
    };
    std::vector<Start> starts;
    for (const ModuleView& view : views_) {
      for (const Root& root : roots_) {
        const std::size_t most_matched = count_feasible(root, view);
        for (const bool flips_gaps : {false, true}) {
          if (flips_gaps && !has_numbers_) continue;
          const bool closes_gaps = closes_gaps_now() != flips_gaps;
          const Recipe recipe = recipe_for(root, view, closes_gaps);
          starts.push_back({&root, &view, closes_gaps, most_matched, recipe.cost()});
          if (budget_.is_spent()) break;
          const std::vector<std::string> names = names_below(root);
          keep(root, recipe, try_names(root, closed(names, closes_gaps), view));
        }
      }
    }
    std::stable_sort(starts.begin(), starts.end(), [](const Start& a, const Start& b) {
      if (a.most_matched != b.most_matched) return a.most_matched > b.most_matched;
      return a.cost < b.cost;
    });
    for (const Start& start : starts) {
      if (budget_.is_spent()) break;
      const bool could_be_best = best_matched_ == places_.size()
                                     ? start.cost + 1 < least_cost_
                                     : start.most_matched > best_matched_;
      if (could_be_best) learn(*start.root, *start.view, start.closes_gaps);
    }
    std::stable_sort(found_.begin(), found_.end(), [](const FoundRecipe& a, const FoundRecipe& b) {
      if (a.matched != b.matched) return a.matched > b.matched;
      return a.recipe.cost() < b.recipe.cost();
    });
    return std::move(found_);
  }

 private:
  bool closes_gaps_now() const { return input_.source.names.close_gaps; }

  void take_sample() {
    std::vector<std::string_view> names = names_and_aliases(base_);
    std::erase_if(names, [](std::string_view name) {
      return name.size() > longest_name || !is_plain_name(name) || is_optimizer_state(name) ||
             is_weight_part(name);
    });
    for (const std::size_t i : sample_of_names(names, most_names)) {
      const std::optional<std::size_t> tensor = base_.find(names[i]);
      if (!tensor) continue;
      tensors_.push_back(base_.snapshot(*tensor));
      entries_.push_back({names[i], *tensor, forms_.add(tensors_.back())});
      has_numbers_ = has_numbers_ || names[i].find_first_of("0123456789") != std::string_view::npos;
    }
    std::vector<std::string_view> paths;
    for (const WantedTensor& wanted : input_.wanted) paths.push_back(wanted.place.path);
    places_ = sample_of_names(paths, most_names);
  }

  void find_roots() {
    Root all = {"", std::vector<std::size_t>(entries_.size()), true};
    std::iota(all.entries.begin(), all.entries.end(), std::size_t{0});
    roots_.push_back(std::move(all));
    for (std::size_t at = 0, depth = 0; depth < most_depth; ++depth) {
      for (const std::size_t end = roots_.size(); at < end; ++at) find_roots_below(at);
    }
  }

  // Trees that hold enough tensors to be worth a look.
  void find_roots_below(std::size_t parent) {
    const std::size_t begin = roots_[parent].prefix.empty() ? 0 : roots_[parent].prefix.size() + 1;
    std::vector<Root> children;
    std::unordered_map<std::string_view, std::size_t> by_segment;
    for (const std::size_t i : roots_[parent].entries) {
      const std::string_view name = entries_[i].name;
      const std::size_t dot = name.find('.', begin);
      if (dot == std::string_view::npos) continue;
      const auto [child, is_new] =
          by_segment.try_emplace(name.substr(begin, dot - begin), children.size());
      if (is_new) children.push_back({std::string(name.substr(0, dot)), {}, false});
      children[child->second].entries.push_back(i);
    }
    for (Root& child : children) {
      if (2 * child.entries.size() < places_.size() || roots_.size() == most_roots) continue;
      child.is_alone = child.entries.size() == entries_.size();
      roots_.push_back(std::move(child));
    }
  }

  std::size_t count_feasible(const Root& root, const ModuleView& view) const {
    std::vector<bool> has_form(forms_.size());
    for (const std::size_t i : root.entries) has_form[entries_[i].form] = true;
    std::vector<bool> is_feasible(places_.size());
    for (std::size_t a = 0; a < view.asked.size(); ++a) {
      if (std::any_of(view.forms[a].begin(), view.forms[a].end(),
                      [&](std::size_t form) { return has_form[form]; })) {
        is_feasible[view.asking[a]] = true;
      }
    }
    return static_cast<std::size_t>(std::count(is_feasible.begin(), is_feasible.end(), true));
  }

  Recipe recipe_for(const Root& root, const ModuleView& view, bool closes_gaps) const {
    Recipe recipe;
    if (!root.prefix.empty()) {
      if (root.is_alone || !input_.source.names.remapper.is_empty()) {
        recipe.rules.push_back({"^" + escaped_for_regex(root.prefix + "."), ""});
      } else {
        recipe.top_level_key = root.prefix;
      }
    }
    if (closes_gaps != closes_gaps_now()) recipe.closes_gaps = closes_gaps;
    recipe.adapter = view.choice;
    if (view.flips_variants) recipe.skips_variants = !input_.options.skip_enum_variants;
    return recipe;
  }

  std::vector<std::string> names_below(const Root& root) const {
    const std::size_t begin = root.prefix.empty() ? 0 : root.prefix.size() + 1;
    std::vector<std::string> names;
    names.reserve(root.entries.size());
    for (const std::size_t i : root.entries) names.emplace_back(entries_[i].name.substr(begin));
    return names;
  }

  std::vector<std::string> closed(const std::vector<std::string>& names, bool closes_gaps) {
    if (!closes_gaps) return names;
    budget_.spend(names.size());
    const std::vector<std::string_view> views(names.begin(), names.end());
    return names_without_index_gaps(views, gap_exceptions_);
  }

  Outcome try_names(const Root& root, const std::vector<std::string>& names,
                    const ModuleView& view) {
    budget_.spend(names.size() + places_.size());
    Outcome outcome;
    std::unordered_map<std::string_view, std::size_t> positions;
    positions.reserve(names.size());
    for (std::size_t k = 0; k < names.size(); ++k) {
      const std::size_t entry = root.entries[k];
      const auto [other, is_new] = positions.try_emplace(names[k], entry);
      if (!is_new && entries_[other->second].tensor != entries_[entry].tensor) {
        outcome.collides = true;
        return outcome;
      }
    }
    outcome.is_used.resize(entries_.size());
    outcome.sources.assign(places_.size(), none);
    EntryLookup lookup(positions, tensors_);
    for (std::size_t p = 0; p < places_.size(); ++p) {
      const WantedTensor& wanted = view.wanted[places_[p]];
      lookup.found.clear();
      const Result<std::optional<TensorSnapshot>> got =
          pass_on_out_of_memory(view.adapter->load(wanted.place, lookup));
      const bool is_fed = got && *got && fits(**got, wanted.leaf, input_.options.dtype_policy);
      if (!is_fed || lookup.found.empty()) continue;
      ++outcome.matched;
      outcome.sources[p] = entries_[lookup.found.front()].tensor;
      for (const std::size_t entry : lookup.found) outcome.is_used[entry] = true;
    }
    return outcome;
  }

  void keep(const Root& root, const Recipe& recipe, const Outcome& outcome) {
    if (outcome.collides || outcome.matched == 0) return;
    const double cost = recipe.cost();
    if (outcome.matched > best_matched_ ||
        (outcome.matched == best_matched_ && cost < least_cost_)) {
      best_matched_ = outcome.matched;
      least_cost_ = cost;
    }
    found_.push_back({recipe, root.prefix, outcome.matched, outcome.sources});
  }

  // What is left to match. The views are into `names` and `closed_names`.
  NamesToMatch loose_ends(const Root& root, const ModuleView& view, const Outcome& outcome,
                          const std::vector<std::string>& names,
                          const std::vector<std::string>& closed_names, bool closes_gaps) const {
    NamesToMatch ends;
    ends.closes_gaps = closes_gaps;
    for (std::size_t k = 0; k < names.size(); ++k) {
      const std::size_t entry = root.entries[k];
      if (outcome.is_used[entry]) {
        ends.settled.push_back(names[k]);
      } else {
        ends.loose.push_back({names[k], closed_names[k], entries_[entry].form});
      }
    }
    for (std::size_t a = 0; a < view.asked.size(); ++a) {
      if (outcome.sources[view.asking[a]] != none || !is_plain_name(view.asked[a])) continue;
      ends.wanted.push_back({view.asked[a], view.asking[a], view.forms[a]});
    }
    return ends;
  }

  // The names after a rule; nothing when it changes none.
  std::optional<std::vector<std::string>> renamed(const std::vector<std::string>& names,
                                                  const NameRule& rule) {
    const Result<Pattern> pattern = pass_on_out_of_memory(Pattern::regex(rule.pattern));
    if (!pattern) return std::nullopt;
    budget_.spend(names.size());
    std::vector<std::string> changed;
    changed.reserve(names.size());
    for (const std::string& name : names) {
      changed.push_back(pattern->replace_all(name, rule.replacement));
    }
    if (changed == names) return std::nullopt;
    return changed;
  }

  // Adds rules as long as they bring names together.
  void learn(const Root& root, const ModuleView& view, bool closes_gaps) {
    Recipe recipe = recipe_for(root, view, closes_gaps);
    std::vector<std::string> names = names_below(root);
    std::vector<std::string> closed_names = closed(names, closes_gaps);
    Outcome outcome = try_names(root, closed_names, view);
    if (outcome.collides) return;
    std::vector<NameRule> learned;
    while (learned.size() < most_rules && outcome.matched < places_.size() && !budget_.is_spent()) {
      const NamesToMatch ends = loose_ends(root, view, outcome, names, closed_names, closes_gaps);
      std::optional<Outcome> best;
      std::vector<std::string> best_names;
      std::size_t tries = 0;
      for (const NameRule& rule : rules_for(ends, budget_)) {
        if (tries++ == most_tries || (best && best->matched == places_.size())) break;
        std::optional<std::vector<std::string>> changed = renamed(names, rule);
        if (!changed) continue;
        Outcome next = try_names(root, closed(*changed, closes_gaps), view);
        const std::size_t to_beat = best ? best->matched + 1 : outcome.matched;
        if (next.collides || next.matched < to_beat) continue;
        if (best) learned.pop_back();
        learned.push_back(rule);
        best = std::move(next);
        best_names = *std::move(changed);
      }
      if (!best) break;
      outcome = *std::move(best);
      names = std::move(best_names);
      closed_names = closed(names, closes_gaps);
    }
    drop_needless(root, view, closes_gaps, learned, outcome);
    recipe.rules.insert(recipe.rules.end(), learned.begin(), learned.end());
    keep(root, recipe, outcome);
  }

  void drop_needless(const Root& root, const ModuleView& view, bool closes_gaps,
                     std::vector<NameRule>& rules, Outcome& outcome) {
    for (std::size_t dropped = rules.size(); dropped-- > 0;) {
      if (budget_.is_spent()) return;
      std::vector<std::string> names = names_below(root);
      for (std::size_t i = 0; i < rules.size(); ++i) {
        if (i == dropped) continue;
        if (auto changed = renamed(names, rules[i])) names = *std::move(changed);
      }
      Outcome without = try_names(root, closed(names, closes_gaps), view);
      if (without.collides || without.matched < outcome.matched) continue;
      rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(dropped));
      outcome = std::move(without);
    }
  }

  const ProposalInput& input_;
  const Archive base_;  // before index gaps are closed, where rules see it
  WorkBudget budget_{whole_budget};
  std::vector<Entry> entries_;
  std::vector<TensorSnapshot> tensors_;  // for each entry
  KnownForms forms_;
  std::vector<std::size_t> places_;  // wanted tensors that are looked at
  bool has_numbers_ = false;
  std::vector<Root> roots_;
  std::vector<ModuleView> views_;
  std::vector<Pattern> gap_exceptions_;
  std::vector<FoundRecipe> found_;
  std::size_t best_matched_ = 0;
  double least_cost_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<FoundRecipe> search_recipes(const ProposalInput& input) { return Search(input).run(); }

}  // namespace andiron::inline v1::detail
