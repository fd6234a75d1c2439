// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/suggested_name_test.cpp
#include "src/load/suggested_name.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>

#include "src/core/text/digit.h"
#include "src/core/text/nearest_name.h"

namespace andiron::inline v1::detail {
namespace {

// Burn's threshold for a suggestion.
constexpr double similar = 0.7;
// A wrapper or two; who has more to say means something else.
constexpr std::size_t longest_wrapper = 128;

// "block.BaseConv.weight" without "BaseConv": the first inner segment that looks like the name of a
// variant.
std::optional<std::string> without_variant(std::string_view path) {
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos;
       dot = path.find('.', dot + 1)) {
    const std::size_t end = path.find('.', dot + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view segment = path.substr(dot + 1, end - dot - 1);
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    if (segment.size() > 1 && segment[0] >= 'A' && segment[0] <= 'Z' &&
        std::any_of(segment.begin() + 1, segment.end(), is_lower)) {
      return std::string(path.substr(0, dot)) + std::string(path.substr(end));
    }
  }
  return std::nullopt;
}

struct SharedEnd {
  std::size_t segments;
  bool is_whole;  // one name is the end of the other
};

SharedEnd shared_end(std::string_view a, std::string_view b) {
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t segments = 0;
  for (std::size_t i = 0; i < shorter; ++i) {
    const char c = a[a.size() - 1 - i];
    if (c != b[b.size() - 1 - i]) return {segments, false};
    if (c == '.') ++segments;
  }
  const std::string_view longer = a.size() > b.size() ? a : b;
  const bool is_whole = longer.size() == shorter || longer[longer.size() - shorter - 1] == '.';
  return {segments + (is_whole ? 1 : 0), is_whole};
}

// Whether both have the same numbers in the same order.
bool has_same_numbers(std::string_view a, std::string_view b) {
  const auto next_number = [](std::string_view& rest) {
    const auto begin = std::find_if(rest.begin(), rest.end(), is_digit);
    const auto end = std::find_if_not(begin, rest.end(), is_digit);
    const std::string_view number = rest.substr(static_cast<std::size_t>(begin - rest.begin()),
                                                static_cast<std::size_t>(end - begin));
    rest.remove_prefix(static_cast<std::size_t>(end - rest.begin()));
    return number;
  };
  while (!a.empty() || !b.empty()) {
    if (next_number(a) != next_number(b)) return false;
  }
  return true;
}

enum class Evidence : std::uint8_t {
  letters,      // with the size
  end,          // alone: the same but for a prefix
  end_of_size,  // with the size
  variant,      // the name of a variant is all that differs
};

struct Suggestion {
  std::size_t missing;
  std::size_t unused;
  Evidence evidence;
  std::size_t shared_segments;
  bool has_same_numbers;
  double likeness;

  bool is_better_than(const Suggestion& other) const {
    const auto rank = [](const Suggestion& one) {
      return std::tuple(one.evidence, one.shared_segments, one.has_same_numbers, one.likeness);
    };
    if (rank(*this) != rank(other)) return rank(*this) > rank(other);
    return std::tie(missing, unused) < std::tie(other.missing, other.unused);
  }
};

bool is_better(const Suggestion& a, const Suggestion& b) { return a.is_better_than(b); }

class Suggester {
 public:
  Suggester(std::span<const SizedName> missing, std::span<const SizedName> unused,
            std::uint64_t work)
      : missing_(missing),
        unused_(unused),
        work_for_one_(work / 2 / std::max<std::size_t>(missing.size(), 1)),
        names_(missing.size()),
        is_taken_(unused.size()) {}

  std::vector<std::string_view> suggest() {
    std::vector<Suggestion> all;
    for (std::size_t m = 0; m < missing_.size(); ++m) {
      const std::vector<Suggestion> best = suggestions_for(m);
      all.insert(all.end(), best.begin(), best.end());
    }
    std::sort(all.begin(), all.end(), is_better);
    for (const Suggestion& one : all) {
      if (names_[one.missing].empty() && !is_taken_[one.unused]) take(one.missing, one.unused);
    }
    for (std::size_t m = 0; m < missing_.size(); ++m) {
      if (names_[m].empty()) take_mistyped(m);
    }
    return std::move(names_);
  }

 private:
  void take(std::size_t missing, std::size_t unused) {
    names_[missing] = unused_[unused].name;
    is_taken_[unused] = true;
  }

  bool is_comparable(std::size_t missing, std::size_t unused) const {
    return unused_[unused].name.size() <= missing_[missing].name.size() + longest_wrapper;
  }

  // As many of the best as there are missing names: one of them stays when others take the rest.
  std::vector<Suggestion> suggestions_for(std::size_t m) const {
    const auto& [path, size] = missing_[m];
    const std::optional<std::string> plain = without_variant(path);
    std::uint64_t work_left = work_for_one_;
    std::vector<Suggestion> found;
    for (std::size_t u = 0; u < unused_.size(); ++u) {
      if (!is_comparable(m, u)) continue;
      const auto& [name, its_size] = unused_[u];
      const bool is_of_size = !size || size == its_size;
      const SharedEnd end = shared_end(path, name);
      if (!is_of_size && !end.is_whole && name != plain) continue;
      const std::uint64_t work = std::uint64_t{path.size()} * name.size();
      double likeness = 0;
      if (work <= work_left) {
        work_left -= work;
        likeness = jaro_similarity(path, name);
      }
      Evidence evidence = Evidence::letters;
      if (name == plain) {
        evidence = Evidence::variant;
      } else if (is_of_size && (end.is_whole || end.segments > 1)) {
        evidence = Evidence::end_of_size;
      } else if (end.is_whole) {
        evidence = Evidence::end;
      } else if (likeness < similar) {
        continue;
      }
      found.push_back({m, u, evidence, end.segments, has_same_numbers(path, name), likeness});
    }
    const std::size_t most = std::min(found.size(), missing_.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most), found.end(),
                      is_better);
    found.resize(most);
    return found;
  }

  // Sizes aside: what was mistyped may have another one, too.
  void take_mistyped(std::size_t m) {
    NearestName nearest(missing_[m].name, work_for_one_);
    std::vector<std::size_t> offered;
    for (std::size_t u = 0; u < unused_.size(); ++u) {
      if (is_taken_[u] || !is_comparable(m, u)) continue;
      if (!has_same_numbers(missing_[m].name, unused_[u].name)) continue;
      nearest.offer(unused_[u].name);
      offered.push_back(u);
    }
    if (nearest.index()) take(m, offered[*nearest.index()]);
  }

  std::span<const SizedName> missing_;
  std::span<const SizedName> unused_;
  std::uint64_t work_for_one_;  // twice: for likeness and for typing errors
  std::vector<std::string_view> names_;
  std::vector<bool> is_taken_;
};

}  // namespace

std::vector<std::string_view> suggested_names(std::span<const SizedName> missing,
                                              std::span<const SizedName> unused,
                                              std::uint64_t work) {
  return Suggester(missing, unused, work).suggest();
}

}  // namespace andiron::inline v1::detail
