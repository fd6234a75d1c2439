// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/regex_parser_test.cpp
#include "src/core/text/regex/character_set.h"

#include <optional>
#include <string>
#include <utility>

#include "src/core/text/pattern_syntax.h"
#include "src/core/text/regex/syntax_reader.h"
#include "src/core/text/regex/unicode_classes.h"
#include "src/core/try.h"

namespace andiron::inline v1::automaton {
namespace {

using namespace std::literals;

// Each name with the first and the last character of each range.
constexpr std::pair<std::string_view, std::string_view> ascii_classes[] = {
    {"alnum", "09AZaz"},
    {"alpha", "AZaz"},
    {"ascii", "\0\x7f"sv},
    {"blank", "\t\t  "},
    {"cntrl", "\0\x1f\x7f\x7f"sv},
    {"digit", "09"},
    {"graph", "!~"},
    {"lower", "az"},
    {"print", " ~"},
    {"punct", "!/:@[`{~"},
    {"space", "\t\r  "},
    {"upper", "AZ"},
    {"word", "09AZ__az"},
    {"xdigit", "09AFaf"},
};

std::optional<CodePointRanges> ascii_class(std::string_view name) {
  for (const auto& [known, bounds] : ascii_classes) {
    if (known != name) continue;
    CodePointRanges ranges;
    for (std::size_t i = 0; i < bounds.size(); i += 2) {
      ranges.push_back(
          {static_cast<unsigned char>(bounds[i]), static_cast<unsigned char>(bounds[i + 1])});
    }
    return ranges;
  }
  return std::nullopt;
}

bool is_at_class(const SyntaxReader& reader) {
  return reader.is_at("[:") || reader.is_at("\\p") || reader.is_at("\\P");
}

// [:alpha:], [:^alpha:], \pL, \p{Greek} or \P{^Greek}. REQUIRES: is_at_class(reader).
Result<CodePointRanges> take_class(SyntaxReader& reader, bool folds_case, std::string_view text) {
  const bool is_ascii = reader.is_at("[:");
  const SyntaxReader before = reader;
  std::string_view name;
  bool negated = false;
  if (is_ascii) {
    reader.take(2);
    name = reader.take_through(":]");
    name.remove_suffix(2);
  } else {
    negated = reader.take(2) == "\\P";
    name = reader.take_if("{") ? reader.take_through("}") : reader.take(1);
    if (name.ends_with('}')) name.remove_suffix(1);
  }
  if (name.starts_with('^')) {
    name.remove_prefix(1);
    negated = !negated;
  }
  std::optional<CodePointRanges> ranges = is_ascii ? ascii_class(name) : unicode_class(name);
  if (!ranges) {
    const std::string_view part = reader.taken_since(before);
    return pattern_part_error(
        text, part, "there is no class " + std::string(part),
        is_ascii ? "the classes in brackets are alnum, alpha, ascii, blank, cntrl, digit, graph, "
                   "lower, print, punct, space, upper, word and xdigit"
                 : "write general categories as \\p{L} or \\p{Nd}, scripts as \\p{Greek}");
  }
  // Before negation: \P{Lu} has no letter that differs from a capital in case only.
  if (folds_case) add_case_variants(*ranges);
  if (negated) return complement(*ranges);
  return *std::move(ranges);
}

}  // namespace

Result<CodePointRanges> characters_of(std::string_view set, bool folds_case,
                                      std::string_view text) {
  SyntaxReader reader(set);
  const bool in_brackets = reader.take_if("[");
  const bool negated = in_brackets && reader.take_if("^");
  CodePointRanges ranges;
  CodePointRanges classes;
  while (!reader.at_end() && !(in_brackets && reader.take_if("]"))) {
    if (in_brackets && is_at_class(reader)) {
      ANDIRON_ASSIGN(const CodePointRanges one, take_class(reader, folds_case, text));
      classes.insert(classes.end(), one.begin(), one.end());
    } else {
      const char32_t first = reader.take_character();
      const bool is_range = in_brackets && reader.take_if("-");
      ranges.push_back({first, is_range ? reader.take_character() : first});
    }
  }
  normalize(ranges);
  if (folds_case) add_case_variants(ranges);
  if (!classes.empty()) {
    ranges.insert(ranges.end(), classes.begin(), classes.end());
    normalize(ranges);
  }
  if (negated) return complement(ranges);
  return ranges;
}

}  // namespace andiron::inline v1::automaton
