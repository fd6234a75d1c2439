// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/nearest_name_test.cpp
#include "src/core/text/nearest_name.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace andiron::inline v1 {
namespace {

// More errors than this, or than one character in three, is another name rather than a mistyped
// one.
constexpr std::size_t most_edits = 8;

// The same name but for leading dotted segments.
bool is_tail_of(std::string_view tail, std::string_view name) {
  return tail.size() < name.size() && !tail.empty() && name.ends_with(tail) &&
         name[name.size() - tail.size() - 1] == '.';
}

// Distances count half edits, which lets a dropped prefix rank before a single edit.
constexpr std::size_t dropped_prefix = 1;
constexpr std::size_t one_edit = 2;

std::size_t allowed_edits(std::string_view wanted) {
  return std::clamp<std::size_t>(wanted.size() / 3, wanted.empty() ? 0 : 1, most_edits);
}

}  // namespace

NearestName::NearestName(std::string_view wanted, std::uint64_t work)
    : wanted_(wanted), closest_((allowed_edits(wanted) + 1) * one_edit), work_left_(work) {}

void NearestName::offer(std::string_view name) {
  const std::size_t index = offered_++;
  std::size_t distance = closest_;
  if (is_tail_of(wanted_, name) || is_tail_of(name, wanted_)) {
    distance = dropped_prefix;
  } else if (closest_ > 0) {
    const std::size_t limit = (closest_ - 1) / one_edit;
    distance = edits_up_to(wanted_, name, limit) * one_edit;
  }
  if (distance < closest_) {
    closest_ = distance;
    best_index_ = index;
  }
}

// Levenshtein distance, or limit + 1 when it is larger than `limit`. Only the band of the table
// that can stay within the limit is filled.
std::size_t NearestName::edits_up_to(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t too_many = limit + 1;
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > limit) return too_many;

  const auto prefix = std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin();
  a.remove_prefix(static_cast<std::size_t>(prefix));
  b.remove_prefix(static_cast<std::size_t>(prefix));
  const auto suffix = std::mismatch(a.rbegin(), a.rend(), b.rbegin()).first - a.rbegin();
  a.remove_suffix(static_cast<std::size_t>(suffix));
  b.remove_suffix(static_cast<std::size_t>(suffix));
  if (a.empty()) return b.size();
  if (limit == 0) return too_many;

  // row_[j] is the distance between the first i characters of a and the first j of b.
  row_.resize(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row_[j] = std::min(j, too_many);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const std::size_t first = i > limit ? i - limit : 1;
    const std::size_t last = std::min(b.size(), i + limit);
    if (work_left_ < last - first + 1) return too_many;
    work_left_ -= last - first + 1;

    std::size_t diagonal = row_[first - 1];
    row_[first - 1] = first == 1 ? std::min(i, too_many) : too_many;
    std::size_t smallest = row_[first - 1];
    for (std::size_t j = first; j <= last; ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row_[j];
      row_[j] = std::min({replaced, row_[j] + 1, row_[j - 1] + 1, too_many});
      smallest = std::min(smallest, row_[j]);
    }
    if (smallest > limit) return too_many;
  }
  return row_[b.size()];
}

namespace {

// Characters of one name that stand in the other, each once, at most `reach` apart.
struct SharedCharacters {
  std::size_t matches = 0;
  std::size_t transpositions = 0;
  std::size_t previous = 0;

  void add(std::size_t place) noexcept {
    if (place < previous) ++transpositions;
    previous = place;
    ++matches;
  }
};

constexpr std::size_t word_bits = 64;

// The places of b that are free, and those of each character, are bits of a word.
SharedCharacters shared_in_a_word(std::string_view a, std::string_view b, std::size_t reach) {
  std::array<std::uint64_t, 256> places{};
  for (std::size_t j = 0; j < b.size(); ++j) {
    places[static_cast<unsigned char>(b[j])] |= std::uint64_t{1} << j;
  }
  SharedCharacters shared;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t first = i > reach ? i - reach : 0;
    const std::size_t last = std::min(b.size(), i + reach + 1);
    if (first >= last) break;
    std::uint64_t& free = places[static_cast<unsigned char>(a[i])];
    const std::uint64_t near =
        (~std::uint64_t{0} << first) & (~std::uint64_t{0} >> (word_bits - last));
    if ((free & near) == 0) continue;
    const auto place = static_cast<std::size_t>(std::countr_zero(free & near));
    free &= ~(std::uint64_t{1} << place);
    shared.add(place);
  }
  return shared;
}

SharedCharacters shared_characters(std::string_view a, std::string_view b, std::size_t reach) {
  std::vector<bool> taken(b.size(), false);
  SharedCharacters shared;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t last = std::min(b.size(), i + reach + 1);
    for (std::size_t j = i > reach ? i - reach : 0; j < last; ++j) {
      if (taken[j] || a[i] != b[j]) continue;
      taken[j] = true;
      shared.add(j);
      break;
    }
  }
  return shared;
}

}  // namespace

double jaro_similarity(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.empty() && b.empty() ? 1 : 0;
  // Characters match when they stand at most this far apart.
  const std::size_t reach = std::max<std::size_t>(std::max(a.size(), b.size()) / 2, 1) - 1;
  const SharedCharacters shared =
      b.size() <= word_bits ? shared_in_a_word(a, b, reach) : shared_characters(a, b, reach);
  if (shared.matches == 0) return 0;
  const auto m = static_cast<double>(shared.matches);
  return (m / static_cast<double>(a.size()) + m / static_cast<double>(b.size()) +
          (m - static_cast<double>(shared.transpositions)) / m) /
         3;
}

}  // namespace andiron::inline v1
