// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/block_rules_test.cpp
#include "src/proposals/block_rules.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "src/core/parse_index.h"
#include "src/core/text/digit.h"
#include "src/core/try.h"
#include "src/proposals/name_parts.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t most_segments = 12;
constexpr std::size_t most_rounds = 6;
constexpr std::size_t most_characters = 20'000'000;  // of all halves
constexpr std::size_t most_rules_in_order = 200;

struct Change {
  std::string from;
  std::string to;

  friend bool operator<(const Change& a, const Change& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  }
};

// Where segments end, the first at 0 for nothing.
std::vector<std::size_t> ends_of_segments(std::string_view name) {
  std::vector<std::size_t> ends = {0};
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos;
       dot = name.find('.', dot + 1)) {
    ends.push_back(dot);
  }
  return ends;
}

// A name cut in two: the block before, the place in it after.
struct Cut {
  Change block;
  Change place;
};

Cut cut_at(const Renaming& renaming, std::size_t from, std::size_t to) {
  const auto rest = [](const std::string& name, std::size_t at) {
    return name.substr(at == 0 ? 0 : at + 1);
  };
  return {{renaming.from.substr(0, from), renaming.to.substr(0, to)},
          {rest(renaming.from, from), rest(renaming.to, to)}};
}

// ---- Numbers ----

std::vector<std::string_view> numbers_in(std::string_view text) {
  std::vector<std::string_view> numbers;
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    if (!is_digit(text[begin])) continue;
    std::size_t end = begin;
    while (end < text.size() && is_digit(text[end])) ++end;
    numbers.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return numbers;
}

// A text with some of its numbers replaced.
template <class ForText, class ForNumber>
std::string with_numbers(std::string_view text, ForText for_text, ForNumber for_number) {
  std::string result;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin + 1;
    while (end < text.size() && is_digit(text[end]) == is_digit(text[begin])) ++end;
    const std::string_view run = text.substr(begin, end - begin);
    result += is_digit(run[0]) ? for_number(number++, run, end < text.size() ? text[end] : '\0')
                               : for_text(run);
    begin = end;
  }
  return result;
}

// Changes that differ only in numbers that stay the same, as one: a regular expression without its
// ends, and a replacement.
struct General {
  std::string pattern;
  std::string replacement;
  std::size_t groups = 0;
};

enum class Numbers : std::uint8_t { as_groups, as_they_are };

std::vector<General> generalized(const std::set<Change>& changes,
                                 Numbers numbers = Numbers::as_groups) {
  std::map<Change, std::vector<const Change*>> by_kind;
  for (const Change& change : changes) {
    const bool is_kind = numbers == Numbers::as_groups;
    by_kind[is_kind ? Change{name_kind(change.from), name_kind(change.to)} : change].push_back(
        &change);
  }
  std::vector<General> all;
  for (const auto& of_kind : by_kind) {
    const std::vector<const Change*>& members = of_kind.second;
    std::vector<std::vector<std::string_view>> from_numbers;
    std::vector<std::vector<std::string_view>> to_numbers;
    for (const Change* change : members) {
      from_numbers.push_back(numbers_in(change->from));
      to_numbers.push_back(numbers_in(change->to));
    }
    const std::size_t from_count = from_numbers[0].size();
    const std::size_t to_count = to_numbers[0].size();
    // For each number of the new name the one of the old name that it always is.
    std::vector<std::optional<std::size_t>> source(to_count);
    std::vector<bool> is_captured(from_count);
    for (std::size_t to = 0; to < to_count && members.size() > 1; ++to) {
      for (std::size_t from = 0; from < from_count && !source[to]; ++from) {
        bool varies = false;
        bool is_same = !is_captured[from];
        for (std::size_t i = 0; i < members.size() && is_same; ++i) {
          varies = varies || from_numbers[i][from] != from_numbers[0][from];
          is_same = from_numbers[i][from] == to_numbers[i][to];
        }
        is_same = is_same && varies;
        if (!is_same) continue;
        source[to] = from;
        is_captured[from] = true;
      }
    }
    std::set<std::string> seen;
    for (const Change* change : members) {
      General general;
      std::vector<std::size_t> group_of(from_count);
      general.pattern = with_numbers(
          change->from, [](std::string_view text) { return escaped_for_regex(text); },
          [&](std::size_t number, std::string_view digits, char) {
            if (!is_captured[number]) return std::string(digits);
            group_of[number] = ++general.groups;
            return std::string("(\\d+)");
          });
      general.replacement = with_numbers(
          change->to, [](std::string_view text) { return escaped_for_replacement(text); },
          [&](std::size_t number, std::string_view digits, char next) {
            if (!source[number]) return std::string(digits);
            const std::string group = std::to_string(group_of[*source[number]]);
            // Before a letter, $1 would be another name.
            const bool needs_braces = next != '\0' && next != '.';
            return needs_braces ? "${" + group + "}" : "$" + group;
          });
      if (seen.insert(general.pattern + '\n' + general.replacement).second) {
        all.push_back(std::move(general));
      }
    }
  }
  return all;
}

// "conv1.weight" and "conv1.bias" change alike: the change of their module, if the last segment
// stays.
std::optional<Change> module_change(const Change& change) {
  const std::string_view last = last_segment(change.from);
  if (last != last_segment(change.to) || module_path(change.from).empty() ||
      module_path(change.to).empty()) {
    return std::nullopt;
  }
  return Change{std::string(module_path(change.from)), std::string(module_path(change.to))};
}

// What says more comes first: tensors before modules, and numbers before what stands for any.
std::vector<NameRule> rules_for_whole_names(const std::vector<Change>& changes,
                                            Numbers numbers = Numbers::as_groups) {
  std::set<Change> modules;
  std::set<Change> tensors;
  for (const Change& change : changes) {
    if (change.from == change.to) continue;
    if (std::optional<Change> module = module_change(change)) {
      modules.insert(*std::move(module));
    } else {
      tensors.insert(change);
    }
  }
  const auto sorted = [&](const std::set<Change>& of_kind) {
    std::vector<General> all = generalized(of_kind, numbers);
    std::stable_sort(all.begin(), all.end(),
                     [](const General& a, const General& b) { return a.groups < b.groups; });
    return all;
  };
  std::vector<NameRule> rules;
  for (const General& general : sorted(tensors)) {
    rules.push_back({.pattern = "^" + general.pattern + "$", .replacement = general.replacement});
  }
  for (const General& general : sorted(modules)) {
    rules.push_back(
        {.pattern = "^" + general.pattern + "\\.([^.]+)$",
         .replacement = general.replacement + ".$" + std::to_string(general.groups + 1)});
  }
  return rules;
}

std::vector<std::string> renamed(std::span<const Renaming> renamings,
                                 const std::vector<NameRule>& rules) {
  std::vector<std::string> names;
  for (const Renaming& one : renamings) names.push_back(one.from);
  for (const NameRule& rule : rules) {
    const Result<Pattern> pattern = pass_on_out_of_memory(Pattern::regex(rule.pattern));
    if (!pattern) continue;
    for (std::string& name : names) {
      if (pattern->matches(name)) name = pattern->replace_all(name, rule.replacement);
    }
  }
  return names;
}

class BlockRules {
 public:
  explicit BlockRules(std::span<const Renaming> renamings) : renamings_(renamings) {}

  std::optional<std::vector<NameRule>> write() {
    choose_cuts();
    for (std::size_t round = 0; round < most_rounds; ++round) {
      std::vector<NameRule> all;
      for (std::vector<NameRule> rules :
           {rules_for_odd(), rules_for_places(), rules_for_blocks()}) {
        if (!put_in_order(rules)) return std::nullopt;
        all.insert(all.end(), rules.begin(), rules.end());
      }
      // What does not become what it shall is odd, too.
      bool is_right = true;
      bool has_new = false;
      const std::vector<std::string> names = renamed(renamings_, all);
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == renamings_[i].to) continue;
        is_right = false;
        has_new = has_new || !is_odd_[i];
        is_odd_[i] = true;
      }
      if (is_right) return all;
      if (!has_new) break;
    }
    return std::nullopt;
  }

 private:
  // Cuts each name so that both halves occur with many other halves: such are worth a rule.
  void choose_cuts() {
    std::map<Change, std::uint64_t> blocks;
    std::map<Change, std::uint64_t> places;
    const auto for_each_cut = [&](std::size_t i, auto visit) {
      const std::vector<std::size_t> from = ends_of_segments(renamings_[i].from);
      const std::vector<std::size_t> to = ends_of_segments(renamings_[i].to);
      for (std::size_t a = 0; a < std::min(from.size(), most_segments); ++a) {
        for (std::size_t b = 0; b < std::min(to.size(), most_segments); ++b) {
          if ((a == 0) == (b == 0)) visit(cut_at(renamings_[i], from[a], to[b]));
        }
      }
    };
    for (std::size_t i = 0; i < renamings_.size(); ++i) {
      for_each_cut(i, [&](const Cut& cut) {
        ++blocks[cut.block];
        ++places[cut.place];
      });
    }
    for (std::size_t i = 0; i < renamings_.size(); ++i) {
      std::uint64_t best = 0;
      Cut chosen;
      for_each_cut(i, [&](Cut cut) {
        const std::uint64_t in_blocks = blocks[cut.block];
        const std::uint64_t in_places = places[cut.place];
        const bool keeps_place = cut.place.from == cut.place.to;
        const std::uint64_t score = std::min(in_blocks, in_places) * 1000 +
                                    (keeps_place ? 500 : 0) +
                                    std::min<std::uint64_t>(in_blocks + in_places, 400);
        if (score <= best) return;
        best = score;
        chosen = std::move(cut);
      });
      cuts_.push_back(std::move(chosen));
    }
    find_odd();
  }

  // Names that do not follow: those whose block becomes another than usual, or whose place does in
  // blocks of this kind. They get rules of their own.
  void find_odd() {
    using Counts = std::map<std::string, std::size_t>;
    std::map<std::string, Counts> of_blocks;
    std::map<std::string, Counts> of_places;
    const auto place_key = [](const Cut& cut) {
      return name_kind(cut.block.from) + '\n' + cut.place.from;
    };
    for (const Cut& cut : cuts_) {
      ++of_blocks[cut.block.from][cut.block.to];
      ++of_places[place_key(cut)][cut.place.to];
    }
    const auto usual = [](const Counts& counts) {
      return std::max_element(counts.begin(), counts.end(),
                              [](const auto& x, const auto& y) { return x.second < y.second; })
          ->first;
    };
    for (const Cut& cut : cuts_) {
      is_odd_.push_back(usual(of_blocks[cut.block.from]) != cut.block.to ||
                        usual(of_places[place_key(cut)]) != cut.place.to);
    }
  }

  std::vector<NameRule> rules_for_odd() const {
    std::vector<Change> odd;
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
      if (is_odd_[i] || cuts_[i].block.from.empty()) {
        odd.push_back({renamings_[i].from, renamings_[i].to});
      }
    }
    return rules_for_whole_names(odd);
  }

  std::vector<NameRule> rules_for_places() const {
    std::set<Change> modules;
    std::set<Change> tensors;
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
      const Change& place = cuts_[i].place;
      if (is_odd_[i] || cuts_[i].block.from.empty() || place.from == place.to) continue;
      if (std::optional<Change> module = module_change(place)) {
        modules.insert(*std::move(module));
      } else {
        tensors.insert(place);
      }
    }
    std::vector<NameRule> rules;
    for (const bool is_module : {true, false}) {
      for (const General& general : generalized(is_module ? modules : tensors)) {
        add_place(general, is_module, rules);
      }
    }
    return rules;
  }

  void add_place(const General& general, bool is_module, std::vector<NameRule>& rules) const {
    const std::string end = is_module ? "\\.([^.]+)$" : "$";
    const std::string group = std::to_string(general.groups + 1);
    NameRule rule;
    rule.pattern = "\\." + general.pattern + end;
    rule.replacement = "." + general.replacement + (is_module ? ".$" + group : "");
    const Result<Pattern> pattern = pass_on_out_of_memory(Pattern::regex(rule.pattern));
    if (!pattern) return;
    // Where it is not meant for all names that it matches, it names the blocks.
    std::set<std::string> blocks;
    bool is_for_all = true;
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
      const std::string& name = renamings_[i].from;
      if (is_odd_[i] || !pattern->matches(name)) continue;
      const std::string changed = pattern->replace_all(name, rule.replacement);
      const bool is_meant = changed == joined(cuts_[i].block.from, cuts_[i].place.to);
      is_for_all = is_for_all && is_meant;
      if (is_meant) blocks.insert(name_kind(cuts_[i].block.from));
    }
    if (is_for_all) {
      rules.push_back(std::move(rule));
      return;
    }
    for (const std::string& block : blocks) {
      const std::string scope = pattern_for_kind(block);
      // The groups of the place move up by one.
      const std::string shifted = shifted_groups(general.replacement);
      const std::string last = std::to_string(general.groups + 2);
      rules.push_back({.pattern = "^(" + scope + ")\\." + general.pattern + end,
                       .replacement = "$1." + shifted + (is_module ? ".$" + last : "")});
    }
  }

  static std::string shifted_groups(std::string_view replacement) {
    std::string shifted;
    for (std::size_t i = 0; i < replacement.size(); ++i) {
      shifted += replacement[i];
      if (replacement[i] != '$' || i + 1 == replacement.size()) continue;
      if (replacement[i + 1] == '$') {
        shifted += replacement[++i];
        continue;
      }
      if (replacement[i + 1] == '{') shifted += replacement[++i];
      std::string digits;
      while (i + 1 < replacement.size() && is_digit(replacement[i + 1])) digits += replacement[++i];
      shifted += std::to_string(parse_index(digits).value_or(0) + 1);
    }
    return shifted;
  }

  std::vector<NameRule> rules_for_blocks() const {
    std::set<Change> changes;
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
      const Change& block = cuts_[i].block;
      if (!is_odd_[i] && !block.from.empty() && block.from != block.to) changes.insert(block);
    }
    std::vector<NameRule> rules;
    for (const General& general : generalized(changes)) {
      rules.push_back(
          {.pattern = "^" + general.pattern + "\\.", .replacement = general.replacement + "."});
    }
    // What says more comes first.
    std::stable_sort(rules.begin(), rules.end(), [](const NameRule& a, const NameRule& b) {
      return std::count(a.pattern.begin(), a.pattern.end(), '.') >
             std::count(b.pattern.begin(), b.pattern.end(), '.');
    });
    return rules;
  }

  static std::string joined(std::string_view block, std::string_view place) {
    if (block.empty()) return std::string(place);
    return std::string(block) + "." + std::string(place);
  }

  // A rule whose results another one would change comes after that one, where that is possible.
  // False if there are too many.
  bool put_in_order(std::vector<NameRule>& rules) const {
    const std::size_t count = rules.size();
    if (count > most_rules_in_order) return false;
    std::vector<Pattern> patterns;
    for (const NameRule& rule : rules) {
      Result<Pattern> pattern = pass_on_out_of_memory(Pattern::regex(rule.pattern));
      if (!pattern) return false;
      patterns.push_back(*std::move(pattern));
    }
    std::vector<std::set<std::size_t>> before(count);  // rules that must come before
    for (std::size_t i = 0; i < count; ++i) {
      std::map<std::string, std::size_t> examples;
      for (const Renaming& one : renamings_) {
        if (!patterns[i].matches(one.from)) continue;
        if (++examples[name_kind(one.from)] > 2) continue;
        const std::string changed = patterns[i].replace_all(one.from, rules[i].replacement);
        for (std::size_t other = 0; other < count; ++other) {
          if (other == i || !patterns[other].matches(changed)) continue;
          // Both match the name as it is: the one that says more was put first.
          if (patterns[other].matches(one.from) && other > i) continue;
          before[i].insert(other);
        }
      }
    }
    std::vector<NameRule> ordered;
    std::vector<bool> is_done(count);
    while (ordered.size() < count) {
      std::size_t next = 0;
      const auto is_ready = [&](std::size_t i) {
        return !is_done[i] && std::all_of(before[i].begin(), before[i].end(),
                                          [&](std::size_t other) { return is_done[other]; });
      };
      while (next < count && !is_ready(next)) ++next;
      // In a circle any one is the first; names that it spoils are odd.
      if (next == count) {
        const auto first = std::find(is_done.begin(), is_done.end(), false);
        next = static_cast<std::size_t>(first - is_done.begin());
      }
      is_done[next] = true;
      ordered.push_back(rules[next]);
    }
    rules = std::move(ordered);
    return true;
  }

  std::span<const Renaming> renamings_;
  std::vector<Cut> cuts_;     // for each renaming
  std::vector<bool> is_odd_;  // for each
};

}  // namespace

std::optional<std::vector<NameRule>> block_rules(std::span<const Renaming> renamings) {
  std::size_t work = 0;
  for (const Renaming& one : renamings) {
    const std::size_t cuts = std::min(ends_of_segments(one.from).size(), most_segments) *
                             std::min(ends_of_segments(one.to).size(), most_segments);
    work += cuts * (one.from.size() + one.to.size());
  }
  if (work > most_characters) return std::nullopt;
  return BlockRules(renamings).write();
}

std::optional<std::vector<NameRule>> module_rules(std::span<const Renaming> renamings,
                                                  std::size_t most) {
  std::vector<Change> changes;
  changes.reserve(renamings.size());
  for (const Renaming& one : renamings) changes.push_back({one.from, one.to});
  const auto are_right = [&](const std::vector<NameRule>& rules) {
    const std::vector<std::string> names = renamed(renamings, rules);
    return std::equal(names.begin(), names.end(), renamings.begin(), renamings.end(),
                      [](const std::string& name, const Renaming& one) { return name == one.to; });
  };
  // A rule for several modules may match others, too.
  for (const Numbers numbers : {Numbers::as_groups, Numbers::as_they_are}) {
    std::vector<NameRule> rules = rules_for_whole_names(changes, numbers);
    if (rules.size() >= most) return std::nullopt;
    if (are_right(rules)) return rules;
    for (NameRule& rule : rules) rule.replacement.insert(0, 1, done_mark);
    rules.push_back({.pattern = std::string("^") + done_mark,
                     .replacement = "",
                     .reason = "takes away the mark of names that are done"});
    if (are_right(rules)) return rules;
  }
  return std::nullopt;
}

}  // namespace andiron::inline v1::detail
