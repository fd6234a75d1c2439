// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/tree_alignment_test.cpp
#include "src/proposals/module_label.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "src/core/parse_index.h"
#include "src/core/text/digit.h"
#include "src/proposals/word_similarity.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t most_words = 16;

// Some count in letters: "norm_a" and "norm_b", "res2a" and "res2b".
constexpr char last_counting_letter = 'f';
bool counts(std::string_view text) {
  return text.size() == 1 && text[0] >= 'a' && text[0] <= last_counting_letter;
}

// `may_count`: it ends a segment that has more words.
// `before`: the words since the last number.
void add_word(std::string_view text, bool may_count, std::vector<std::string>& before,
              Label& label) {
  const auto add_number = [&](std::uint64_t number) {
    label.numbers.push_back(number);
    label.counted.push_back(std::move(before));
    before.clear();
  };
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin + 1;
    while (end < text.size() && is_digit(text[end]) == is_digit(text[begin])) ++end;
    const std::string_view run = text.substr(begin, end - begin);
    if (is_digit(run[0])) {
      add_number(parse_index(run).value_or(0));
    } else if (counts(run) && end == text.size() && (may_count || begin > 0)) {
      add_number(static_cast<std::uint64_t>(run[0] - 'a') + 1);
    } else {
      if (before.size() < most_words) before.emplace_back(run);
      if (!is_common_word(run) && label.words.size() < most_words) label.words.emplace_back(run);
    }
    begin = end;
  }
}

Label label_of_path(const NameTree& tree, NameTree::NodeId bottom, NameTree::NodeId scope) {
  const std::vector<std::string> path = tree.plain_path(bottom);
  const std::size_t begin = std::min<std::size_t>(tree[scope].depth, path.size());
  Label label;
  label.meaning = meaning_of(path, begin);
  std::vector<std::string> counted;
  for (const std::string& segment : std::span(path).subspan(begin)) {
    const std::size_t before = label.words.size();
    const std::vector<std::string> words = words_in(segment);
    for (const std::string& word : words) {
      add_word(word, words.size() > 1 && &word == &words.back(), counted, label);
    }
    if (label.words.size() > before) label.last = segment;
  }
  return label;
}

}  // namespace

Label label_of(const NameTree& tree, NameTree::NodeId node, NameTree::NodeId scope) {
  const NameTree::NodeId bottom = tree.bottom_of_chain(node);
  Label label = label_of_path(tree, bottom, scope);
  if (!label.words.empty() || tree.is_leaf(bottom)) return label;
  // A module without words takes those of the child that holds most of it.
  for (const NameTree::NodeId child : tree[bottom].children) {
    if (3 * tree[child].count <= 2 * tree[bottom].count || tree.is_leaf(child)) continue;
    Label inner = label_of_path(tree, tree.bottom_of_chain(child), scope);
    inner.numbers = std::move(label.numbers);
    inner.counted = std::move(label.counted);
    return inner;
  }
  return label;
}

std::vector<Label> labels_of(const NameTree& tree, const std::vector<NameTree::NodeId>& nodes,
                             NameTree::NodeId scope) {
  std::vector<Label> labels;
  labels.reserve(nodes.size());
  for (const NameTree::NodeId node : nodes) labels.push_back(label_of(tree, node, scope));
  return labels;
}

bool contradict(const Label& wanted, const Label& source) {
  for (std::size_t i = 0; i < wanted.meaning.size(); ++i) {
    const bool is_part = i == static_cast<std::size_t>(Question::part);
    const bool both_tell = wanted.meaning[i] != 0 && source.meaning[i] != 0;
    if (!is_part && both_tell && (wanted.meaning[i] & source.meaning[i]) == 0) return true;
  }
  return false;
}

double word_score(const Label& wanted, const Label& source) {
  double score = 0;
  for (std::size_t i = 0; i < wanted.meaning.size(); ++i) {
    const bool is_part = i == static_cast<std::size_t>(Question::part);
    if (wanted.meaning[i] == 0 || source.meaning[i] == 0) {
      if (wanted.meaning[i] != source.meaning[i] && !is_part) score -= 0.1;
      continue;
    }
    const bool agree = (wanted.meaning[i] & source.meaning[i]) != 0;
    if (agree) {
      score += is_part ? 0.4 : 1;
      // Beside a part that both have, others that differ count against it: a norm of the embedding
      // and one of the head.
      const bool differ_too = (wanted.meaning[i] & ~source.meaning[i]) != 0 &&
                              (source.meaning[i] & ~wanted.meaning[i]) != 0;
      if (is_part && differ_too) score -= 0.8;
    } else {
      score -= is_part ? 1 : 2;
    }
  }
  if (!wanted.last.empty() && wanted.last == source.last) score += 0.5;
  return score + words_similarity(wanted.words, source.words);
}

double meaning_score(const Label& wanted, const Label& source) {
  return word_score({.meaning = wanted.meaning}, {.meaning = source.meaning});
}

Ranks ranks_of(const std::vector<Label>& labels) {
  std::map<std::vector<std::uint64_t>, std::size_t> ranks;
  for (const Label& label : labels) ranks.emplace(label.numbers, 0);
  std::size_t next = 0;
  for (auto& [numbers, rank] : ranks) rank = next++;
  Ranks result;
  result.count = next;
  for (const Label& label : labels) result.of.push_back(ranks[label.numbers]);
  return result;
}

bool have_the_same_words(const std::vector<Label>& labels) {
  return std::all_of(labels.begin(), labels.end(),
                     [&](const Label& label) { return label.words == labels.front().words; });
}

bool are_of_one_list(const Label& a, const Label& b) {
  return a.words == b.words && a.numbers.size() == b.numbers.size();
}

Ranks ranks_in_order(const std::vector<Label>& labels, bool order_tells) {
  Ranks ranks = ranks_of(labels);
  if (order_tells && ranks.count == labels.size() && !have_the_same_words(labels)) {
    std::iota(ranks.of.begin(), ranks.of.end(), std::size_t{0});
  }
  return ranks;
}

namespace {
std::set<std::uint64_t> last_numbers(const std::vector<Label>& labels) {
  std::set<std::uint64_t> numbers;
  for (const Label& label : labels) {
    if (!label.numbers.empty()) numbers.insert(label.numbers.back());
  }
  return numbers;
}
}  // namespace

bool has_last_numbers_of(const std::vector<Label>& source, const std::vector<Label>& wanted) {
  const std::set<std::uint64_t> there = last_numbers(source);
  const std::set<std::uint64_t> here = last_numbers(wanted);
  return std::includes(there.begin(), there.end(), here.begin(), here.end());
}

bool rank_by_equal_numbers(const std::vector<Label>& wanted, const std::vector<Label>& source,
                           Ranks& wanted_ranks, Ranks& source_ranks) {
  const std::set<std::uint64_t> numbers = last_numbers(wanted);
  if (numbers.size() != wanted.size() || wanted.size() != source.size() ||
      numbers != last_numbers(source)) {
    return false;
  }
  const auto ranks = [&](const std::vector<Label>& labels) {
    Ranks result;
    result.count = labels.size();
    for (const Label& label : labels) {
      result.of.push_back(static_cast<std::size_t>(
          std::distance(numbers.begin(), numbers.find(label.numbers.back()))));
    }
    return result;
  };
  wanted_ranks = ranks(wanted);
  source_ranks = ranks(source);
  return true;
}

namespace {

// Ranks by a property that each must have another of. One rank for all if it is not so.
template <class Place, class PlaceOf>
Ranks ranks_by(const std::vector<Label>& labels, PlaceOf place_of) {
  std::map<Place, std::size_t> ranks;
  for (const Label& label : labels) {
    if (const std::optional<Place> place = place_of(label)) ranks.emplace(*place, 0);
  }
  Ranks result = {std::vector<std::size_t>(labels.size()), 1};
  if (ranks.size() != labels.size()) return result;
  std::size_t next = 0;
  for (auto& [place, rank] : ranks) rank = next++;
  for (std::size_t i = 0; i < labels.size(); ++i) result.of[i] = ranks[*place_of(labels[i])];
  result.count = next;
  return result;
}

}  // namespace

Ranks ranks_of_projections(const std::vector<Label>& labels) {
  return ranks_by<std::uint16_t>(labels, [](const Label& label) -> std::optional<std::uint16_t> {
    const auto projection = label.meaning[static_cast<std::size_t>(Question::projection)];
    return std::has_single_bit(projection) ? std::optional(projection) : std::nullopt;
  });
}

Ranks ranks_of_norms(const std::vector<Label>& labels) {
  return ranks_by<double>(labels, [](const Label& label) { return place_of_norm(label.meaning); });
}

void swap_numbers_of_other_lists(const std::vector<Label>& wanted, std::vector<Label>& source) {
  constexpr double clearly = 0.2;
  const auto has_two = [](const Label& label) { return label.numbers.size() == 2; };
  if (wanted.size() != source.size() || wanted.size() < 4 ||
      !std::all_of(wanted.begin(), wanted.end(), has_two) ||
      !std::all_of(source.begin(), source.end(), has_two)) {
    return;
  }
  using Numbers = std::pair<std::uint64_t, std::uint64_t>;
  std::set<Numbers> here;
  std::set<Numbers> there;
  std::set<Numbers> swapped;
  std::set<std::uint64_t> outer;
  std::set<std::uint64_t> inner;
  for (const Label& label : wanted) {
    here.emplace(label.numbers[0], label.numbers[1]);
    outer.insert(label.numbers[0]);
    inner.insert(label.numbers[1]);
  }
  std::set<std::uint64_t> outer_there;
  std::set<std::uint64_t> inner_there;
  for (const Label& label : source) {
    there.emplace(label.numbers[0], label.numbers[1]);
    swapped.emplace(label.numbers[1], label.numbers[0]);
    outer_there.insert(label.numbers[0]);
    inner_there.insert(label.numbers[1]);
  }
  const bool is_grid = outer.size() > 1 && inner.size() > 1 && outer_there.size() > 1;
  if (!is_grid || outer.size() != inner_there.size() || inner.size() != outer_there.size()) return;
  double as_it_is = 0;
  double changed = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& words = wanted.front().counted[i];
    as_it_is += words_similarity(words, source.front().counted[i]);
    changed += words_similarity(words, source.front().counted[1 - i]);
  }
  const bool numbers_tell = here == swapped && here != there && changed >= as_it_is;
  const bool words_tell = (here == swapped || here != there) && changed > as_it_is + clearly;
  if (!numbers_tell && !words_tell) return;
  for (Label& label : source) {
    std::swap(label.numbers[0], label.numbers[1]);
    std::swap(label.counted[0], label.counted[1]);
  }
}

double number_cost(const Label& wanted, const Label& source) {
  constexpr double of_chance = 0.6;
  const std::size_t shared = std::min(wanted.numbers.size(), source.numbers.size());
  double cost = 0;
  for (std::size_t i = 0; i < shared; ++i) {
    if (wanted.numbers[i] != source.numbers[i]) cost += 0.5;
  }
  if (wanted.numbers.size() == source.numbers.size()) return std::min(cost, 1.0);
  // One side has numbers more. They may be 0 for all: "conv" and "conv.0". Otherwise, where no word
  // is shared, equal numbers are chance.
  const Label& longer = wanted.numbers.size() > shared ? wanted : source;
  const bool are_first =
      longer.words.empty() &&
      std::all_of(longer.numbers.begin() + static_cast<std::ptrdiff_t>(shared),
                  longer.numbers.end(), [](std::uint64_t number) { return number == 0; });
  if (!are_first && words_similarity(wanted.words, source.words) <= 0) return of_chance;
  return std::min(cost + 0.1, 1.0);
}

std::vector<std::uint64_t> numbers_in_segment(std::string_view segment) {
  std::vector<std::uint64_t> numbers;
  for (auto begin = segment.begin(); begin != segment.end();) {
    const auto end = std::find_if_not(begin, segment.end(), is_digit);
    if (end != begin) numbers.push_back(parse_index(std::string_view(begin, end)).value_or(0));
    begin = std::find_if(end, segment.end(), is_digit);
  }
  return numbers;
}

std::optional<std::uint64_t> last_number_in(std::string_view segment) {
  const auto end = std::find_if(segment.rbegin(), segment.rend(), is_digit).base();
  const auto begin =
      std::find_if_not(std::make_reverse_iterator(end), segment.rend(), is_digit).base();
  return parse_index(std::string_view(begin, end));
}

}  // namespace andiron::inline v1::detail
