// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/regex_matcher_test.cpp
#include "src/core/text/regex/matcher.h"

#include <algorithm>
#include <utility>

namespace andiron::inline v1::automaton {

Matcher::Matcher(const Program& program, std::size_t groups)
    : program_(program),
      found_bounds_(2 * groups),
      bounds_(2 * groups),
      last_place_of_(program.code.size()) {}

bool Matcher::find(std::string_view subject, std::size_t from, Prospects* prospects) {
  const char* const begin = subject.data();
  const char* const end = begin + subject.size();
  prospects_ = prospects;
  ways_.clear();
  found_ = false;
  for (const char* here = begin + from;;) {
    if (ways_.at.empty()) {
      if (found_ || (program_.begins_text && here != begin)) return found_;
      here = pass_over(here, end);
      ++place_;
    }
    // What begins here is preferred less than what began before.
    if (!found_) start(here, assertions_at(subject, here), ways_);
    if (here == end) break;

    const char* next = here;
    const Alphabet::Symbol symbol = program_.alphabet.take(next, end);
    // Between the bytes of a character \B holds, and a match can be empty.
    const bool is_inside = next - here > 1 && prospects_ == nullptr;
    if (!found_ && is_inside && (program_.asserted & no_word_boundary) != 0) {
      ++place_;
      next_ways_.clear();
      start(here + 1, no_word_boundary, next_ways_);
      accept_match(next_ways_);
    }
    ++place_;
    next_ways_.clear();
    advance(symbol, next, assertions_at(subject, next));
    if (found_ && found_bounds_.empty()) return true;
    std::swap(ways_, next_ways_);
    here = next;
  }
  accept_match(ways_);
  return found_;
}

const char* Matcher::pass_over(const char* here, const char* end) const {
  for (const char* next = here; next != end; here = next) {
    if (program_.begins_a_match[program_.alphabet.take(next, end)]) break;
  }
  return here;
}

void Matcher::start(const char* here, Assertions holds, Ways& ways) {
  std::fill(bounds_.begin(), bounds_.end(), nullptr);
  follow(0, here, holds, ways);
}

void Matcher::advance(Alphabet::Symbol symbol, const char* next, Assertions holds) {
  const std::size_t bounds = bounds_.size();
  for (std::size_t way = 0; way < ways_.at.size(); ++way) {
    ++steps_;
    const std::uint32_t at = ways_.at[way];
    // Those after a match are preferred less.
    if (program_.code[at].op == Op::match) return accept(ways_, way);
    if (!program_.alphabet.is_in(symbol, program_.code[at].argument)) continue;
    std::copy_n(ways_.bounds.begin() + static_cast<std::ptrdiff_t>(way * bounds), bounds,
                bounds_.begin());
    follow(at + 1, next, holds, next_ways_);
  }
}

void Matcher::follow(std::uint32_t from, const char* here, Assertions holds, Ways& ways) {
  later_.push_back({from, false, nullptr});
  while (!later_.empty()) {
    const Later next = later_.back();
    later_.pop_back();
    if (next.is_bound) {
      bounds_[next.at] = next.old_bound;
      continue;
    }
    // A way that comes to an instruction second is preferred less, and is given up. So is one that
    // stays where it is: it waits in `ways`, or an assertion does not hold.
    for (std::uint32_t at = next.at; std::exchange(last_place_of_[at], place_) != place_;) {
      ++steps_;
      const Instruction instruction = program_.code[at];
      switch (instruction.op) {
        case Op::take:
          if (prospects_ != nullptr && !prospects_->lead_to_match(at, here)) break;
          [[fallthrough]];
        case Op::match:
          ways.at.push_back(at);
          ways.bounds.insert(ways.bounds.end(), bounds_.begin(), bounds_.end());
          break;
        case Op::assert_that:
          if ((instruction.argument & holds) != 0) ++at;
          break;
        case Op::save:
          if (instruction.argument < bounds_.size()) {
            later_.push_back({instruction.argument, true, bounds_[instruction.argument]});
            bounds_[instruction.argument] = here;
          }
          ++at;
          break;
        case Op::jump:
          at = target(instruction, at);
          break;
        case Op::next_or_jump:
          later_.push_back({target(instruction, at), false, nullptr});
          ++at;
          break;
        case Op::jump_or_next:
          later_.push_back({at + 1, false, nullptr});
          at = target(instruction, at);
      }
    }
  }
}

void Matcher::accept_match(const Ways& ways) {
  for (std::size_t way = 0; way < ways.at.size(); ++way) {
    if (program_.code[ways.at[way]].op == Op::match) return accept(ways, way);
  }
}

void Matcher::accept(const Ways& ways, std::size_t way) {
  const std::size_t bounds = bounds_.size();
  std::copy_n(ways.bounds.begin() + static_cast<std::ptrdiff_t>(way * bounds), bounds,
              found_bounds_.begin());
  found_ = true;
}

}  // namespace andiron::inline v1::automaton
