// SPDX-License-Identifier: MIT OR Apache-2.0
// Which ways through a program end in a match, at each place of a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/core/text/regex/program.h"

namespace andiron::inline v1::automaton {

// One pass reads the text from its end to its begin, so that a search follows no way that fails far
// behind the match. For a text of n bytes, the table has as many rows as twice the root of n.
class Prospects {
 public:
  // Program and text must outlive this.
  Prospects(const Program& program, std::string_view subject);

  // Whether the instruction at `at` takes the character that begins at `here`, and a match can
  // follow. REQUIRES: `here` is the begin of a character, or the end, and not in a block before
  // that of the last call.
  bool lead_to_match(std::uint32_t at, const char* here);

 private:
  // For each instruction, whether a match can be reached from it.
  using Row = std::vector<std::uint8_t>;

  std::size_t block_end(std::size_t block) const noexcept;
  // Goes through a block from its end. `row` is that of its end, and becomes that of its begin.
  void pass(std::size_t block, Row& row, std::vector<std::uint8_t>* takes);

  const Program& program_;
  std::string_view subject_;
  std::vector<std::size_t> begins_;  // of the blocks of the text
  std::vector<Row> ends_;            // the row at the end of each block
  std::size_t block_;                // that takes_ is about
  std::vector<std::uint8_t> takes_;  // for each byte of the block, a row of what takes there
  // Used again by each pass.
  struct Character {
    std::size_t begin;
    Alphabet::Symbol symbol;
  };
  std::vector<Character> characters_;
  Row next_;
};

}  // namespace andiron::inline v1::automaton
