// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/names/index_gaps_test.cpp
#include "andiron/names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "src/core/parse_index.h"
#include "src/core/sort.h"
#include "src/core/try.h"
#include "src/names/index_gaps.h"
#include "src/names/rename.h"

namespace andiron::inline v1 {
namespace detail {
namespace {

// A segment that is a number.
struct Index {
  std::size_t name;   // which of the names
  std::size_t begin;  // first byte in it
  std::size_t end;
  std::size_t parent;  // which of the parents
  std::uint64_t value;
};

std::vector<std::size_t> bytewise_order(std::span<const std::string_view> names) {
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  detail::sort(order.begin(), order.end(),
               [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  return order;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t length = std::min(a.size(), b.size());
  const auto end = a.begin() + static_cast<std::ptrdiff_t>(length);
  return static_cast<std::size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

}  // namespace

std::vector<std::string> names_without_index_gaps(std::span<const std::string_view> names,
                                                  std::span<const Pattern> except,
                                                  std::span<const std::string> kept) {
  std::vector<Index> indices;
  std::vector<std::vector<std::uint64_t>> numbers;  // below each parent

  // In bytewise order the names below one parent follow each other. So it is enough to hold the
  // parents of the name at hand, outermost first, and to keep those that end within what it shares
  // with the next.
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  constexpr std::size_t excepted = none - 1;
  struct Parent {
    std::size_t end;
    std::size_t id = none;  // of its numbers, from the first one on
  };
  const auto is_excepted = [&](std::string_view parent) {
    return std::any_of(except.begin(), except.end(),
                       [&](const Pattern& pattern) { return pattern.matches(parent); });
  };
  std::vector<Parent> parents;
  std::string_view previous;
  for (const std::size_t i : bytewise_order(names)) {
    const std::string_view name = names[i];
    const std::size_t shared = common_prefix(name, previous);
    while (!parents.empty() && parents.back().end > shared) parents.pop_back();
    previous = name;

    std::size_t begin = 0;
    std::size_t end = 0;
    for (std::size_t depth = 0; begin <= name.size(); ++depth, begin = end + 1) {
      if (depth == parents.size()) {
        parents.push_back({begin});
      }
      end = std::min(name.find('.', begin), name.size());
      const auto value = parse_index(name.substr(begin, end - begin));
      if (!value) continue;
      std::size_t& parent = parents[depth].id;
      if (parent == none) {
        if (is_excepted(name.substr(0, begin == 0 ? 0 : begin - 1))) {
          parent = excepted;
        } else {
          parent = numbers.size();
          numbers.emplace_back();
        }
      }
      if (parent == excepted) continue;
      indices.push_back({i, begin, end, parent, *value});
      numbers[parent].push_back(*value);
    }
  }

  for (std::vector<std::uint64_t>& values : numbers) {
    detail::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }

  const std::unordered_set<std::string_view> kept_lists(kept.begin(), kept.end());
  std::size_t longest_kept = 0;
  for (const std::string& list : kept) longest_kept = std::max(longest_kept, list.size());
  std::vector<std::string> renamed(names.begin(), names.end());
  for (std::size_t k = 0; k < indices.size();) {
    const std::size_t i = indices[k].name;
    std::string& out = renamed[i];
    out.clear();
    std::size_t copied = 0;
    for (; k < indices.size() && indices[k].name == i; ++k) {
      const Index& index = indices[k];
      const std::vector<std::uint64_t>& values = numbers[index.parent];
      const auto rank = std::lower_bound(values.begin(), values.end(), index.value);
      out += names[i].substr(copied, index.begin - copied);
      const std::string_view list =
          std::string_view(out).substr(0, out.empty() ? 0 : out.size() - 1);
      const bool is_kept = list.size() <= longest_kept && kept_lists.contains(list);
      copied = is_kept ? index.begin : index.end;
      if (copied == index.end) out += std::to_string(rank - values.begin());
    }
    out += names[i].substr(copied);
  }
  return renamed;
}

}  // namespace detail

Result<Archive> close_index_gaps(const Archive& archive, const IndexGapOptions& options)
    ANDIRON_NO_THROW {
  std::vector<Pattern> except;
  for (const std::string& text : options.except) {
    ANDIRON_ASSIGN(Pattern pattern, Pattern::regex(text));
    except.push_back(std::move(pattern));
  }
  std::vector<std::string> closed = detail::names_without_index_gaps(
      detail::names_and_aliases(archive), except, options.kept_lists);
  return detail::rename_tensors(
      archive, {std::make_move_iterator(closed.begin()), std::make_move_iterator(closed.end())},
      NameStage::index_gaps);
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
