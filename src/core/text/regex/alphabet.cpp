// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/regex_alphabet_test.cpp
#include "src/core/text/regex/alphabet.h"

#include <algorithm>
#include <utility>

#include "src/core/sort.h"
#include "src/core/text/utf8.h"

namespace andiron::inline v1::automaton {
namespace {

using detail::CodePointRange;

// Some tens of milliseconds.
constexpr std::size_t most_work = std::size_t{1} << 24;
constexpr std::size_t most_member_words = std::size_t{1} << 19;  // 4 MiB

// Divides the code points into stretches that no set cuts, and these into classes.
class Partition {
 public:
  explicit Partition(std::span<const CodePointRanges> sets) : firsts_{0, not_utf8} {
    for (const CodePointRanges& set : sets) {
      for (const CodePointRange range : set) {
        firsts_.push_back(range.first);
        if (range.last < not_utf8) firsts_.push_back(range.last + 1);
      }
    }
    detail::sort(firsts_.begin(), firsts_.end());
    firsts_.erase(std::unique(firsts_.begin(), firsts_.end()), firsts_.end());
    class_of_.resize(firsts_.size());
    sizes_ = {firsts_.size()};
  }

  const std::vector<char32_t>& firsts() const noexcept { return firsts_; }
  std::uint32_t class_of(std::size_t stretch) const noexcept { return class_of_[stretch]; }
  std::size_t class_count() const noexcept { return sizes_.size(); }

  // Calls visit(stretch) for those of a set.
  template <class Visit>
  void for_each_stretch(const CodePointRanges& set, Visit visit) const {
    auto first = firsts_.begin();
    for (const CodePointRange range : set) {
      first = std::lower_bound(first, firsts_.end(), range.first);
      for (; first != firsts_.end() && *first <= range.last; ++first) {
        visit(static_cast<std::size_t>(first - firsts_.begin()));
      }
    }
  }

  // Cuts every class that is partly in the set. Returns the work that took.
  std::size_t refine(const CodePointRanges& set) {
    std::size_t work = 0;
    std::vector<std::uint32_t> touched;
    inside_.resize(sizes_.size());
    for_each_stretch(set, [&](std::size_t stretch) {
      ++work;
      if (inside_[class_of_[stretch]]++ == 0) touched.push_back(class_of_[stretch]);
    });
    // The class that takes what is inside: a new one, or the old one if that is all of it.
    moves_to_.resize(sizes_.size());
    for (const std::uint32_t old : touched) {
      const std::size_t inside = std::exchange(inside_[old], 0);
      moves_to_[old] = old;
      if (inside == sizes_[old]) continue;
      moves_to_[old] = static_cast<std::uint32_t>(sizes_.size());
      sizes_[old] -= inside;
      sizes_.push_back(inside);
    }
    for_each_stretch(
        set, [&](std::size_t stretch) { class_of_[stretch] = moves_to_[class_of_[stretch]]; });
    return work;
  }

 private:
  std::vector<char32_t> firsts_;         // of each stretch
  std::vector<std::uint32_t> class_of_;  // each stretch
  std::vector<std::size_t> sizes_;       // stretches of each class
  // Of each class, for refine():
  std::vector<std::size_t> inside_;
  std::vector<std::uint32_t> moves_to_;
};

}  // namespace

std::optional<Alphabet> Alphabet::make(std::span<const CodePointRanges> sets) {
  Partition partition(sets);
  std::size_t work = 0;
  for (const CodePointRanges& set : sets) {
    work += partition.refine(set);
    if (work > most_work) return std::nullopt;
  }
  const std::size_t size = partition.class_count();
  Alphabet alphabet;
  alphabet.words_ = sets.size() / 64 + 1;
  if (size > 0xffff || size > most_member_words / alphabet.words_) return std::nullopt;

  alphabet.examples_.resize(size, not_utf8);
  for (std::size_t i = 0; i < partition.firsts().size(); ++i) {
    const auto symbol = static_cast<Symbol>(partition.class_of(i));
    const char32_t first = partition.firsts()[i];
    alphabet.examples_[symbol] = std::min(alphabet.examples_[symbol], first);
    if (!alphabet.symbols_.empty() && alphabet.symbols_.back() == symbol) continue;
    alphabet.firsts_.push_back(first);
    alphabet.symbols_.push_back(symbol);
  }
  for (char32_t c = 0; c < 0x80; ++c) alphabet.ascii_[c] = alphabet.symbol_of(c);
  alphabet.members_.resize(size * alphabet.words_);
  for (std::size_t set = 0; set < sets.size(); ++set) {
    partition.for_each_stretch(sets[set], [&](std::size_t stretch) {
      alphabet.members_[partition.class_of(stretch) * alphabet.words_ + set / 64] |=
          std::uint64_t{1} << (set % 64);
    });
  }
  return alphabet;
}

Alphabet::Symbol Alphabet::take_long(const char*& at, const char* end) const noexcept {
  const CodePoint c = decode_utf8(at, end);
  at += std::max(c.length, 1u);
  return symbol_of(c.length == 0 ? not_utf8 : c.value);
}

Alphabet::Symbol Alphabet::symbol_of(char32_t code_point) const noexcept {
  const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), code_point);
  return symbols_[static_cast<std::size_t>(after - firsts_.begin()) - 1];
}

}  // namespace andiron::inline v1::automaton
