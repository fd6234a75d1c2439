// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/proposals_test.cpp
#include "src/proposals/name_pairs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace andiron::inline v1::detail {
namespace {

// A pair is judged by what the wanted name says: files are full of wrappers, so that dropping words
// is cheap, but the words that are wanted must come from somewhere.
constexpr AlignmentCosts pairing_costs = {
    .drop = 0.03, .add = 0.5, .drop_number = 0.3, .add_number = 0.5, .other_number = 1};

constexpr double sibling_cost = 1;        // for modules of which nothing else fits
constexpr double order_cost = 0.08;       // for each place that two tensors differ in order...
constexpr std::size_t most_steps = 2;     // ...up to so many
constexpr std::size_t most_sources = 64;  // that are compared with one wanted name
constexpr std::size_t most_siblings = 16;

struct PossiblePair {
  NamePair pair;
  double cost;
};

// Where a module says that it stands; files that are sorted by name do not tell.
int stated_position(std::string_view module) {
  const std::size_t dot = module.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? module : module.substr(dot + 1);
  for (const std::string& word : words_in(last)) {
    if (word == "before" || word == "pre" || word == "input" || word == "first") return -1;
    if (word == "after" || word == "post" || word == "final" || word == "last") return 1;
  }
  return 0;
}

// Names by what lies before their last segment.
using Modules = std::map<std::string_view, std::vector<std::size_t>>;

class Pairing {
 public:
  Pairing(const NamesToMatch& names, const TokenizedNames& tokens, NameAligner& aligner,
          WorkBudget& budget)
      : names_(names), tokens_(tokens), aligner_(aligner), budget_(budget) {}

  std::vector<NamePair> pair_up() {
    for (std::size_t l = 0; l < names_.loose.size(); ++l) {
      loose_in_[module_of(names_.loose[l].closed)].push_back(l);
      by_form_[names_.loose[l].form].push_back(l);
    }
    for (std::size_t w = 0; w < names_.wanted.size(); ++w) {
      wanted_in_[module_of(names_.wanted[w].name)].push_back(w);
    }
    const std::vector<std::size_t> loose_ranks =
        ranks(tokens_.loose, loose_in_,
              [&](std::size_t i) { return std::vector<std::size_t>{names_.loose[i].form}; });
    const std::vector<std::size_t> wanted_ranks =
        ranks(tokens_.wanted, wanted_in_, [&](std::size_t i) { return names_.wanted[i].forms; });
    std::vector<PossiblePair> possible;
    for (std::size_t w = 0; w < names_.wanted.size(); ++w) {
      if (tokens_.wanted[w].empty()) continue;
      for (const std::size_t l : fitting(w)) {
        if (tokens_.loose[l].empty()) continue;
        if (!budget_.spend(work_to_compare(names_.loose[l].name, names_.wanted[w].name))) return {};
        const std::size_t steps = loose_ranks[l] > wanted_ranks[w]
                                      ? loose_ranks[l] - wanted_ranks[w]
                                      : wanted_ranks[w] - loose_ranks[l];
        const double cost = aligner_.cost(tokens_.loose[l], tokens_.wanted[w], pairing_costs) +
                            sibling_cost * (1 - sibling_share(l, w)) +
                            order_cost * static_cast<double>(std::min(steps, most_steps));
        possible.push_back({{l, w}, cost});
      }
    }
    std::stable_sort(possible.begin(), possible.end(),
                     [](const PossiblePair& a, const PossiblePair& b) { return a.cost < b.cost; });
    std::vector<bool> is_taken(names_.loose.size());
    std::set<std::size_t> fed_places;
    std::vector<NamePair> pairs;
    for (const auto& [pair, cost] : possible) {
      if (is_taken[pair.loose]) continue;
      if (!fed_places.insert(names_.wanted[pair.wanted].place).second) continue;
      is_taken[pair.loose] = true;
      pairs.push_back(pair);
    }
    return pairs;
  }

 private:
  // For each name the position of its module among those with equal forms and numbers.
  template <class FormsOf>
  std::vector<std::size_t> ranks(const std::vector<NameTokens>& names, const Modules& modules,
                                 FormsOf forms_of) {
    std::map<std::vector<std::size_t>, std::size_t> counts;
    std::vector<std::size_t> ranks(names.size());
    struct Module {
      int position;
      const std::vector<std::size_t>* members;
    };
    std::vector<Module> in_order;
    for (const auto& [name, members] : modules) {
      in_order.push_back({stated_position(name), &members});
    }
    std::sort(in_order.begin(), in_order.end(), [](const Module& a, const Module& b) {
      if (a.position != b.position) return a.position < b.position;
      return a.members->front() < b.members->front();
    });
    for (const auto& [position, members] : in_order) {
      std::vector<std::size_t> key;
      for (const std::size_t i : *members) {
        const std::vector<std::size_t> forms = forms_of(i);
        key.insert(key.end(), forms.begin(), forms.end());
      }
      std::sort(key.begin(), key.end());
      for (const NameToken& token : names[members->front()]) {
        if (aligner_.is_number(token) && token.starts_segment) key.push_back(token.word);
      }
      const std::size_t rank = counts[std::move(key)]++;
      for (const std::size_t i : *members) ranks[i] = rank;
    }
    return ranks;
  }

  // The loose names of a fitting form; of many, those about as far from the start of the file.
  std::vector<std::size_t> fitting(std::size_t wanted) const {
    std::vector<std::size_t> fitting;
    for (const std::size_t form : names_.wanted[wanted].forms) {
      const auto same = by_form_.find(form);
      if (same == by_form_.end()) continue;
      fitting.insert(fitting.end(), same->second.begin(), same->second.end());
    }
    if (fitting.size() <= most_sources) return fitting;
    std::sort(fitting.begin(), fitting.end());
    const std::size_t middle = wanted * fitting.size() / names_.wanted.size();
    const std::size_t begin =
        std::min(middle - std::min(middle, most_sources / 2), fitting.size() - most_sources);
    return {fitting.begin() + static_cast<std::ptrdiff_t>(begin),
            fitting.begin() + static_cast<std::ptrdiff_t>(begin + most_sources)};
  }

  static std::string_view module_of(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
  }

  // How much of the module that a wanted name lies in could be fed from around a loose name. Forms
  // alone seldom tell a bias from others, but the weight beside it does.
  double sibling_share(std::size_t loose, std::size_t wanted) {
    const std::string_view from = module_of(names_.loose[loose].closed);
    const std::string_view to = module_of(names_.wanted[wanted].name);
    const auto [known, is_new] = sibling_shares_.try_emplace({from, to}, 0);
    if (!is_new) return known->second;
    std::vector<std::size_t> left = loose_in_[from];
    std::set<std::size_t> all;
    std::set<std::size_t> fed;
    left.resize(std::min(left.size(), most_siblings));
    for (const std::size_t w : wanted_in_[to]) {
      if (all.size() == most_siblings) break;
      all.insert(names_.wanted[w].place);
      if (fed.contains(names_.wanted[w].place)) continue;
      const std::vector<std::size_t>& forms = names_.wanted[w].forms;
      const auto fits = std::find_if(left.begin(), left.end(), [&](std::size_t l) {
        return std::binary_search(forms.begin(), forms.end(), names_.loose[l].form);
      });
      if (fits == left.end()) continue;
      left.erase(fits);
      fed.insert(names_.wanted[w].place);
    }
    budget_.spend(all.size());
    known->second = static_cast<double>(fed.size()) / static_cast<double>(all.size());
    return known->second;
  }

  const NamesToMatch& names_;
  const TokenizedNames& tokens_;
  NameAligner& aligner_;
  WorkBudget& budget_;
  std::unordered_map<std::size_t, std::vector<std::size_t>> by_form_;
  Modules loose_in_;
  Modules wanted_in_;
  std::map<std::pair<std::string_view, std::string_view>, double> sibling_shares_;
};

}  // namespace

TokenizedNames tokens_of(const NamesToMatch& names, NameAligner& aligner) {
  TokenizedNames all;
  for (const LooseName& loose : names.loose) {
    NameTokens tokens = aligner.tokens(loose.name);
    const NameTokens closed = aligner.tokens(loose.closed);
    if (closed.size() == tokens.size()) {
      for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i].word = closed[i].word;
    }
    all.loose.push_back(std::move(tokens));
  }
  for (const WantedName& wanted : names.wanted) {
    all.wanted.push_back(aligner.tokens(wanted.name));
  }
  return all;
}

std::vector<NamePair> pair_names(const NamesToMatch& names, const TokenizedNames& tokens,
                                 NameAligner& aligner, WorkBudget& budget) {
  return Pairing(names, tokens, aligner, budget).pair_up();
}

}  // namespace andiron::inline v1::detail
