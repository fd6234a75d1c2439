// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/regex_parser_test.cpp
#include "src/core/text/regex/program.h"

#include <utility>

#include "src/core/text/regex/reach.h"

namespace andiron::inline v1::automaton {
namespace {

constexpr Assertions about_words = word_boundary | no_word_boundary;
constexpr Assertions about_lines = line_begin | line_end;

bool begins_with_text(const std::vector<Instruction>& code) {
  std::size_t at = 0;
  while (code[at].op == Op::save) ++at;
  return code[at].op == Op::assert_that && code[at].argument == text_begin;
}

std::vector<bool> symbols_that_begin_a_match(const Program& program) {
  const Reach first = ReachFinder(program.code).reach({0}, all_assertions);
  std::vector<bool> out(program.alphabet.size(), first.match);
  for (std::size_t symbol = 0; symbol < out.size() && !first.match; ++symbol) {
    for (const std::uint32_t at : first.takes) {
      if (program.alphabet.is_in(static_cast<Alphabet::Symbol>(symbol), program.code[at].argument))
        out[symbol] = true;
    }
  }
  return out;
}

}  // namespace

Neighbor Program::neighbor_of(Alphabet::Symbol symbol) const noexcept {
  const char32_t example = alphabet.example(symbol);
  if (example >= 0x80) return Neighbor::other;
  const Neighbor seen = neighbor(static_cast<char>(example));
  if (seen == Neighbor::word && (asserted & about_words) != 0) return seen;
  if (seen == Neighbor::newline && (asserted & about_lines) != 0) return seen;
  return Neighbor::other;
}

std::optional<Program> make_program(Expression expression) {
  Program program;
  program.code = std::move(expression.code);
  program.group_count = expression.group_count;
  program.group_names = std::move(expression.group_names);
  program.asserted = expression.asserted;
  program.begins_text = begins_with_text(program.code);
  // A symbol must look the same to assertions whichever character it is.
  std::vector<CodePointRanges> sets = std::move(expression.sets);
  if ((program.asserted & about_lines) != 0) sets.push_back({{'\n', '\n'}});
  if ((program.asserted & about_words) != 0) {
    sets.push_back({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
    sets.push_back({{0x80, last_code_point}});
  }
  std::optional<Alphabet> alphabet = Alphabet::make(sets);
  if (!alphabet) return std::nullopt;
  program.alphabet = *std::move(alphabet);
  program.begins_a_match = symbols_that_begin_a_match(program);
  return program;
}

}  // namespace andiron::inline v1::automaton
