// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/proposals_test.cpp
#include "src/proposals/name_rules.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "andiron/text.h"
#include "src/core/try.h"
#include "src/proposals/name_alignment.h"

namespace andiron::inline v1::detail {
namespace {

// Rules are judged by how much is left to change.
constexpr AlignmentCosts editing_costs = {
    .drop = 0.6, .add = 0.6, .drop_number = 1, .add_number = 1, .other_number = 1.2};

constexpr std::size_t most_blocks = 8;  // in one rule
constexpr std::size_t most_collected = 50'000;
constexpr std::size_t most_candidates = 40;  // of those collected
constexpr std::size_t rules_in_a_unit = 16;  // of work, to write them down
constexpr double cost_of_unsettling = 1;
constexpr double cost_of_needless_change = 0.3;
// Of rules that do as much the shorter one is preferred.
constexpr double length_cost = 1e-6;

struct Candidate {
  NameRule rule;
  std::size_t votes = 0;
  double gain = 0;
};

class Learner {
 public:
  Learner(const NamesToMatch& names, WorkBudget& budget) : names_(names), budget_(budget) {}

  std::vector<NameRule> learn() {
    tokens_ = tokens_of(names_, aligner_);
    pairs_ = pair_names(names_, tokens_, aligner_, budget_);
    for (const NamePair& pair : pairs_) {
      if (budget_.is_spent() || candidates_.size() > most_collected) break;
      collect_rules(pair);
    }
    judge();
    std::vector<NameRule> rules;
    for (Candidate& candidate : candidates_) {
      if (candidate.gain > 0) rules.push_back(std::move(candidate.rule));
    }
    return rules;
  }

 private:
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
    const NameTokens& from = tokens_.loose[pair.loose];
    const NameTokens& to = tokens_.wanted[pair.wanted];
    const std::vector<NameBlock> blocks = aligner_.blocks(from, to, editing_costs);
    std::vector<bool> same(blocks.size());
    std::transform(blocks.begin(), blocks.end(), same.begin(),
                   [&](const NameBlock& block) { return is_same(block, from, to); });
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
    budget_.spend(1 + voted.size() / rules_in_a_unit);
  }

  std::size_t candidate_for(NameRule rule) {
    const auto [known, is_new] =
        candidate_ids_.try_emplace(rule.pattern + '\n' + rule.replacement, candidates_.size());
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
      const auto equal = std::find_if(from_numbers.begin(), from_numbers.end(),
                                      [&](std::size_t i) { return from[i].word == to[j].word; });
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

  std::optional<NameRule> rule_for(const NamePair& pair, const NameBlock& window, bool generalise) {
    const NameTokens& from = tokens_.loose[pair.loose];
    const NameTokens& to = tokens_.wanted[pair.wanted];
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
    std::uint64_t work = names_.settled.size();
    for (const NamePair& pair : pairs_) {
      work += work_to_compare(names_.loose[pair.loose].name, names_.wanted[pair.wanted].name);
      before.push_back(aligner_.cost(aligner_.tokens(names_.loose[pair.loose].name),
                                     tokens_.wanted[pair.wanted], costs));
    }
    for (Candidate& candidate : candidates_) {
      const Result<Pattern> pattern = pass_on_out_of_memory(Pattern::regex(candidate.rule.pattern));
      if (!pattern || !budget_.spend(work)) continue;
      candidate.gain = -length_cost * static_cast<double>(candidate.rule.pattern.size());
      for (std::size_t i = 0; i < pairs_.size(); ++i) {
        const std::string_view name = names_.loose[pairs_[i].loose].name;
        if (!pattern->matches(name)) continue;
        const std::string renamed = pattern->replace_all(name, candidate.rule.replacement);
        const double gain = before[i] - aligner_.cost(aligner_.tokens(renamed),
                                                      tokens_.wanted[pairs_[i].wanted], costs);
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
  WorkBudget& budget_;
  NameAligner aligner_;
  TokenizedNames tokens_;
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

std::vector<NameRule> rules_for(const NamesToMatch& names, WorkBudget& budget) {
  return Learner(names, budget).learn();
}

}  // namespace andiron::inline v1::detail
