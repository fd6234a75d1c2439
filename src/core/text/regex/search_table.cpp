// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/regex_search_table_test.cpp
#include "src/core/text/regex/search_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "src/core/sort.h"
#include "src/core/text/regex/reach.h"

namespace andiron::inline v1::automaton {
namespace {

constexpr std::size_t most_cells = std::size_t{1} << 18;  // 512 KiB
constexpr std::size_t most_steps = std::size_t{1} << 20;  // some milliseconds

}  // namespace

class SearchTable::Builder {
 public:
  explicit Builder(const Program& program) : program_(program), finder_(program.code) {
    for (std::size_t symbol = 0; symbol < program.alphabet.size(); ++symbol) {
      neighbors_.push_back(program.neighbor_of(static_cast<Symbol>(symbol)));
    }
    const bool uses = (program.asserted & no_word_boundary) != 0;
    matches_inside_character_ = uses && finder_.reach({0}, no_word_boundary).match;
  }

  std::optional<SearchTable> build() {
    table_.next_.resize(start * program_.alphabet.size());
    table_.matches_at_end_.resize(start);
    places_.resize(start);
    state_of({{}, Neighbor::none});
    for (std::size_t state = start; state < places_.size(); ++state) {
      fill_row(*places_[state]);
      if (is_too_large()) return std::nullopt;
    }
    return std::move(table_);
  }

 private:
  using Symbol = Alphabet::Symbol;

  // Between two characters: the instructions that the text has led to, ascending, and what is
  // before.
  struct Place {
    std::vector<std::uint32_t> at;
    Neighbor before;
    bool operator<(const Place& other) const {
      return std::tie(at, before) < std::tie(other.at, other.before);
    }
  };
  bool is_too_large() const {
    return table_.next_.size() > most_cells || places_.size() > 0xffff ||
           finder_.steps() + takes_tried_ > most_steps;
  }

  // Adds the row of a state, and the states that are new in it.
  void fill_row(const Place& place) {
    std::vector<std::uint32_t> starts = place.at;
    starts.push_back(0);                               // a match can begin anywhere
    std::array<std::optional<Reach>, 4> reach_before;  // each Neighbor
    const auto reach_to = [&](Neighbor after) -> const Reach& {
      std::optional<Reach>& known = reach_before[static_cast<std::size_t>(after)];
      if (!known) known = finder_.reach(starts, assertions_between(place.before, after));
      return *known;
    };
    table_.matches_at_end_.push_back(reach_to(Neighbor::none).match);
    for (std::size_t i = 0; i < program_.alphabet.size() && !is_too_large(); ++i) {
      table_.next_.push_back(after(reach_to(neighbors_[i]), static_cast<Symbol>(i)));
    }
  }

  State after(const Reach& reach, Symbol symbol) {
    const char32_t example = program_.alphabet.example(symbol);
    const bool is_long = example >= 0x80 && example <= last_code_point;
    if (reach.match || (is_long && matches_inside_character_)) return matched;
    Place next{{}, neighbors_[symbol]};
    for (const std::uint32_t at : reach.takes) {
      if (program_.alphabet.is_in(symbol, program_.code[at].argument)) {
        next.at.push_back(past_moves(at + 1));
      }
    }
    takes_tried_ += reach.takes.size();
    detail::sort(next.at.begin(), next.at.end());
    next.at.erase(std::unique(next.at.begin(), next.at.end()), next.at.end());
    return state_of(std::move(next));
  }

  // Different ways to the same instruction make fewer states if they are the same early.
  std::uint32_t past_moves(std::uint32_t at) const {
    while (true) {
      const Instruction instruction = program_.code[at];
      if (instruction.op == Op::jump) {
        at = target(instruction, at);
      } else if (instruction.op == Op::save) {
        ++at;
      } else {
        return at;
      }
    }
  }

  State state_of(Place place) {
    if (place.at.empty() && program_.begins_text && place.before != Neighbor::none) return failed;
    const auto [known, is_new] =
        states_.try_emplace(std::move(place), static_cast<State>(places_.size()));
    if (is_new) places_.push_back(&known->first);
    return known->second;
  }

  const Program& program_;
  std::vector<Neighbor> neighbors_;  // for each symbol
  bool matches_inside_character_ = false;
  SearchTable table_;
  std::map<Place, State> states_;
  std::vector<const Place*> places_;  // for each state
  ReachFinder finder_;
  std::size_t takes_tried_ = 0;
};

std::optional<SearchTable> SearchTable::make(const Program& program) {
  return Builder(program).build();
}

}  // namespace andiron::inline v1::automaton
