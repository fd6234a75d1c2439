// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/regex_parser_test.cpp
#include "src/core/text/regex/parser.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "src/core/text/digit.h"
#include "src/core/text/pattern_syntax.h"
#include "src/core/text/regex/character_set.h"
#include "src/core/text/regex/code_builder.h"
#include "src/core/text/regex/syntax_reader.h"
#include "src/core/try.h"

namespace andiron::inline v1::automaton {
namespace {

// As in RE2.
constexpr std::size_t most_repeats = 1000;
// Of all sets together: 8 MiB.
constexpr std::size_t most_ranges = std::size_t{1} << 20;

class Parser {
 public:
  Parser(std::string_view text, std::string_view syntax) : text_(text), reader_(syntax) {}

  Result<Expression> parse() {
    open_group(std::uint32_t{0});
    while (!reader_.at_end()) {
      ANDIRON_TRY(token());
      if (code_.is_too_large() || range_count_ > most_ranges) return too_large(text_);
    }
    close_group();
    code_.add(Op::match);
    out_.code = code_.finish();
    return std::move(out_);
  }

 private:
  struct Flags {
    bool folds_case = false;
    bool dot_takes_all = false;
    bool by_line = false;
    bool lazy = false;
  };

  struct Group {
    Flags flags_before;
    std::size_t repeats;  // of the unit in it that is repeated most often
  };

  Status token() {
    switch (reader_.peek()) {
      case '(':
        open();
        return {};
      case '*':
      case '+':
      case '?':
      case '{':
        return repetition();
      default:
        break;
    }
    if (reader_.take_if(")")) return close_group(), Status();
    if (reader_.take_if("|")) return code_.end_alternative(), Status();
    if (reader_.take_if("^")) return assert_that(flags_.by_line ? line_begin : text_begin);
    if (reader_.take_if("$")) return assert_that(flags_.by_line ? line_end : text_end);
    if (reader_.take_if("\\A")) return assert_that(text_begin);
    if (reader_.take_if("\\z")) return assert_that(text_end);
    if (reader_.take_if("\\b")) return assert_that(word_boundary);
    if (reader_.take_if("\\B")) return assert_that(no_word_boundary);
    if (reader_.take_if("\\C")) return take_one_of("[\\x{0}-\\x{110000}]");
    if (reader_.take_if(".")) {
      return take_one_of(flags_.dot_takes_all ? "[\\x{0}-\\x{10FFFF}]" : "[^\\x{A}]");
    }
    return take_one_of(reader_.take_set());
  }

  // ---- groups

  void open() {
    if (reader_.take_if("(?P<")) {
      std::string_view name = reader_.take_through(">");
      name.remove_suffix(1);
      out_.group_names.emplace(name, out_.group_count);
      open_group(static_cast<std::uint32_t>(out_.group_count++));
    } else if (reader_.take_if("(?")) {
      open_flags();
    } else {
      reader_.take_if("(");
      open_group(static_cast<std::uint32_t>(out_.group_count++));
    }
  }

  // i) for the rest of the enclosing group, or i: and : that open a group of their own.
  void open_flags() {
    Flags flags = flags_;
    bool value = true;
    while (!reader_.is_at(":") && !reader_.is_at(")")) {
      const char flag = reader_.take(1)[0];
      if (flag == '-') value = false;
      if (flag == 'i') flags.folds_case = value;
      if (flag == 's') flags.dot_takes_all = value;
      if (flag == 'm') flags.by_line = value;
      if (flag == 'U') flags.lazy = value;
    }
    if (reader_.take(1) == ":") open_group({});
    flags_ = flags;
  }

  void open_group(std::optional<std::uint32_t> number) {
    code_.open_group(number);
    groups_.push_back({flags_, 1});
  }

  void close_group() {
    code_.close_group();
    flags_ = groups_.back().flags_before;
    repeats_ = groups_.back().repeats;
    groups_.pop_back();
    note_repeats();
  }

  void note_repeats() {
    if (!groups_.empty()) groups_.back().repeats = std::max(groups_.back().repeats, repeats_);
  }

  // ---- repetition

  Status repetition() {
    const SyntaxReader before = reader_;
    std::size_t least = 0;
    std::optional<std::size_t> most;
    if (reader_.take_if("+")) {
      least = 1;
    } else if (reader_.take_if("?")) {
      most = 1;
    } else if (!reader_.take_if("*")) {
      reader_.take_if("{");
      least = take_count();
      if (!reader_.take_if(",")) {
        most = least;
      } else if (!reader_.is_at("}")) {
        most = take_count();
      }
      reader_.take_if("}");
      ANDIRON_TRY(check_counts(reader_.taken_since(before), least, most));
    }
    const bool lazy = reader_.take_if("?") != flags_.lazy;
    code_.repeat(least, most, !lazy);
    return {};
  }

  std::size_t take_count() {
    std::size_t count = 0;
    while (!reader_.at_end() && detail::is_digit(reader_.peek())) {
      const auto digit = static_cast<std::size_t>(reader_.take(1)[0] - '0');
      count = std::min(count * 10 + digit, most_repeats + 1);
    }
    return count;
  }

  Status check_counts(std::string_view part, std::size_t least, std::optional<std::size_t> most) {
    if (most && *most < least) {
      return pattern_part_error(text_, part, "the counts of a repetition run backwards",
                                "write the smaller one first");
    }
    const std::size_t count = most.value_or(least);
    if (count > most_repeats) {
      return pattern_part_error(text_, part, "the count of a repetition is too large",
                                "repetitions count up to 1000");
    }
    repeats_ *= std::max<std::size_t>(count, 1);
    note_repeats();
    if (count > 1 && repeats_ > most_repeats) {
      return pattern_part_error(text_, part, "nested repetitions multiply to more than 1000",
                                "count less, or use * or +");
    }
    return {};
  }

  // ---- characters and places

  Status assert_that(Assertions assertion) {
    repeats_ = 1;
    out_.asserted |= assertion;
    code_.add(Op::assert_that, assertion);
    return {};
  }

  Status take_one_of(std::string_view set) {
    repeats_ = 1;
    const auto [known, is_new] =
        known_sets_.try_emplace({set, flags_.folds_case}, out_.sets.size());
    if (is_new) {
      ANDIRON_ASSIGN(CodePointRanges ranges, characters_of(set, flags_.folds_case, text_));
      range_count_ += ranges.size();
      out_.sets.push_back(std::move(ranges));
    }
    code_.add(Op::take, static_cast<std::uint32_t>(known->second));
    return {};
  }

  std::string_view text_;
  SyntaxReader reader_;
  Flags flags_;
  std::vector<Group> groups_;
  std::size_t repeats_ = 1;  // what nested counts of the last unit multiply to
  CodeBuilder code_;
  Expression out_;
  std::map<std::pair<std::string_view, bool>, std::size_t> known_sets_;
  std::size_t range_count_ = 0;
};

}  // namespace

Result<Expression> parse(std::string_view text, std::string_view syntax) {
  return Parser(text, syntax).parse();
}

Error too_large(std::string_view text) {
  return pattern_error(text, std::nullopt, "the pattern takes too much memory",
                       "split it into several patterns");
}

}  // namespace andiron::inline v1::automaton
