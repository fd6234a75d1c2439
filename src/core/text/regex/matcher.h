// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds matches and their groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "src/core/text/regex/program.h"
#include "src/core/text/regex/prospects.h"

namespace andiron::inline v1::automaton {

// Follows all ways through the program at once, a character at a time, in order of preference, so
// that the time is at most the length of the text times that of the program.
class Matcher {
 public:
  // Looks for the bounds of so many groups; for none, only whether there is a match. The program
  // must outlive the matcher.
  Matcher(const Program& program, std::size_t groups);

  // Finds the leftmost match that begins at `from` or later, the preferred one of these.
  // REQUIRES: from <= subject.size().
  // With the prospects of the text, nothing behind the match is read, so that to find all matches
  // takes the time of one search. None is found between the bytes of a character then.
  bool find(std::string_view subject, std::size_t from, Prospects* prospects = nullptr);
  // The begin and the end of each group of the last match; null if it took no part.
  std::span<const char* const> bounds() const noexcept { return found_bounds_; }
  // How many instructions were run.
  std::uint64_t steps() const noexcept { return steps_; }

 private:
  // Ways that have come to the same place, preferred ones first. Each waits at an instruction that
  // takes a character, or has matched.
  struct Ways {
    std::vector<std::uint32_t> at;
    std::vector<const char*> bounds;  // found_bounds_.size() for each

    void clear() noexcept {
      at.clear();
      bounds.clear();
    }
  };
  // What follow() does later: go on at an instruction, or forget a bound that a way saved.
  struct Later {
    std::uint32_t at;
    bool is_bound;
    const char* old_bound;
  };

  // Past all that no match begins with.
  const char* pass_over(const char* here, const char* end) const;
  void start(const char* here, Assertions holds, Ways& ways);
  void advance(Alphabet::Symbol symbol, const char* next, Assertions holds);
  void follow(std::uint32_t from, const char* here, Assertions holds, Ways& ways);
  void accept_match(const Ways& ways);
  void accept(const Ways& ways, std::size_t way);

  const Program& program_;
  Ways ways_;
  Ways next_ways_;
  std::vector<const char*> found_bounds_;
  std::vector<const char*> bounds_;  // of the way that follow() is on
  std::vector<Later> later_;
  std::vector<std::size_t> last_place_of_;  // where each instruction was last run
  std::size_t place_ = 0;
  bool found_ = false;
  Prospects* prospects_ = nullptr;
  std::uint64_t steps_ = 0;
};

}  // namespace andiron::inline v1::automaton
