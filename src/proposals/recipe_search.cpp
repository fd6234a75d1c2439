// SPDX-License-Identifier: MIT OR Apache-2.0
// Both sides are aligned first (tree_alignment.h), once for each layout that the adapters can read.
// The alignment is then written down as settings.
// Tested by tests/proposals/proposals_test.cpp
#include "src/proposals/recipe_search.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "andiron/text.h"
#include "src/core/try.h"
#include "src/names/index_gaps.h"
#include "src/names/rename.h"
#include "src/names/training_names.h"
#include "src/proposals/differences.h"
#include "src/proposals/extended_names.h"
#include "src/proposals/families.h"
#include "src/proposals/fused_layers.h"
#include "src/proposals/model_root.h"
#include "src/proposals/module_views.h"
#include "src/proposals/name_parts.h"
#include "src/proposals/name_sample.h"
#include "src/proposals/namings.h"
#include "src/proposals/renaming_plan.h"
#include "src/proposals/variant_names.h"
#include "src/proposals/work_budget.h"
#include "src/proposals/wrapped_names.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::uint64_t budget_of_alignment = 200'000;
constexpr std::uint64_t budget_of_rules = 120'000;  // of one attempt
constexpr std::uint64_t budget_of_all_rules = 300'000;
constexpr std::size_t most_names = 1500;
// Names are compared at the product of their lengths. Longer ones than this are no model's.
constexpr std::size_t longest_name = 256;
constexpr std::size_t most_written = 4;  // alignments that are written down as rules

// One way to look at both sides, aligned.
struct AlignedView {
  const ModuleView* view;
  ModelRoot root;
  RenamingPlan plan;
  bool settled_by_closing;  // names are right once gaps are closed
};

class Search {
 public:
  explicit Search(const ProposalInput& input)
      : input_(input),
        base_(input.source.named.before(NameStage::index_gaps).value_or(input.source.named)) {
    fold_weights();
    take_sample();
    views_ = views_of(input, base_, places_);
    for (const std::string& pattern : input.source.names.except) {
      if (Result<Pattern> except = pass_on_out_of_memory(Pattern::regex(pattern))) {
        gap_exceptions_.push_back(*std::move(except));
      }
    }
  }

  SearchResult run() {
    write_fused();
    std::vector<AlignedView> aligned;
    aligned.reserve(views_.size() + 1);
    for (const ModuleView& view : views_) aligned.push_back(align_view(view, source_));
    std::stable_sort(aligned.begin(), aligned.end(),
                     [&](const AlignedView& a, const AlignedView& b) {
                       if (a.plan.matched != b.plan.matched) return a.plan.matched > b.plan.matched;
                       return count_changes(a) < count_changes(b);
                     });
    prefer_layout_of_file(aligned);
    prefer_variants_of_file(aligned);
    if (aligned.size() > most_written) aligned.resize(most_written);
    if (!averaged_.empty() && !aligned.empty()) {
      aligned.push_back(align_view(*aligned.front().view, averaged_));
    }
    SearchResult result;
    result.naming = naming_of(source_);
    if (!aligned.empty()) {
      const AlignedView& best = aligned.front();
      result.wanted_naming = naming_of(best.view->asked);
      result.difference = difference_between(source_, best.view->asked, !is_sample_);
      result.other_family =
          difference_of_families(source_, best.view->asked, best.plan, best.root.prefix);
      note_meant(best, result);
    }
    const std::size_t most_matched = aligned.empty() ? 0 : aligned.front().plan.matched;
    for (AlignedView& one : aligned) {
      // What feeds less is not worth the work.
      if (one.plan.matched == 0 || 20 * one.plan.matched < 19 * most_matched) continue;
      write(one);
      const auto is_sure = [](const auto& part) { return !part.is_guess; };
      const bool has_guess =
          !std::all_of(one.plan.renamings.begin(), one.plan.renamings.end(), is_sure) ||
          !std::all_of(one.plan.edits.begin(), one.plan.edits.end(), is_sure);
      if (!has_guess) continue;
      leave_out_guesses(one);
      if (one.plan.matched != 0) write(one);
    }
    result.recipes = std::move(found_);
    return result;
  }

 private:
  // What is left is a proposal of its own.
  static void leave_out_guesses(AlignedView& one) {
    const auto is_open = [](const Renaming& part) { return part.is_guess || part.is_doubtful; };
    std::unordered_set<std::string> open;
    for (const Renaming& renaming : one.plan.renamings) {
      if (!is_open(renaming)) continue;
      one.plan.others.push_back(renaming.from);
      open.insert(renaming.from);
    }
    std::erase_if(one.plan.renamings, is_open);
    for (NeededEdit& edit : one.plan.edits) {
      std::erase_if(edit.tensors, [&](const std::string& name) { return open.contains(name); });
    }
    std::erase_if(one.plan.edits,
                  [](const NeededEdit& edit) { return edit.is_guess || edit.tensors.empty(); });
    one.plan.matched = one.plan.renamings.size();
  }

  // A file that says that PyTorch wrote it has PyTorch's layouts, also where all matrices are
  // square.
  void prefer_layout_of_file(std::vector<AlignedView>& aligned) const {
    if (!is_from_pytorch(base_) || input_.options.adapter.is_set() || aligned.empty()) return;
    const std::size_t most = aligned.front().plan.matched;
    const auto is_right = [&](const AlignedView& one) {
      return one.view->choice == from_pytorch && one.plan.matched == most;
    };
    if (std::any_of(aligned.begin(), aligned.end(), is_right)) {
      std::erase_if(aligned, [&](const AlignedView& one) { return !is_right(one); });
    }
  }

  // Where no name of the file has the name of a variant, rules need not put it in.
  void prefer_variants_of_file(std::vector<AlignedView>& aligned) const {
    if (input_.options.skip_enum_variants || aligned.empty()) return;
    const std::size_t most = aligned.front().plan.matched;
    const auto is_right = [&](const AlignedView& one) {
      return one.view->flips_variants && one.plan.matched == most;
    };
    if (std::none_of(aligned.begin(), aligned.end(), is_right)) return;
    if (!names_variants(source_, input_.wanted, input_.wanted_other)) {
      std::erase_if(aligned, [&](const AlignedView& one) { return !is_right(one); });
    }
  }

  // The tensors that parameters get by an alignment.
  void note_meant(const AlignedView& aligned, SearchResult& result) const {
    std::unordered_map<std::string_view, const std::vector<std::size_t>*> fed;
    for (std::size_t i = 0; i < aligned.view->asked.size(); ++i) {
      fed.emplace(aligned.view->asked[i].name, &aligned.view->feeds[i]);
    }
    const std::span<const WantedTensor> wanted =
        aligned.view->flips_variants ? input_.wanted_other : input_.wanted;
    for (const Renaming& renaming : aligned.plan.renamings) {
      const auto places = fed.find(renaming.to);
      // A weight that is computed has a name that the file does not have.
      const bool is_there =
          input_.source.named.find(aligned.root.prefix + renaming.from).has_value();
      if (places == fed.end() || !is_there) continue;
      for (const std::size_t place : *places->second) {
        (renaming.is_guess ? result.guessed : result.meant)
            .emplace(wanted[place].place.path, aligned.root.prefix + renaming.from);
      }
    }
  }

  // A file with the parts of weight norm for a module that wants the weights, or most of them.
  void fold_weights() {
    const auto count_parts = [](const auto& names) {
      return static_cast<std::size_t>(
          std::count_if(names.begin(), names.end(), [](std::string_view name) {
            return is_weight_part(name) && (name.ends_with("_g") || name.ends_with(".original0"));
          }));
    };
    std::vector<std::string_view> wanted;
    for (const WantedTensor& one : input_.wanted) wanted.push_back(one.place.path);
    if (count_parts(names_and_aliases(base_)) <= count_parts(wanted)) return;
    Result<Archive> folded = pass_on_out_of_memory(fold_weight_norm(base_));
    if (!folded || folded->size() == base_.size()) return;
    base_ = *std::move(folded);
    folds_weight_norm_ = true;
  }

  bool closes_gaps_now() const { return input_.source.names.close_gaps; }

  void take_sample() {
    std::vector<std::string_view> names = names_and_aliases(base_);
    const bool wants_weight_parts =
        std::any_of(input_.wanted.begin(), input_.wanted.end(),
                    [](const WantedTensor& wanted) { return is_weight_part(wanted.place.path); });
    const bool wants_adapters =
        std::any_of(input_.wanted.begin(), input_.wanted.end(),
                    [](const WantedTensor& wanted) { return is_lora_matrix(wanted.place.path); });
    std::erase_if(names, [&](std::string_view name) {
      return name.size() > longest_name || !is_plain_name(name) || is_optimizer_state(name) ||
             is_flattened(name) || (is_weight_part(name) && !wants_weight_parts) ||
             (is_lora_matrix(name) && !wants_adapters);
    });
    leave_out_extensions(names, input_.wanted);
    const bool wants_booleans =
        std::any_of(input_.wanted.begin(), input_.wanted.end(),
                    [](const WantedTensor& wanted) { return wanted.leaf.dtype == DType::boolean; });
    const std::vector<std::size_t> sample = sample_of_names(names, most_names);
    is_sample_ = sample.size() < names.size();
    for (const std::size_t i : sample) {
      const std::optional<std::size_t> index = base_.find(names[i]);
      if (!index) continue;
      const TensorInfo info = base_.info(*index);
      TreeTensor tensor;
      tensor.name = names[i];
      tensor.shape.assign(info.shape.begin(), info.shape.end());
      tensor.kind = kind_number(info.dtype);
      // Formats without a bool of their own store it in these.
      const bool may_be_bool = info.dtype == DType::u8 || info.dtype == DType::u32;
      if (may_be_bool && wants_booleans) tensor.kind = kind_number(DType::boolean);
      (is_averaged(names[i]) ? averaged_ : source_).push_back(std::move(tensor));
    }
    if (source_.size() < averaged_.size() / 2) {
      source_.insert(source_.end(), averaged_.begin(), averaged_.end());
      averaged_.clear();
    }
    // Names that a rule could not be written for are left to the trial.
    std::vector<std::string_view> paths;
    std::vector<std::size_t> plain;
    std::unordered_set<std::string_view> asked;
    for (const WantedTensor& one : input_.wanted) asked.insert(one.place.path);
    for (std::size_t i = 0; i < input_.wanted.size(); ++i) {
      const std::string_view path = input_.wanted[i].place.path;
      if (path.size() > longest_name || !is_plain_name(path)) continue;
      // Nothing is left of these in a file whose weights are computed.
      if (folds_weight_norm_ && asked.contains(partner_in_weight_norm(path))) continue;
      paths.push_back(path);
      plain.push_back(i);
    }
    for (const std::size_t i : sample_of_names(paths, most_names)) places_.push_back(plain[i]);
    is_sample_ = is_sample_ || places_.size() < paths.size();
    is_sorted_ = std::is_sorted(names.begin(), names.end());
    ignores_shapes_ =
        std::any_of(input_.wanted.begin(), input_.wanted.end(),
                    [](const WantedTensor& wanted) { return wanted.leaf.accepts_any_shape; });
  }

  static std::size_t count_changes(const AlignedView& one) {
    std::size_t count = one.view->choice ? 1 : 0;
    for (const Renaming& renaming : one.plan.renamings) count += renaming.from != renaming.to;
    return count + one.plan.edits.size();
  }

  std::vector<std::string> closed(const std::vector<std::string>& names) const {
    const std::vector<std::string_view> views(names.begin(), names.end());
    return names_without_index_gaps(views, gap_exceptions_);
  }

  AlignedView align_view(const ModuleView& view, std::vector<TreeTensor> source) {
    WorkBudget budget(budget_of_alignment);
    std::vector<TreeTensor> wanted = view.asked;
    if (ignores_shapes_) {
      for (std::vector<TreeTensor>* side : {&wanted, &source}) {
        for (TreeTensor& tensor : *side) tensor.shape.clear();
      }
    }
    // Fused tensors may have the shapes of others by chance.
    const Regrouping whole = regroup(source, wanted);
    AlignedView result = {&view, find_root(whole.source.tensors, whole.wanted.tensors), {}, false};
    std::erase_if(source, [&](const TreeTensor& tensor) {
      return !tensor.name.starts_with(result.root.prefix);
    });
    for (TreeTensor& tensor : source) tensor.name.erase(0, result.root.prefix.size());

    const std::vector<bool> transposed = find_transposed(source, wanted);
    std::vector<Renaming> settled;
    if (std::find(transposed.begin(), transposed.end(), true) == transposed.end()) {
      settled = settle(source, wanted, result.settled_by_closing);
    }
    const Regrouping regrouping = regroup(source, wanted);
    const std::vector<AlignedTensor> alignment =
        align(regrouping.source.tensors, regrouping.wanted.tensors, is_sorted_, budget);
    result.plan = plan_renaming(source, wanted, regrouping, alignment);
    result.plan.matched += settled.size();
    result.plan.renamings.insert(result.plan.renamings.end(), settled.begin(), settled.end());
    // Parameters count, not tensors of the file.
    std::unordered_map<std::string_view, std::size_t> more;
    for (std::size_t i = 0; i < view.asked.size(); ++i) {
      if (view.feeds[i].size() > 1) more.emplace(view.asked[i].name, view.feeds[i].size() - 1);
    }
    for (const Renaming& renaming : result.plan.renamings) {
      if (const auto fed = more.find(renaming.to); fed != more.end()) {
        result.plan.matched += fed->second;
      }
    }
    return result;
  }

  // Takes out of both sides what has its right name already, if that is most of it.
  std::vector<Renaming> settle(std::vector<TreeTensor>& source, std::vector<TreeTensor>& wanted,
                               bool& by_closing) const {
    std::vector<std::string> names;
    names.reserve(source.size());
    for (const TreeTensor& tensor : source) names.push_back(tensor.name);
    for (const bool closes : {false, true}) {
      const std::vector<std::string> now = closes ? closed(names) : names;
      std::unordered_map<std::string_view, std::size_t> by_name;
      for (std::size_t i = 0; i < now.size(); ++i) by_name.try_emplace(now[i], i);
      std::vector<Renaming> settled;
      std::vector<bool> is_settled(source.size());
      std::vector<TreeTensor> rest;
      for (const TreeTensor& one : wanted) {
        const auto same = by_name.find(one.name);
        const bool fits = same != by_name.end() && source[same->second].shape == one.shape &&
                          source[same->second].kind == one.kind;
        if (!fits) {
          rest.push_back(one);
          continue;
        }
        is_settled[same->second] = true;
        settled.push_back({names[same->second], one.name, Evidence::name, false});
      }
      if (!closes) settle_extended(source, wanted, is_settled, rest, settled);
      if (2 * settled.size() < wanted.size()) continue;
      std::vector<TreeTensor> left;
      for (std::size_t i = 0; i < source.size(); ++i) {
        if (!is_settled[i]) left.push_back(source[i]);
      }
      if (is_shifted(left, rest)) continue;
      wanted = std::move(rest);
      source = std::move(left);
      by_closing = closes;
      return settled;
    }
    return {};
  }

  // Whether names are left on both sides that differ in their numbers alone: a list that begins
  // with another number has the same names for other tensors.
  static bool is_shifted(const std::vector<TreeTensor>& source,
                         const std::vector<TreeTensor>& wanted) {
    std::set<std::pair<std::string, std::vector<std::uint64_t>>> kinds;
    for (const TreeTensor& tensor : source) kinds.emplace(name_kind(tensor.name), tensor.shape);
    return std::any_of(wanted.begin(), wanted.end(), [&](const TreeTensor& tensor) {
      return kinds.contains({name_kind(tensor.name), tensor.shape});
    });
  }

  // Whether closing gaps would change a name.
  bool has_gaps(const RenamingPlan& plan) const {
    std::vector<std::string> names = plan.others;
    for (const Renaming& renaming : plan.renamings) names.push_back(renaming.from);
    return closed(names) != names;
  }

  // The settings for what lies below a prefix.
  Recipe recipe_below(const ModelRoot& root) const {
    Recipe recipe;
    const bool is_key = root.prefix.ends_with('.') && input_.source.names.remapper.is_empty();
    if (is_key) {
      recipe.rival = root.rival;
      recipe.top_level_key = root.prefix.substr(0, root.prefix.size() - 1);
    } else if (!root.prefix.empty()) {
      recipe.rules.push_back(
          {.pattern = "^" + escaped_for_regex(root.prefix),
           .replacement = "",
           .is_guess = !root.rival.empty(),
           .reason = root.rival.empty() ? std::string() : reason_for_rival(root.rival)});
    }
    recipe.folds_weight_norm = folds_weight_norm_;
    return recipe;
  }

  // Where PyTorch's adapter alone, below a prefix, takes joined tensors apart.
  void write_fused() {
    const AdapterChoice choice = input_.options.adapter.is_set() ? AdapterChoice() : from_pytorch;
    const AnyAdapter adapter = chosen_adapter(choice, input_.options.adapter);
    const std::optional<FusedRoot> root = root_of_fused_layers(base_, *adapter, input_.wanted);
    if (!root) return;
    Recipe recipe = recipe_below({root->of_file, ""});
    if (!root->of_module.empty()) {
      recipe.rules.push_back({.pattern = "^", .replacement = root->of_module});
    }
    recipe.adapter = choice;
    found_.push_back({std::move(recipe), root->of_file});
  }

  // What names become by rules, before gaps are closed.
  static std::vector<std::string> renamed_by(std::span<const NameRule> rules,
                                             std::vector<std::string> names) {
    for (const NameRule& rule : rules) {
      const Result<Pattern> pattern = pass_on_out_of_memory(Pattern::regex(rule.pattern));
      if (!pattern) continue;
      for (std::string& name : names) {
        if (pattern->matches(name)) name = pattern->replace_all(name, rule.replacement);
      }
    }
    return names;
  }

  // Edits run after the rules and before gaps are closed.
  static std::vector<ProposedEdit> edits_for(const RenamingPlan& plan,
                                             std::span<const NameRule> rules) {
    if (plan.edits.empty()) return {};
    std::vector<std::string> in_file;
    for (const Renaming& renaming : plan.renamings) in_file.push_back(renaming.from);
    in_file.insert(in_file.end(), plan.others.begin(), plan.others.end());
    const std::vector<std::string> now = renamed_by(rules, in_file);
    std::vector<NameAtEdits> names;
    for (std::size_t i = 0; i < now.size(); ++i) {
      names.push_back({in_file[i], now[i], i < plan.renamings.size()});
    }
    return write_edits(plan.edits, names);
  }

  // Writes an alignment down as settings, with gaps closed or not.
  void write(const AlignedView& one) {
    std::optional<Recipe> best;
    for (const bool flips : {false, true}) {
      const bool closes_gaps = closes_gaps_now() != flips;
      if (one.settled_by_closing && !closes_gaps) continue;
      if (best && (best->rules.empty() || !has_gaps(one.plan))) break;
      if (all_rules_.is_spent()) break;
      all_rules_.spend(budget_of_rules / 4);
      WorkBudget budget(budget_of_rules);
      std::optional<std::vector<NameRule>> rules =
          write_rules({one.plan.renamings, one.plan.others, closes_gaps, gap_exceptions_}, budget);
      if (!rules) continue;
      Recipe recipe = recipe_below(one.root);
      recipe.edits = edits_for(one.plan, *rules);
      std::move(rules->begin(), rules->end(), std::back_inserter(recipe.rules));
      if (closes_gaps != closes_gaps_now()) recipe.closes_gaps = closes_gaps;
      recipe.adapter = one.view->choice;
      if (one.view->flips_variants) {
        recipe.skips_variants = !input_.options.skip_enum_variants;
      }
      if (!best || recipe.cost() < best->cost()) best = std::move(recipe);
    }
    if (best) found_.push_back({*std::move(best), one.root.prefix});
  }

  const ProposalInput& input_;
  WorkBudget all_rules_{budget_of_all_rules};
  Archive base_;  // before index gaps are closed, where rules see it
  bool folds_weight_norm_ = false;
  std::vector<TreeTensor> source_;
  std::vector<TreeTensor> averaged_;  // weights averaged over training, beside the others
  std::vector<std::size_t> places_;   // wanted tensors that are looked at
  bool is_sample_ = false;            // of either side
  bool is_sorted_ = false;
  bool ignores_shapes_ = false;
  std::vector<ModuleView> views_;
  std::vector<Pattern> gap_exceptions_;
  std::vector<FoundRecipe> found_;
};

}  // namespace

SearchResult search_plain_names(const ProposalInput& input) { return Search(input).run(); }

SearchResult search_recipes(const ProposalInput& input) {
  const std::optional<UnwrappedNames> unwrapped = UnwrappedNames::of(input);
  return unwrapped ? unwrapped->search(input) : search_plain_names(input);
}

}  // namespace andiron::inline v1::detail
