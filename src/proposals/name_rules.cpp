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
#include <unordered_set>
#include <utility>

#include "andiron/text.h"
#include "src/core/try.h"
#include "src/names/index_gaps.h"
#include "src/proposals/block_rules.h"
#include "src/proposals/name_alignment.h"
#include "src/proposals/name_parts.h"

namespace andiron::inline v1::detail {
namespace {

// Rules are judged by how much is left to change.
constexpr AlignmentCosts editing_costs = {
    .drop = 0.6, .add = 0.6, .drop_number = 1, .add_number = 1, .other_number = 1.2};

constexpr std::size_t most_blocks = 8;  // in one rule
constexpr std::size_t most_rules = 32;
constexpr std::size_t few_rules = 12;
constexpr std::size_t most_block_rules = 120;
constexpr std::size_t most_module_rules = 250;
constexpr std::size_t most_tries = 6;      // of rules that look useful
constexpr std::size_t most_of_a_kind = 3;  // of names that differ in numbers
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

// A name as rules see it, as it is once gaps are closed, and as it shall be.
struct NamePair {
  std::string_view name;
  std::string_view closed;
  std::string_view to;
};

struct TokenizedPair {
  NameTokens from;  // the words once gaps are closed, at the bytes where rules see them
  NameTokens to;
};

// Finds rules that bring names closer to what they shall be.
class Learner {
 public:
  // `settled`: names that are what they shall be, and best left alone.
  Learner(std::span<const NamePair> pairs, std::span<const std::string_view> settled,
          bool closes_gaps, WorkBudget& budget)
      : pairs_(pairs), settled_(settled), closes_gaps_(closes_gaps), budget_(budget) {}

  // The most useful first.
  std::vector<NameRule> learn() {
    for (const NamePair& pair : pairs_) tokens_.push_back(tokenized(pair));
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (budget_.is_spent() || candidates_.size() > most_collected) break;
      collect_rules(i);
    }
    judge();
    std::vector<NameRule> rules;
    for (Candidate& candidate : candidates_) {
      if (candidate.gain > 0) rules.push_back(std::move(candidate.rule));
    }
    return rules;
  }

 private:
  TokenizedPair tokenized(const NamePair& pair) {
    TokenizedPair tokens = {aligner_.tokens(pair.name), aligner_.tokens(pair.to)};
    const NameTokens closed = aligner_.tokens(pair.closed);
    if (closed.size() == tokens.from.size()) {
      for (std::size_t i = 0; i < closed.size(); ++i) tokens.from[i].word = closed[i].word;
    }
    return tokens;
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
  void collect_rules(std::size_t pair) {
    const NameTokens& from = tokens_[pair].from;
    const NameTokens& to = tokens_[pair].to;
    if (from.empty() || to.empty()) return;
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
    if (closes_gaps_ && from_numbers.size() == to_numbers.size()) {
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

  std::optional<NameRule> rule_for(std::size_t pair, const NameBlock& window, bool generalise) {
    const auto& [from, to] = tokens_[pair];
    const std::string_view from_name = pairs_[pair].name;
    const std::string_view to_name = pairs_[pair].to;
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
        rule.replacement += escaped_for_replacement(text);
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
    if (closes_gaps_) costs.other_number = 0.05;
    std::vector<double> before;
    std::uint64_t work = settled_.size() / 8;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      work += work_to_compare(pairs_[i].name, pairs_[i].to);
      before.push_back(aligner_.cost(aligner_.tokens(pairs_[i].name), tokens_[i].to, costs));
    }
    for (Candidate& candidate : candidates_) {
      const Result<Pattern> pattern = pass_on_out_of_memory(Pattern::regex(candidate.rule.pattern));
      if (!pattern || !budget_.spend(work)) continue;
      candidate.gain = -length_cost * static_cast<double>(candidate.rule.pattern.size());
      for (std::size_t i = 0; i < pairs_.size(); ++i) {
        const std::string_view name = pairs_[i].name;
        if (!pattern->matches(name)) continue;
        const std::string renamed = pattern->replace_all(name, candidate.rule.replacement);
        const double gain =
            before[i] - aligner_.cost(aligner_.tokens(renamed), tokens_[i].to, costs);
        candidate.gain += gain > 0 ? gain : gain - cost_of_needless_change;
      }
      for (const std::string_view name : settled_) {
        if (pattern->matches(name)) candidate.gain -= cost_of_unsettling;
      }
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
  }

  std::span<const NamePair> pairs_;
  std::span<const std::string_view> settled_;
  bool closes_gaps_;
  WorkBudget& budget_;
  NameAligner aligner_;
  std::vector<TokenizedPair> tokens_;
  std::vector<Candidate> candidates_;
  std::unordered_map<std::string, std::size_t> candidate_ids_;
};

class RuleWriter {
 public:
  RuleWriter(const RenamingTask& task, WorkBudget& budget) : task_(task), budget_(budget) {
    for (const Renaming& one : task.renamings) names_.push_back(one.from);
    names_.insert(names_.end(), task.others.begin(), task.others.end());
  }

  std::optional<std::vector<NameRule>> write() {
    const bool is_learnt = learn();
    std::vector<NameRule> learnt = std::move(rules_);
    // Names that differ too much for one rule after the other.
    std::optional<std::vector<NameRule>> in_blocks;
    if (!is_learnt || learnt.size() > few_rules) in_blocks = block_rules(task_.renamings);
    bool has_blocks = in_blocks && in_blocks->size() <= most_block_rules;
    if (has_blocks) {
      rules_ = *std::move(in_blocks);
      has_blocks = do_rules_work();
    }
    if (!is_learnt && !has_blocks) {
      const bool has_marks = std::any_of(names_.begin(), names_.end(), [](const std::string& name) {
        return name.starts_with(done_mark);
      });
      std::optional<std::vector<NameRule>> for_modules;
      if (!has_marks) for_modules = module_rules(task_.renamings, most_module_rules);
      if (!for_modules) return std::nullopt;
      rules_ = *std::move(for_modules);
      if (!do_rules_work()) return std::nullopt;
      explain();
      return std::move(rules_);
    }
    if (!has_blocks || (is_learnt && learnt.size() <= rules_.size())) rules_ = std::move(learnt);
    drop_needless();
    explain();
    return std::move(rules_);
  }

 private:
  // Adds one rule after the other as long as they bring names closer to what they shall be.
  bool learn() {
    close();
    while (!is_done()) {
      if (rules_.size() == most_rules || budget_.is_spent() || !add_rule()) return false;
    }
    return true;
  }

  bool is_settled(std::size_t i) const { return closed_[i] == task_.renamings[i].to; }
  std::size_t count_settled() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < task_.renamings.size(); ++i) count += is_settled(i) ? 1 : 0;
    return count;
  }
  bool is_done() const { return count_settled() == task_.renamings.size(); }

  void close() {
    closed_ = names_;
    if (!task_.closes_gaps) return;
    const std::vector<std::string_view> views(names_.begin(), names_.end());
    closed_ = names_without_index_gaps(views, task_.gap_exceptions);
    budget_.spend(names_.size() / 2);
  }

  // A few names of each kind stand for all.
  std::vector<std::size_t> examples(bool settled) const {
    std::map<std::pair<std::string, std::string>, std::size_t> counts;
    std::vector<std::size_t> examples;
    for (std::size_t i = 0; i < task_.renamings.size(); ++i) {
      if (is_settled(i) != settled) continue;
      if (++counts[{name_kind(names_[i]), name_kind(task_.renamings[i].to)}] <= most_of_a_kind) {
        examples.push_back(i);
      }
    }
    return examples;
  }

  std::vector<std::string> renamed(const Pattern& pattern, const NameRule& rule) {
    budget_.spend(1 + names_.size() / 2);
    std::vector<std::string> changed;
    changed.reserve(names_.size());
    for (const std::string& name : names_) {
      changed.push_back(pattern.matches(name) ? pattern.replace_all(name, rule.replacement) : name);
    }
    return changed;
  }

  static bool has_collision(const std::vector<std::string>& names) {
    std::unordered_set<std::string_view> seen;
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return !seen.insert(name).second; });
  }

  // Adds the most useful rule; false if there is none.
  bool add_rule() {
    std::vector<NamePair> pairs;
    for (const std::size_t i : examples(false)) {
      pairs.push_back({names_[i], closed_[i], task_.renamings[i].to});
    }
    std::vector<std::string_view> settled;
    for (const std::size_t i : examples(true)) settled.push_back(names_[i]);
    const std::vector<NameRule> candidates =
        Learner(pairs, settled, task_.closes_gaps, budget_).learn();
    const std::size_t settled_now = count_settled();
    const std::vector<std::string> names_now = names_;
    std::optional<NameRule> best;
    std::vector<std::string> best_names;
    std::size_t best_count = 0;
    std::size_t tries = 0;
    for (const NameRule& rule : candidates) {
      if (tries++ == most_tries) break;
      const Result<Pattern> pattern = pass_on_out_of_memory(Pattern::regex(rule.pattern));
      if (!pattern) continue;
      std::vector<std::string> changed = renamed(*pattern, rule);
      if (changed == names_now || has_collision(changed)) continue;
      names_ = changed;
      close();
      const std::size_t count = count_settled();
      names_ = names_now;
      if (count < settled_now || (best && count <= best_count)) continue;
      best = rule;
      best_count = count;
      best_names = std::move(changed);
    }
    const bool has_best = best.has_value();
    if (has_best) {
      rules_.push_back(*std::move(best));
      names_ = std::move(best_names);
    }
    close();
    return has_best;
  }

  // Runs all rules, or all but one, over the names as they were.
  bool do_rules_work(std::optional<std::size_t> dropped = {}) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      names_[i] = i < task_.renamings.size() ? task_.renamings[i].from
                                             : task_.others[i - task_.renamings.size()];
    }
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      if (i == dropped) continue;
      const Result<Pattern> pattern = pass_on_out_of_memory(Pattern::regex(rules_[i].pattern));
      if (!pattern) return false;
      names_ = renamed(*pattern, rules_[i]);
    }
    close();
    return is_done() && !has_collision(names_);
  }

  void drop_needless() {
    for (std::size_t dropped = rules_.size(); dropped-- > 0;) {
      if (budget_.is_spent()) return;
      if (do_rules_work(dropped)) {
        rules_.erase(rules_.begin() + static_cast<std::ptrdiff_t>(dropped));
      }
    }
  }

  // Gives each rule the reasons of the names that it changes. A guess counts against the rule that
  // says the most about the name: the one that changes the fewest.
  void explain() {
    std::vector<std::string> names;
    for (const Renaming& one : task_.renamings) names.push_back(one.from);
    std::vector<std::vector<std::size_t>> changed_by(names.size());
    std::vector<std::size_t> counts(rules_.size());
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      NameRule& rule = rules_[r];
      const Result<Pattern> pattern = pass_on_out_of_memory(Pattern::regex(rule.pattern));
      if (!pattern) continue;
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (!pattern->matches(names[i])) continue;
        const Renaming& renaming = task_.renamings[i];
        if (!renaming.is_guess) rule.evidence = std::max(rule.evidence, renaming.evidence);
        names[i] = pattern->replace_all(names[i], rule.replacement);
        changed_by[i].push_back(r);
        ++counts[r];
      }
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!task_.renamings[i].is_guess || changed_by[i].empty()) continue;
      const std::size_t rule =
          *std::min_element(changed_by[i].begin(), changed_by[i].end(),
                            [&](std::size_t a, std::size_t b) { return counts[a] < counts[b]; });
      rules_[rule].is_guess = true;
      rules_[rule].evidence = task_.renamings[i].evidence;
    }
  }

  const RenamingTask& task_;
  WorkBudget& budget_;
  std::vector<std::string> names_;   // as the rules so far make them; renamings first
  std::vector<std::string> closed_;  // the same, with gaps closed if they are
  std::vector<NameRule> rules_;
};

}  // namespace

bool is_plain_name(std::string_view name) {
  if (name.empty() || name.front() == '.' || name.back() == '.') return false;
  if (name.find("..") != std::string_view::npos) return false;
  const bool is_ascii =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return is_ascii || display_line(name) == name;
}

std::string escaped_for_regex(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string pattern_for_kind(std::string_view kind) {
  std::string pattern;
  for (const char c : kind) {
    pattern += c == number_mark ? std::string("\\d+") : escaped_for_regex({&c, 1});
  }
  return pattern;
}

std::string escaped_for_replacement(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '$' ? "$$" : std::string(1, c);
  return escaped;
}

std::optional<std::vector<NameRule>> write_rules(const RenamingTask& task, WorkBudget& budget) {
  return RuleWriter(task, budget).write();
}

}  // namespace andiron::inline v1::detail
