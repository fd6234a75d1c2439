// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/transfer/proposals_test.cpp
#include "src/transfer/name_rules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "andiron/pattern.h"
#include "src/transfer/name_alignment.h"

namespace andiron {
inline namespace v1 {
namespace detail {
namespace {

// A pair is judged by what the wanted name says: files are full of wrappers, so that dropping words
// is cheap, but the words that are wanted must come from somewhere.
constexpr AlignmentCosts pairing_costs = {
    .drop = 0.03, .add = 0.5, .drop_number = 0.3, .add_number = 0.5, .other_number = 1};
// Rules are judged by how much is left to change.
constexpr AlignmentCosts editing_costs = {
    .drop = 0.6, .add = 0.6, .drop_number = 1, .add_number = 1, .other_number = 1.2};

constexpr double sibling_cost = 1;        // for modules of which nothing else fits
constexpr double order_cost = 0.08;       // for each place that two tensors differ in order...
constexpr std::size_t most_steps = 2;     // ...up to so many
constexpr std::size_t most_sources = 64;  // that are compared with one wanted name
constexpr std::size_t most_siblings = 16;
constexpr std::size_t most_blocks = 5;    // in one rule
constexpr std::size_t most_candidates = 40;
constexpr double cost_of_unsettling = 1;
constexpr double cost_of_needless_change = 0.3;
// Of rules that do as much the shorter one is preferred.
constexpr double length_cost = 1e-6;

struct NamePair {
  std::size_t loose;
  std::size_t wanted;
  double cost;
};

struct Candidate {
  NameRule rule;
  std::size_t votes = 0;
  double gain = 0;
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

class Learner {
 public:
  Learner(const NamesToMatch& names, std::uint64_t& budget) : names_(names), budget_(budget) {}

  std::vector<NameRule> learn() {
    tokenize();
    pair_up();
    for (const NamePair& pair : pairs_) collect_rules(pair);
    judge();
    std::vector<NameRule> rules;
    for (Candidate& candidate : candidates_) {
      if (candidate.gain > 0) rules.push_back(std::move(candidate.rule));
    }
    return rules;
  }

 private:
  bool spend(std::uint64_t work) {
    budget_ -= std::min(budget_, work);
    return budget_ > 0;
  }

  void tokenize() {
    for (const LooseName& loose : names_.loose) {
      NameTokens tokens = aligner_.tokens(loose.name);
      // Words as they will be, at the bytes where they are.
      const NameTokens closed = aligner_.tokens(loose.closed);
      if (closed.size() == tokens.size()) {
        for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i].word = closed[i].word;
      }
      loose_tokens_.push_back(std::move(tokens));
    }
    for (const WantedName& wanted : names_.wanted) {
      wanted_tokens_.push_back(aligner_.tokens(wanted.name));
    }
  }

  // For each name the position of its module among those with equal shapes and numbers.
  template <class ShapesOf>
  std::vector<std::size_t> ranks(const std::vector<NameTokens>& names, const Modules& modules,
                                 ShapesOf shapes_of) {
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
        const std::vector<std::size_t> shapes = shapes_of(i);
        key.insert(key.end(), shapes.begin(), shapes.end());
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

  // The loose names of a fitting shape; of many, those about as far from the start of the file.
  std::vector<std::size_t> fitting(std::size_t wanted) const {
    std::vector<std::size_t> fitting;
    for (const std::size_t shape : names_.wanted[wanted].shapes) {
      const auto same = by_shape_.find(shape);
      if (same == by_shape_.end()) continue;
      fitting.insert(fitting.end(), same->second.begin(), same->second.end());
    }
    if (fitting.size() <= most_sources) return fitting;
    std::sort(fitting.begin(), fitting.end());
    const std::size_t middle = wanted * fitting.size() / names_.wanted.size();
    const std::size_t begin = std::min(middle - std::min(middle, most_sources / 2),
                                       fitting.size() - most_sources);
    return {fitting.begin() + static_cast<std::ptrdiff_t>(begin),
            fitting.begin() + static_cast<std::ptrdiff_t>(begin + most_sources)};
  }

  static std::string_view module_of(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
  }

  // How much of the module that a wanted name lies in could be fed from around a loose name. Shapes
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
      const std::vector<std::size_t>& shapes = names_.wanted[w].shapes;
      const auto fits = std::find_if(left.begin(), left.end(), [&](std::size_t l) {
        return std::binary_search(shapes.begin(), shapes.end(), names_.loose[l].shape);
      });
      if (fits == left.end()) continue;
      left.erase(fits);
      fed.insert(names_.wanted[w].place);
    }
    spend(all.size());
    known->second = static_cast<double>(fed.size()) / static_cast<double>(all.size());
    return known->second;
  }

  void pair_up() {
    for (std::size_t l = 0; l < names_.loose.size(); ++l) {
      loose_in_[module_of(names_.loose[l].closed)].push_back(l);
    }
    for (std::size_t w = 0; w < names_.wanted.size(); ++w) {
      wanted_in_[module_of(names_.wanted[w].name)].push_back(w);
    }
    for (std::size_t i = 0; i < names_.loose.size(); ++i) {
      by_shape_[names_.loose[i].shape].push_back(i);
    }
    const std::vector<std::size_t> loose_ranks = ranks(loose_tokens_, loose_in_, [&](std::size_t i) {
      return std::vector<std::size_t>{names_.loose[i].shape};
    });
    const std::vector<std::size_t> wanted_ranks =
        ranks(wanted_tokens_, wanted_in_, [&](std::size_t i) { return names_.wanted[i].shapes; });
    std::vector<NamePair> possible;
    for (std::size_t w = 0; w < names_.wanted.size(); ++w) {
      if (wanted_tokens_[w].empty()) continue;
      for (const std::size_t l : fitting(w)) {
        if (loose_tokens_[l].empty()) continue;
        if (!spend(1)) return;
        const std::size_t steps = loose_ranks[l] > wanted_ranks[w]
                                      ? loose_ranks[l] - wanted_ranks[w]
                                      : wanted_ranks[w] - loose_ranks[l];
        const double cost = aligner_.cost(loose_tokens_[l], wanted_tokens_[w], pairing_costs) +
                            sibling_cost * (1 - sibling_share(l, w)) +
                            order_cost * static_cast<double>(std::min(steps, most_steps));
        possible.push_back({l, w, cost});
      }
    }
    std::stable_sort(possible.begin(), possible.end(),
                     [](const NamePair& a, const NamePair& b) { return a.cost < b.cost; });
    std::vector<bool> is_taken(names_.loose.size());
    std::set<std::size_t> fed_places;
    for (const NamePair& pair : possible) {
      if (is_taken[pair.loose]) continue;
      if (!fed_places.insert(names_.wanted[pair.wanted].place).second) continue;
      is_taken[pair.loose] = true;
      pairs_.push_back(pair);
    }
  }

  bool is_same(const NameBlock& block, const NameTokens& from, const NameTokens& to) const {
    return std::equal(from.begin() + static_cast<std::ptrdiff_t>(block.from_begin),
                      from.begin() + static_cast<std::ptrdiff_t>(block.from_end),
                      to.begin() + static_cast<std::ptrdiff_t>(block.to_begin),
                      to.begin() + static_cast<std::ptrdiff_t>(block.to_end),
                      [](const NameToken& a, const NameToken& b) {
                        return a.word == b.word && a.starts_segment == b.starts_segment;
                      });
  }

  // Every run of segments with a difference in it, and with at most one segment of context at
  // either end, is a rule that this pair votes for; so is the whole name.
  void collect_rules(const NamePair& pair) {
    const NameTokens& from = loose_tokens_[pair.loose];
    const NameTokens& to = wanted_tokens_[pair.wanted];
    if (!spend(1)) return;
    const std::vector<NameBlock> blocks = aligner_.blocks(from, to, editing_costs);
    std::vector<bool> same;
    for (const NameBlock& block : blocks) same.push_back(is_same(block, from, to));
    std::set<std::size_t> voted;  // one voice for each rule
    for (std::size_t a = 0; a < blocks.size(); ++a) {
      std::size_t differences = 0;
      for (std::size_t b = a; b < blocks.size(); ++b) {
        if (!same[b]) ++differences;
        const bool is_whole = a == 0 && b + 1 == blocks.size();
        if (b - a >= most_blocks && !is_whole) continue;
        if (differences == 0) {
          if (b > a) break;
          continue;
        }
        const bool has_much_context =
            (same[a] && a < b && same[a + 1]) || (same[b] && b > a && same[b - 1]);
        if (has_much_context && !is_whole) continue;
        const NameBlock window = {blocks[a].from_begin, blocks[b].from_end, blocks[a].to_begin,
                                  blocks[b].to_end};
        for (const bool generalise : {true, false}) {
          if (std::optional<NameRule> rule = rule_for(pair, window, generalise)) {
            const std::size_t id = candidate_for(*std::move(rule));
            if (voted.insert(id).second) ++candidates_[id].votes;
          }
        }
      }
    }
  }

  std::size_t candidate_for(NameRule rule) {
    const auto [known, is_new] = candidate_ids_.try_emplace(
        rule.pattern + '\n' + rule.replacement, candidates_.size());
    if (is_new) candidates_.push_back({std::move(rule)});
    return known->second;
  }

  // For each number in the wanted part, which number of the loose part it is.
  std::map<std::size_t, std::size_t> same_numbers(const NameTokens& from, const NameTokens& to,
                                                  const NameBlock& window) const {
    std::vector<std::size_t> from_numbers;
    std::vector<std::size_t> to_numbers;
    for (std::size_t i = window.from_begin; i < window.from_end; ++i) {
      if (aligner_.is_number(from[i])) from_numbers.push_back(i);
    }
    for (std::size_t j = window.to_begin; j < window.to_end; ++j) {
      if (aligner_.is_number(to[j])) to_numbers.push_back(j);
    }
    std::map<std::size_t, std::size_t> numbers;
    if (names_.closes_gaps && from_numbers.size() == to_numbers.size()) {
      // Closing gaps may yet make them equal.
      for (std::size_t k = 0; k < to_numbers.size(); ++k) numbers[to_numbers[k]] = from_numbers[k];
      return numbers;
    }
    for (const std::size_t j : to_numbers) {
      const auto equal = std::find_if(from_numbers.begin(), from_numbers.end(), [&](std::size_t i) {
        return from[i].word == to[j].word;
      });
      if (equal == from_numbers.end()) continue;
      numbers[j] = *equal;
      from_numbers.erase(equal);
    }
    return numbers;
  }

  // Whether words are left on both sides that no word of the other side is like.
  bool is_guess(const NameTokens& from, const NameTokens& to, const NameBlock& window) {
    constexpr double alike = 0.5;
    const auto is_like = [&](const NameToken& a, const NameToken& b) {
      return aligner_.is_number(a) || (!aligner_.is_number(b) && aligner_.similarity(a, b) > alike);
    };
    const std::span from_part(&from[0] + window.from_begin, &from[0] + window.from_end);
    const std::span to_part(&to[0] + window.to_begin, &to[0] + window.to_end);
    const auto has_odd_word = [&](std::span<const NameToken> part,
                                  std::span<const NameToken> other) {
      return std::any_of(part.begin(), part.end(), [&](const NameToken& a) {
        return std::none_of(other.begin(), other.end(),
                            [&](const NameToken& b) { return is_like(a, b); });
      });
    };
    return has_odd_word(from_part, to_part) && has_odd_word(to_part, from_part);
  }

  std::optional<NameRule> rule_for(const NamePair& pair, const NameBlock& window,
                                   bool generalise) {
    const NameTokens& from = loose_tokens_[pair.loose];
    const NameTokens& to = wanted_tokens_[pair.wanted];
    const std::string_view from_name = names_.loose[pair.loose].name;
    const std::string_view to_name = names_.wanted[pair.wanted].name;
    const bool at_start = window.from_begin == 0;
    const bool at_end = window.from_end == from.size();
    const bool adds_only = window.from_begin == window.from_end;
    const bool drops_only = window.to_begin == window.to_end;
    // Without anything to hold on to, text can only be put before all names.
    if (adds_only && (!at_start || window.to_begin != 0)) return std::nullopt;
    if (drops_only && at_start && at_end) return std::nullopt;

    std::map<std::size_t, std::size_t> numbers;
    if (generalise) numbers = same_numbers(from, to, window);
    if (generalise && numbers.empty()) return std::nullopt;
    std::map<std::size_t, std::size_t> groups;  // number in the loose part to its group
    for (const auto& [j, i] : numbers) groups[i] = 0;
    std::size_t group = 0;
    for (auto& [i, number] : groups) number = ++group;

    NameRule rule;
    rule.is_narrow = at_start && at_end && !adds_only;
    rule.is_guess = is_guess(from, to, window);
    rule.pattern = at_start ? "^" : "\\.";
    for (std::size_t i = window.from_begin; i < window.from_end; ++i) {
      const std::string_view text = from_name.substr(from[i].begin, from[i].end - from[i].begin);
      if (i > window.from_begin && from[i].starts_segment) rule.pattern += "\\.";
      if (groups.contains(i)) {
        rule.pattern += "(\\d+)";
      } else {
        rule.pattern += escaped_for_regex(text);
        const bool is_segment =
            from[i].starts_segment && (i + 1 == from.size() || from[i + 1].starts_segment);
        if (aligner_.is_number(from[i]) && is_segment) rule.is_narrow = true;
      }
    }
    if (!adds_only) rule.pattern += at_end ? "$" : "\\.";

    if (!at_start && (!drops_only || !at_end)) rule.replacement = ".";
    for (std::size_t j = window.to_begin; j < window.to_end; ++j) {
      const std::string_view text = to_name.substr(to[j].begin, to[j].end - to[j].begin);
      if (j > window.to_begin && to[j].starts_segment) rule.replacement += '.';
      if (const auto number = numbers.find(j); number != numbers.end()) {
        // Before a letter, $1 would be another name.
        const bool is_before_word = j + 1 < window.to_end && !to[j + 1].starts_segment;
        const std::string reference = std::to_string(groups[number->second]);
        rule.replacement += is_before_word ? "${" + reference + "}" : "$" + reference;
      } else {
        for (const char c : text) rule.replacement += c == '$' ? "$$" : std::string(1, c);
      }
    }
    if (!drops_only && (!at_end || adds_only)) rule.replacement += '.';
    return rule;
  }

  // Keeps the candidates that most pairs ask for, and sorts them by what they bring.
  void judge() {
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) {
                       if (a.votes != b.votes) return a.votes > b.votes;
                       return a.rule.pattern.size() < b.rule.pattern.size();
                     });
    if (candidates_.size() > most_candidates) candidates_.resize(most_candidates);
    AlignmentCosts costs = editing_costs;
    if (names_.closes_gaps) costs.other_number = 0.05;
    std::vector<double> before;
    for (const NamePair& pair : pairs_) {
      before.push_back(aligner_.cost(aligner_.tokens(names_.loose[pair.loose].name),
                                     wanted_tokens_[pair.wanted], costs));
    }
    for (Candidate& candidate : candidates_) {
      const Result<Pattern> pattern = Pattern::regex(candidate.rule.pattern);
      if (!pattern || !spend(pairs_.size() + names_.settled.size())) continue;
      candidate.gain = -length_cost * static_cast<double>(candidate.rule.pattern.size());
      for (std::size_t i = 0; i < pairs_.size(); ++i) {
        const std::string_view name = names_.loose[pairs_[i].loose].name;
        if (!pattern->matches(name)) continue;
        const std::string renamed = pattern->replace_all(name, candidate.rule.replacement);
        const double gain = before[i] - aligner_.cost(aligner_.tokens(renamed),
                                                      wanted_tokens_[pairs_[i].wanted], costs);
        candidate.gain += gain > 0 ? gain : gain - cost_of_needless_change;
      }
      for (const std::string_view name : names_.settled) {
        if (pattern->matches(name)) candidate.gain -= cost_of_unsettling;
      }
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
  }

  const NamesToMatch& names_;
  std::uint64_t& budget_;
  NameAligner aligner_;
  std::vector<NameTokens> loose_tokens_;
  std::vector<NameTokens> wanted_tokens_;
  std::unordered_map<std::size_t, std::vector<std::size_t>> by_shape_;
  Modules loose_in_;
  Modules wanted_in_;
  std::map<std::pair<std::string_view, std::string_view>, double> sibling_shares_;
  std::vector<NamePair> pairs_;
  std::vector<Candidate> candidates_;
  std::unordered_map<std::string, std::size_t> candidate_ids_;
};

}  // namespace

bool is_plain_name(std::string_view name) {
  if (name.empty() || name.front() == '.' || name.back() == '.') return false;
  if (name.find("..") != std::string_view::npos) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::string escaped_for_regex(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::vector<NameRule> rules_for(const NamesToMatch& names, std::uint64_t& budget) {
  return Learner(names, budget).learn();
}

}  // namespace detail
}  // namespace v1
}  // namespace andiron
