// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/tree_alignment_test.cpp
#include "src/proposals/tree_alignment.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "src/core/text/digit.h"
#include "src/proposals/assignment.h"
#include "src/proposals/list_places.h"
#include "src/proposals/module_label.h"
#include "src/proposals/name_parts.h"
#include "src/proposals/shared_forms.h"
#include "src/proposals/spelling.h"
#include "src/proposals/strangers.h"

namespace andiron::inline v1::detail {
namespace {

using NodeId = NameTree::NodeId;

// Modules that share this much of their tensors may be the same.
constexpr double least_likeness = 0.65;
constexpr double least_likeness_of_statistics = 0.55;  // of norms, which may have no parameters
// Below this, a difference of scores says nothing.
constexpr double clear_margin = 0.3;
// Far from where it is wanted, a tensor is taken only if its words agree.
constexpr double least_score_far_away = 0.7;
constexpr double sure_score_far_away = 1;
constexpr double least_score_alone = 0.3;
constexpr double score_of_neighbour = 1.0;
constexpr double score_of_equal_name = 1.0;
// Below this, words contradict each other.
constexpr double worst_score = -1.5;
constexpr std::size_t most_compared = 160;  // of a group, on either side
constexpr std::size_t most_levels = 64;
constexpr std::size_t many_forms = 4;

class Aligner {
 public:
  Aligner(std::span<const TreeTensor> source, std::span<const TreeTensor> wanted,
          const SharedForms& forms, bool source_is_sorted, WorkBudget& budget)
      : source_(source, forms.source, bags_),
        wanted_(wanted, forms.wanted, bags_),
        source_is_sorted_(source_is_sorted),
        budget_(budget),
        free_(source_.size()) {
    for (NodeId id = 0; id < source_.size(); ++id) free_[id] = source_[id].count;
    has_many_forms_ = bags_.counts(wanted_[NameTree::root].bag).size() >= many_forms;
  }

  std::vector<AlignedTensor> run() {
    std::vector<AlignedTensor> alignment;
    if (wanted_[NameTree::root].count == 0 || source_[NameTree::root].count == 0) return alignment;
    std::vector<NodeId> left_over = match(NameTree::root, NameTree::root, 0);
    left_over.insert(left_over.end(), crowded_out_.begin(), crowded_out_.end());
    pair_what_is_left(left_over);
    trust_what_was_alone();
    alignment = std::move(pairs_);
    std::sort(alignment.begin(), alignment.end(),
              [](const AlignedTensor& a, const AlignedTensor& b) { return a.wanted < b.wanted; });
    return alignment;
  }

 private:
  struct Unit {
    NodeId node;
    bool is_left_over;  // from a module in which nothing was found for it
  };

  // Once almost all is aligned, what is left on both sides and has the same forms may be the same,
  // in the order of its numbers. That is a guess.
  void pair_what_is_left(const std::vector<NodeId>& left_over) {
    if (4 * pairs_.size() < 3 * wanted_[NameTree::root].count) return;
    std::map<std::uint32_t, std::vector<NodeId>> by_bag;
    for (const NodeId node : left_over) by_bag[wanted_[node].bag].push_back(node);
    for (const auto& [bag, nodes] : by_bag) {
      if (budget_.is_spent()) return;
      const std::vector<NodeId> free = candidates_for(nodes.front(), NameTree::root, 1, 1);
      if (free.size() != nodes.size() || free.size() > most_compared) continue;
      const std::vector<Label> wanted = labels_of(wanted_, nodes, NameTree::root);
      const std::vector<Label> source = labels_of(source_, free, NameTree::root);
      const Ranks wanted_ranks = ranks_of(wanted);
      const Ranks source_ranks = ranks_of(source);
      if (wanted_ranks.count != nodes.size() || source_ranks.count != nodes.size()) continue;
      std::vector<std::size_t> partners(nodes.size());
      for (std::size_t j = 0; j < free.size(); ++j) partners[source_ranks.of[j]] = j;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::size_t j = partners[wanted_ranks.of[i]];
        if (contradict(wanted[i], source[j]) && !is_only_form(nodes[i], free[j])) continue;
        note(nodes[i], free[j], Evidence::order);
        if (nodes.size() == 1) alone_.insert(nodes[i]);
        if (!wanted_.is_leaf(nodes[i])) match(nodes[i], free[j], 1);
      }
    }
  }

  // Where all tensors of shapes that both sides have found each other, what had one place to go to
  // is in the right one.
  void trust_what_was_alone() {
    const bool is_complete =
        pairs_.size() == wanted_[NameTree::root].count && free_[NameTree::root] == 0;
    const auto sure = static_cast<std::size_t>(std::count_if(
        pairs_.begin(), pairs_.end(), [](const AlignedTensor& pair) { return !pair.is_guess; }));
    // Where little is known, there may have been other ways.
    if (!is_complete || 4 * sure < 3 * pairs_.size()) return;
    for (AlignedTensor& pair : pairs_) {
      const std::optional<NodeId> leaf = wanted_.leaf_of(pair.wanted);
      if (!pair.is_guess || !leaf) continue;
      bool is_alone = true;
      for (NodeId node = *leaf; node != NameTree::root; node = wanted_parent(node)) {
        const auto reason = reasons_.find(node);
        const bool is_by_order = reason != reasons_.end() && reason->second == Evidence::order;
        is_alone = is_alone && (!is_by_order || alone_.contains(node));
      }
      if (!is_alone) continue;
      pair.is_guess = false;
      pair.evidence = Evidence::rest;
    }
  }

  // ---- Pairs of modules ----

  // Aligns what two nodes hold. Returns the modules and tensors for which nothing was found.
  std::vector<NodeId> match(NodeId wanted, NodeId source, std::size_t level) {
    const NodeId bottom = wanted_.bottom_of_chain(wanted);
    std::vector<Unit> units;
    if (wanted_.is_leaf(bottom)) {
      units.push_back({bottom, false});
    } else {
      wanted = bottom;
      source = source_.bottom_of_chain(source);
      for (const NodeId child : wanted_[wanted].children) units.push_back({child, false});
    }
    return solve(std::move(units), wanted, source, level);
  }

  std::vector<NodeId> solve(std::vector<Unit> units, NodeId wanted_scope, NodeId source_scope,
                            std::size_t level) {
    std::vector<NodeId> left_over;
    // What was not taken far away from where it is wanted is looked at again, once more is known.
    std::vector<Unit> deferred;
    bool is_last_look = level > 0;
    const auto is_larger = [&](const Unit& a, const Unit& b) {
      const auto& in_a = wanted_[a.node];
      const auto& in_b = wanted_[b.node];
      if (in_a.count != in_b.count) return in_a.count > in_b.count;
      if (in_a.bag != in_b.bag) return in_a.bag < in_b.bag;
      return a.node < b.node;
    };
    while (!units.empty() || !deferred.empty()) {
      if (units.empty()) {
        units = std::move(deferred);
        deferred.clear();
        is_last_look = true;
      }
      if (!budget_.spend(1 + units.size() / 16) || level > most_levels) break;
      std::sort(units.begin(), units.end(), is_larger);
      const std::vector<Unit> group = take_group(units, source_scope);
      const std::vector<NodeId> candidates =
          candidates_for(group.front().node, source_scope, level, group.size());
      std::vector<std::optional<NodeId>> taken(group.size());
      if (!candidates.empty()) {
        taken = assign(group, candidates, wanted_scope, source_scope, level);
      }
      const bool some_taken =
          std::any_of(taken.begin(), taken.end(), [](const auto& one) { return one.has_value(); });
      for (std::size_t i = 0; i < group.size(); ++i) {
        const NodeId node = group[i].node;
        if (taken[i]) {
          if (wanted_.is_leaf(node)) continue;
          for (const NodeId rest : match(node, *taken[i], level + 1)) units.push_back({rest, true});
        } else if (!is_last_look && !candidates.empty() && is_small(node)) {
          deferred.push_back(group[i]);
        } else if (some_taken && !wanted_.is_leaf(node)) {
          // The file has fewer of these around here.
          crowded_out_.push_back(node);
        } else if (wanted_.is_leaf(node) ||
                   (wanted_.is_module(node) && !source_.is_module(source_scope))) {
          // The tensors of a module stay together.
          left_over.push_back(node);
        } else {
          // Nothing there holds the same: look for its parts.
          for (const NodeId child : wanted_[node].children) {
            units.push_back({child, group[i].is_left_over});
          }
        }
      }
    }
    for (const Unit& unit : units) left_over.push_back(unit.node);
    return left_over;
  }

  // Takes the largest units with equal forms, but what holds the same as something in the file
  // comes before what holds almost the same. Among modules those come first that have one place to
  // go to: the others are told apart by what is beside them.
  std::vector<Unit> take_group(std::vector<Unit>& units, NodeId source_scope) const {
    const auto end_of_group = [&](auto begin) {
      return std::find_if(begin, units.end(), [&](const Unit& unit) {
        return wanted_[unit.node].bag != wanted_[begin->node].bag;
      });
    };
    auto begin = units.begin();
    if (!is_small(begin->node)) {
      for (auto at = begin; at != units.end() && !is_small(at->node); at = end_of_group(at)) {
        if (free_with_bag(wanted_[at->node].bag, source_scope).empty()) continue;
        // All of them at once: some may lie in larger units.
        const bool is_complete = std::none_of(units.begin(), at, [&](const Unit& larger) {
          const std::span<const NodeId> same = wanted_.with_bag(wanted_[at->node].bag);
          const auto inside = std::lower_bound(same.begin(), same.end(), larger.node);
          return inside != same.end() && *inside < wanted_[larger.node].end;
        });
        if (!is_complete) break;
        begin = at;
        break;
      }
    } else {
      for (auto at = begin; at != units.end(); at = end_of_group(at)) {
        if (end_of_group(at) - at != 1) continue;
        if (free_with_bag(wanted_[at->node].bag, source_scope).size() != 1) continue;
        begin = at;
        break;
      }
    }
    const auto end = end_of_group(begin);
    std::vector<Unit> group(begin, end);
    units.erase(begin, end);
    return group;
  }

  // A module without others in it, or a tensor.
  bool is_small(NodeId wanted) const {
    const NodeId bottom = wanted_.bottom_of_chain(wanted);
    return wanted_.is_leaf(bottom) || wanted_.is_module(bottom);
  }

  bool is_free(NodeId source) const {
    return free_[source] > 0 && free_[source] == source_[source].count;
  }

  // Free nodes of the file in a scope that hold the same, for `count` of the module. If there are
  // fewer, those beside them that hold almost the same, too; if there is none, any that do. None
  // lies in another.
  std::vector<NodeId> candidates_for(NodeId wanted, NodeId scope, std::size_t level,
                                     std::size_t count) {
    const std::uint32_t bag = wanted_[wanted].bag;
    std::vector<NodeId> found = free_with_bag(bag, scope);
    if (wanted_.is_leaf(wanted)) {
      // The tensors of a module stay together.
      std::erase_if(found, [&](NodeId node) {
        const NodeId parent = source_[source_.bottom_of_chain(node)].parent;
        return parent != scope && source_.is_module(parent) && source_[parent].count > 1;
      });
      return found;
    }
    // A weight alone is a module without a bias, and comes from a module.
    for (NodeId& node : found) {
      const NodeId parent = source_[node].parent;
      const bool has_more = source_.is_leaf(node) && source_[parent].count > 1;
      if (has_more && source_.is_module(parent) && is_free(parent)) node = parent;
    }
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (found.size() >= count || (!found.empty() && is_small(wanted))) return found;
    if (found.empty() && has_parts_there(wanted, scope)) return found;
    // A module that wraps almost all around it may be what the file has without a wrapper.
    const NodeId around = level == 0 ? NameTree::root : wanted_[wanted].parent;
    const bool may_be_whole =
        3 * wanted_[wanted].count > 2 * wanted_[around].count &&
        (level == 0 || bags_.likeness(bag, source_[scope].bag) >
                           bags_.likeness(wanted_[around].bag, source_[scope].bag));
    const bool is_module = wanted_.is_module(wanted_.bottom_of_chain(wanted));
    const bool is_norm = is_module && has_statistics(bag);
    const std::uint32_t weight = weight_form(bag);
    std::vector<NodeId> equal = found;
    std::set<std::uint32_t> places;
    for (const NodeId node : equal) places.insert(kind_of_place(node));
    const auto may_stand_there = [&](NodeId node) {
      return places.empty() || places.contains(kind_of_place(node));
    };
    // Beside equal ones, only what is almost equal.
    double best = equal.empty() ? 0 : 1;
    std::vector<std::pair<double, NodeId>> near;
    for (const std::uint32_t other : source_.bags()) {
      const double likeness = bags_.likeness(bag, other);
      const bool are_norms = is_norm && has_statistics(other);
      if (likeness < (are_norms ? least_likeness_of_statistics : least_likeness)) continue;
      if (likeness < best - 0.1 || (other == bag && !equal.empty())) continue;
      const std::vector<NodeId> nodes = free_with_bag(other, scope);
      if (!budget_.spend(nodes.size() / 4)) break;
      for (const NodeId node : nodes) {
        if ((node == scope && !may_be_whole) || !may_stand_there(node)) continue;
        if (source_.is_leaf(source_.bottom_of_chain(node))) continue;
        // A module is another without its bias, but not without its weight.
        if (is_module != source_.is_module(source_.bottom_of_chain(node))) continue;
        if (is_module && weight_form(other) != weight && !are_norms) continue;
        near.emplace_back(likeness, node);
        best = std::max(best, likeness);
      }
      budget_.spend(1);
    }
    std::erase_if(near, [&](const auto& one) { return one.first < best - 0.1; });
    // The best first; then what neither lies in it nor around it.
    std::sort(near.begin(), near.end(), [](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first > b.first;
      return a.second < b.second;
    });
    for (const auto& one : near) {
      const NodeId node = one.second;
      const bool is_apart = std::none_of(found.begin(), found.end(), [&](NodeId other) {
        return source_.contains(other, node) || source_.contains(node, other);
      });
      if (is_apart) found.push_back(node);
    }
    // Too many to be compared would take the equal ones away.
    if (!equal.empty() && found.size() > most_compared) return equal;
    std::sort(found.begin(), found.end());
    return found;
  }

  // A number for the name of the module around one of the file, equal for all blocks.
  std::uint32_t kind_of_place(NodeId source) {
    const NodeId around = source_[source].parent;
    const auto [known, is_new] = kinds_of_places_.try_emplace(around, 0);
    if (!is_new) return known->second;
    std::string name;
    for (const std::string& segment : source_.plain_path(around)) name += segment + '.';
    const auto number = static_cast<std::uint32_t>(kinds_.size());
    return known->second = kinds_.try_emplace(name_kind(name), number).first->second;
  }

  // Whether the file has the same for all larger parts of a module, though not for the module: both
  // sides group them in different ways. A list is there if as many of its members are.
  bool has_parts_there(NodeId wanted, NodeId scope) const {
    bool has_some = false;
    for (const NodeId child : wanted_[wanted_.bottom_of_chain(wanted)].children) {
      if (is_small(child)) continue;
      has_some = true;
      const bool is_there = !free_with_bag(wanted_[child].bag, scope).empty();
      if (!is_there && !has_members_there(child, scope)) return false;
    }
    return has_some;
  }
  bool has_members_there(NodeId list, NodeId scope) const {
    const std::vector<NodeId>& members = wanted_[list].children;
    std::map<std::uint32_t, std::size_t> counts;
    for (const NodeId member : members) {
      if (is_small(member)) return false;
      ++counts[wanted_[member].bag];
    }
    return members.size() > 1 && std::all_of(counts.begin(), counts.end(), [&](const auto& one) {
             return free_with_bag(one.first, scope).size() >= one.second;
           });
  }

  bool has_statistics(std::uint32_t bag) const {
    const FormCounts& counts = bags_.counts(bag);
    return std::any_of(counts.begin(), counts.end(),
                       [](const auto& one) { return one.first.role == TensorRole::variance; });
  }

  // The form of a module's weight; 0 if it has none.
  std::uint32_t weight_form(std::uint32_t bag) const {
    for (const auto& [key, count] : bags_.counts(bag)) {
      if (key.role == TensorRole::weight) return key.form;
    }
    return 0;
  }

  std::vector<NodeId> free_with_bag(std::uint32_t bag, NodeId scope) const {
    std::vector<NodeId> found;
    const std::span<const NodeId> nodes = source_.with_bag(bag);
    auto at = std::lower_bound(nodes.begin(), nodes.end(), scope);
    for (; at != nodes.end() && *at < source_[scope].end; ++at) {
      // Of a chain the first.
      if (!found.empty() && source_.contains(found.back(), *at)) continue;
      if (is_free(*at)) found.push_back(*at);
    }
    return found;
  }

  // ---- What is beside a module ----

  // What a module beside one was given.
  struct Neighbour {
    NodeId wanted;
    NodeId given;
    Side side;
  };
  std::vector<Neighbour> neighbours_of(NodeId wanted) const {
    std::vector<Neighbour> neighbours;
    std::vector<Neighbour> by_word;
    for (const NodeId beside : wanted_[wanted_[wanted].parent].children) {
      const auto found = matched_.find(beside);
      if (found == matched_.end() || beside == wanted) continue;
      const std::optional<Side> side = side_of(wanted_, wanted, beside, true);
      if (side) neighbours.push_back({beside, found->second, *side});
      if (shares_word(wanted_, wanted, beside)) {
        by_word.push_back({beside, found->second, Side::either});
      }
    }
    // A common word tells more than the order in which they are listed.
    return by_word.empty() ? neighbours : by_word;
  }
  bool leans_on_guess(NodeId wanted, NodeId source) const {
    const std::vector<Neighbour> neighbours = neighbours_of(wanted);
    return std::any_of(neighbours.begin(), neighbours.end(), [&](const Neighbour& one) {
      return guesses_.contains(one.wanted) && is_beside(source, one);
    });
  }
  bool is_beside(NodeId source, const Neighbour& neighbour) const {
    const std::optional<Side> side = side_of(source_, source, neighbour.given, !source_is_sorted_);
    return side &&
           (*side == neighbour.side || *side == Side::either || neighbour.side == Side::either);
  }

  // ---- Which of several modules that hold the same ----

  // Whether another module around has a weight of the same form: a bias more or less is no reason.
  bool has_same_weight_beside(NodeId wanted, NodeId source, NodeId scope) const {
    if (!wanted_.is_module(wanted_.bottom_of_chain(wanted))) return false;
    const std::uint32_t form = weight_form(wanted_[wanted].bag);
    for (const NodeId child : source_[scope].children) {
      if (source_.contains(child, source)) continue;
      const NodeId bottom = source_.bottom_of_chain(child);
      if (source_.is_module(bottom) && weight_form(source_[child].bag) == form) return true;
    }
    return false;
  }

  // Shapes tell more where both sides hold the same.
  bool hold_the_same(NodeId wanted, NodeId source) const {
    return wanted_[wanted].bag == source_[source].bag;
  }

  // The same for groups that are too large to be compared one by one: as many on both sides, each
  // with a number of its own. Otherwise none is given.
  std::vector<std::optional<NodeId>> assign_by_numbers(const std::vector<Unit>& group,
                                                       const std::vector<NodeId>& candidates,
                                                       NodeId wanted_scope, NodeId source_scope) {
    std::vector<std::optional<NodeId>> taken(group.size());
    if (group.size() != candidates.size()) return taken;
    std::map<std::vector<std::uint64_t>, std::size_t> wanted;
    std::map<std::vector<std::uint64_t>, std::size_t> source;
    for (std::size_t i = 0; i < group.size(); ++i) {
      wanted.emplace(label_of(wanted_, group[i].node, wanted_scope).numbers, i);
      source.emplace(label_of(source_, candidates[i], source_scope).numbers, i);
    }
    budget_.spend(group.size());
    if (wanted.size() != group.size() || source.size() != group.size()) return taken;
    for (auto at = source.begin(); const auto& [numbers, i] : wanted) {
      taken[i] = candidates[at++->second];
      note(group[i].node, *taken[i], Evidence::numbers);
    }
    return taken;
  }

  // Gives nodes of the file to nodes of the module. Leaves become pairs at once.
  std::vector<std::optional<NodeId>> assign(const std::vector<Unit>& group,
                                            const std::vector<NodeId>& candidates,
                                            NodeId wanted_scope, NodeId source_scope,
                                            std::size_t level) {
    if (group.size() > most_compared || candidates.size() > most_compared) {
      return assign_by_numbers(group, candidates, wanted_scope, source_scope);
    }
    const std::size_t rows = group.size();
    const std::size_t columns = candidates.size();
    std::vector<NodeId> nodes;
    nodes.reserve(rows);
    for (const Unit& unit : group) nodes.push_back(unit.node);
    const std::vector<Label> wanted = labels_of(wanted_, nodes, wanted_scope);
    std::vector<Label> source = labels_of(source_, candidates, source_scope);
    swap_numbers_of_other_lists(wanted, source);
    const bool order_tells = !source_is_sorted_ || have_the_same_words(source);
    Ranks wanted_ranks = ranks_in_order(wanted, order_tells);
    Ranks source_ranks = ranks_in_order(source, order_tells);
    const bool have_equal_numbers =
        rank_by_equal_numbers(wanted, source, wanted_ranks, source_ranks);
    // Numbers on one side, query, key and value on the other: most count them in this order. Norms
    // are counted in the order in which they are used.
    bool is_by_projection = false;
    bool is_by_norm = false;
    if (rows == columns && (wanted_ranks.count == rows) != (source_ranks.count == rows)) {
      const bool is_wanted_numbered = wanted_ranks.count == rows;
      Ranks projections = ranks_of_projections(is_wanted_numbered ? source : wanted);
      is_by_projection = projections.count == rows;
      Ranks norms = ranks_of_norms(is_wanted_numbered ? source : wanted);
      is_by_norm = !is_by_projection && norms.count == rows;
      if (is_by_projection || is_by_norm) {
        (is_wanted_numbered ? source_ranks : wanted_ranks) =
            std::move(is_by_projection ? projections : norms);
      }
    }
    const bool same_parents =
        std::all_of(group.begin(), group.end(),
                    [&](const Unit& unit) {
                      return wanted_[unit.node].parent == wanted_[group[0].node].parent;
                    }) &&
        std::all_of(candidates.begin(), candidates.end(), [&](NodeId node) {
          return source_[node].parent == source_[candidates[0]].parent;
        });
    // One side has more of them. Where numbers are places among others, too, the first is the
    // first.
    const bool are_lists = rows != columns && same_parents && wanted_ranks.count == rows &&
                           source_ranks.count == columns && have_the_same_words(wanted) &&
                           have_the_same_words(source);
    const bool by_place = are_lists && (counts_others_before(wanted_, nodes, bags_) ||
                                        counts_others_before(source_, candidates, bags_));
    const bool by_rank =
        by_place || (wanted_ranks.count == source_ranks.count && wanted_ranks.count > 1);
    // One that has no number of its own is not the first of a list.
    const bool is_lone =
        by_place && rows == 1 && !last_number_in(wanted_[nodes.front()].segment).has_value();
    // Numbers that are places among others say which comes first, where the module lists them in
    // another order than it counts them.
    const bool is_order_open =
        is_lone || (by_rank && !have_equal_numbers &&
                    ((counts_others(source_, candidates.front()) && !are_ascending(wanted_ranks)) ||
                     (!source_is_sorted_ && counts_others(wanted_, nodes.front()) &&
                      !are_ascending(source_ranks))));
    const bool backwards = by_rank && rows == columns && same_parents &&
                           runs_backwards(wanted_, group.front().node, source_, candidates.front());

    const Spelling spelling(wanted_, nodes, wanted_scope, source_, candidates, source_scope);
    const std::vector<std::optional<std::size_t>> equal = spelling.equal_names();
    // What is known, without and with the order in which nodes are listed.
    std::vector<std::vector<double>> words(rows, std::vector<double>(columns));
    std::vector<std::vector<double>> known(rows, std::vector<double>(columns));
    std::vector<std::vector<double>> costs(rows, std::vector<double>(columns));
    for (std::size_t i = 0; i < rows; ++i) {
      const std::vector<Neighbour> neighbours = neighbours_of(group[i].node);
      for (std::size_t j = 0; j < columns; ++j) {
        words[i][j] = word_score(wanted[i], source[j]);
        double away = 0;
        if (by_rank) {
          const std::size_t rank =
              backwards ? source_ranks.count - 1 - source_ranks.of[j] : source_ranks.of[j];
          const std::size_t steps =
              rank > wanted_ranks.of[i] ? rank - wanted_ranks.of[i] : wanted_ranks.of[i] - rank;
          away = steps == 0 ? 0 : std::min(1.0, 0.4 + 0.1 * static_cast<double>(steps));
        } else {
          away = number_cost(wanted[i], source[j]);
        }
        const bool has_neighbour =
            std::any_of(neighbours.begin(), neighbours.end(),
                        [&](const Neighbour& one) { return is_beside(candidates[j], one); });
        if (has_neighbour) words[i][j] += score_of_neighbour;
        if (equal[i] == j) words[i][j] += score_of_equal_name;
        known[i][j] = away - words[i][j] -
                      bags_.likeness(wanted_[group[i].node].bag, source_[candidates[j]].bag);
        const auto expected = static_cast<double>(i) / static_cast<double>(rows);
        const auto there = static_cast<double>(j) / static_cast<double>(columns);
        costs[i][j] = known[i][j] + (source_is_sorted_ ? 0.001 : 0.05) * std::abs(expected - there);
      }
      budget_.spend(1 + columns * (1 + neighbours.size() / 16) / 4);
    }
    const std::vector<std::optional<std::size_t>> chosen = cheapest_assignment(costs);
    const std::vector<std::vector<double>> negated_words = negated(words);
    std::vector<std::optional<NodeId>> taken(rows);
    std::vector<Evidence> reasons(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      if (!chosen[i]) continue;
      const std::size_t j = *chosen[i];
      const bool is_alone = rows == 1 && columns == 1;
      const bool is_only_one = is_alone && is_only_form(group[i].node, candidates[j]);
      const bool is_contradicted = words[i][j] <= worst_score;
      // A module that holds much more is told by more than what they share.
      const bool is_part = 2 * wanted_[group[i].node].count <= source_[candidates[j]].count;
      // Where both sides hold the same, what is left for a form is right, whatever it is called.
      const bool is_forced = is_alone && level > 0 && hold_the_same(wanted_scope, source_scope);
      if (is_contradicted && !is_only_one && !is_forced) continue;
      // Far away from where it is wanted, the shape of one module is no reason.
      const bool is_far = level == 0 && !is_only_one && is_small(group[i].node);
      if (is_far && group[i].is_left_over && words[i][j] < least_score_far_away) continue;
      if (is_far && is_alone && words[i][j] < least_score_alone) continue;
      taken[i] = candidates[j];
      Evidence evidence = Evidence::order;
      if (is_alone) {
        // At the top everything stands beside everything, so that words must tell, too.
        const bool words_tell = is_far ? words[i][j] >= sure_score_far_away &&
                                             word_score(wanted[i], source[j]) >= least_score_alone
                                       : words[i][j] >= least_score_far_away;
        const bool has_twin = has_same_weight_beside(group[i].node, candidates[j], source_scope);
        const bool is_only_here =
            (has_many_forms_ || level > 0) &&
            (is_only_one || (hold_the_same(wanted_scope, source_scope) && !has_twin && !is_part));
        const bool shape_tells = !is_far && !is_contradicted &&
                                 (is_only_here || (!is_small(group[i].node) && !is_part) ||
                                  words[i][j] >= least_score_alone);
        evidence = words_tell ? Evidence::words : shape_tells ? Evidence::shape : Evidence::order;
      } else if (margin_of(i, chosen, known) >= clear_margin) {
        const bool words_tell = margin_of(i, chosen, negated_words) >= clear_margin;
        const bool is_by_order =
            is_by_projection || (by_rank && !have_equal_numbers && !is_by_norm &&
                                 source_is_sorted_ && mixes_lists(i, chosen, wanted, source));
        evidence = words_tell ? Evidence::words : is_by_order ? Evidence::order : Evidence::numbers;
        // Something that the module has beside it is not there: it may be another kind of module.
        const bool is_named_alike = wanted[i].last == source[j].last;
        if (words_tell && rows > columns && !is_named_alike) evidence = Evidence::order;
        if (is_order_open || spelling.speaks_against(i, chosen, wanted, source)) {
          evidence = Evidence::order;
        }
      }
      reasons[i] = evidence;
      if (is_alone && !is_part && !contradict(wanted[i], source[j])) alone_.insert(group[i].node);
    }
    // If one is in the wrong place, so is another.
    const bool has_guess =
        std::find(reasons.begin(), reasons.end(), Evidence::order) != reasons.end();
    for (std::size_t i = 0; i < rows; ++i) {
      if (!taken[i]) continue;
      const bool may_be_exchanged = has_guess && rows == columns && equal[i] != chosen[i];
      if (may_be_exchanged || leans_on_guess(group[i].node, *taken[i])) {
        doubtful_.insert(group[i].node);
      }
      note(group[i].node, *taken[i], reasons[i]);
    }
    return taken;
  }

  static bool are_ascending(const Ranks& ranks) {
    return std::is_sorted(ranks.of.begin(), ranks.of.end());
  }

  // Whether the members of the list that one is of got members of several lists, or the other way
  // round: what is the first of two lists is not told by numbers.
  static bool mixes_lists(std::size_t i, const std::vector<std::optional<std::size_t>>& chosen,
                          const std::vector<Label>& wanted, const std::vector<Label>& source) {
    for (std::size_t other = 0; other < chosen.size(); ++other) {
      if (!chosen[other]) continue;
      if (are_of_one_list(wanted[i], wanted[other]) !=
          are_of_one_list(source[*chosen[i]], source[*chosen[other]])) {
        return true;
      }
    }
    return false;
  }

  // Whether no other tensor of the file or the module has the forms of these.
  bool is_only_form(NodeId wanted, NodeId source) const {
    return wanted_.with_bag(wanted_[wanted].bag).size() == chain_length(wanted_, wanted) &&
           source_.with_bag(wanted_[wanted].bag).size() == chain_length(source_, source);
  }
  static std::size_t chain_length(const NameTree& tree, NodeId node) {
    while (node != NameTree::root && tree[tree[node].parent].children.size() == 1) {
      node = tree[node].parent;
    }
    return tree[tree.bottom_of_chain(node)].depth - tree[node].depth + 1;
  }

  static std::vector<std::vector<double>> negated(std::vector<std::vector<double>> values) {
    for (std::vector<double>& row : values) {
      for (double& value : row) value = -value;
    }
    return values;
  }

  // By how much the costs rise, at least, if a node gets another one.
  static double margin_of(std::size_t i, const std::vector<std::optional<std::size_t>>& chosen,
                          const std::vector<std::vector<double>>& costs) {
    const std::size_t j = *chosen[i];
    double least = std::numeric_limits<double>::infinity();
    std::set<std::size_t> used;
    for (std::size_t other = 0; other < chosen.size(); ++other) {
      if (!chosen[other]) continue;
      used.insert(*chosen[other]);
      if (other == i) continue;
      const std::size_t theirs = *chosen[other];
      least =
          std::min(least, costs[i][theirs] + costs[other][j] - costs[i][j] - costs[other][theirs]);
    }
    for (std::size_t column = 0; column < costs[i].size(); ++column) {
      if (!used.contains(column)) least = std::min(least, costs[i][column] - costs[i][j]);
    }
    for (std::size_t other = 0; other < chosen.size(); ++other) {
      if (!chosen[other]) least = std::min(least, costs[other][j] - costs[i][j]);
    }
    return least;
  }

  // Remembers why two nodes belong together; leaves become a pair.
  void note(NodeId wanted, NodeId source, Evidence evidence) {
    matched_.emplace(wanted, source);
    // A tensor belongs to another because their modules do.
    const auto above = reasons_.find(wanted_parent(wanted));
    if (evidence == Evidence::shape && above != reasons_.end()) evidence = above->second;
    reasons_.emplace(wanted, evidence);
    const bool is_guess = evidence == Evidence::order || guesses_.contains(wanted_parent(wanted));
    if (is_guess) {
      for (NodeId id = wanted; id < wanted_[wanted].end; ++id) guesses_.insert(id);
    }
    if (doubtful_.contains(wanted_parent(wanted))) doubtful_.insert(wanted);
    if (!wanted_.is_leaf(wanted)) return;
    const NodeId leaf = source_.bottom_of_chain(source);
    if (!source_.is_leaf(leaf)) return;
    const bool same_name =
        wanted_[wanted].segment == source_[leaf].segment &&
        wanted_[wanted_[wanted].parent].segment == source_[source_[leaf].parent].segment;
    if (!is_guess && same_name) evidence = Evidence::name;
    pairs_.push_back({*source_[leaf].tensor, *wanted_[wanted].tensor, evidence, is_guess,
                      doubtful_.contains(wanted)});
    for (NodeId id = leaf;; id = source_[id].parent) {
      --free_[id];
      if (id == NameTree::root) break;
    }
  }
  NodeId wanted_parent(NodeId node) const { return wanted_[node].parent; }

  NameTree::Bags bags_;
  NameTree source_;
  NameTree wanted_;
  bool source_is_sorted_;
  WorkBudget& budget_;
  bool has_many_forms_ = false;      // so that one that occurs once says something
  std::vector<std::uint32_t> free_;  // tensors of the file below a node that nothing got yet
  std::unordered_map<NodeId, NodeId> matched_;  // wanted to source
  std::unordered_map<NodeId, Evidence> reasons_;
  std::vector<NodeId> crowded_out_;  // wanted nodes of which others got all that there was
  std::set<NodeId> alone_;           // wanted nodes that had one place to go to
  std::set<NodeId> guesses_;         // wanted nodes at or below a guess
  std::set<NodeId> doubtful_;        // the same for those that may be exchanged with a guess
  std::unordered_map<NodeId, std::uint32_t> kinds_of_places_;
  std::unordered_map<std::string, std::uint32_t> kinds_;
  std::vector<AlignedTensor> pairs_;
};

}  // namespace

std::vector<AlignedTensor> align(std::span<const TreeTensor> source,
                                 std::span<const TreeTensor> wanted, bool source_is_sorted,
                                 WorkBudget& budget) {
  const auto run = [&](std::span<const TreeTensor> tensors, WorkBudget& own_budget) {
    return Aligner(tensors, wanted, SharedForms(tensors, wanted), source_is_sorted, own_budget)
        .run();
  };
  WorkBudget as_much_again = budget;
  std::vector<AlignedTensor> alignment = run(source, budget);
  const std::vector<bool> is_stranger = find_strangers(source, wanted, alignment);
  if (is_stranger.empty()) return alignment;
  std::vector<TreeTensor> own;
  std::vector<std::uint32_t> places;
  for (std::uint32_t i = 0; i < source.size(); ++i) {
    if (is_stranger[i]) continue;
    own.push_back(source[i]);
    places.push_back(i);
  }
  alignment = run(own, as_much_again);
  for (AlignedTensor& pair : alignment) pair.source = places[pair.source];
  return alignment;
}

}  // namespace andiron::inline v1::detail
