// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/pattern_test.cpp
#include "src/core/text/pattern_syntax.h"

#include <cstdint>
#include <cstdio>
#include <set>
#include <utility>
#include <vector>

#include "src/core/text/digit.h"
#include "src/core/text/in_quotes.h"
#include "src/core/text/utf8.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace {

// Rust's own limit.
constexpr std::size_t deepest_nesting = 250;
// Of a pattern that is wrong, an error shows this much.
constexpr std::size_t shown_bytes = 160;

// Unicode's classes in terms of the general categories that the engine knows; each can stand
// between brackets. The ranges in `word` are the letters in circles and squares, which are symbols
// by category.
constexpr std::string_view digit = "\\p{Nd}";
constexpr std::string_view not_digit = "\\P{Nd}";
constexpr std::string_view space = "\\x{9}-\\x{D}\\x{85}\\p{Z}";
constexpr std::string_view not_space =
    "\\x{0}-\\x{8}\\x{E}-\\x{1F}\\x{21}-\\x{84}\\x{86}-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}"
    "\\x{200B}-\\x{2027}\\x{202A}-\\x{202E}\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}\\x{3001}-\\x{"
    "10FFFF}";
constexpr std::string_view word =
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{200C}\\x{200D}\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}"
    "\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}";

bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::optional<unsigned> hex_value(char c) {
  if (detail::is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

std::string code_point(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "\\x{%X}", static_cast<unsigned>(value));
  return text;
}

// An ASCII character that stands for itself inside and outside brackets.
std::string literal(char c) {
  if (is_letter(c) || detail::is_digit(c) || c == '_') return {c};
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || byte == 0x7f ? code_point(byte) : std::string{'\\', c};
}

std::string bracketed(std::string_view items) { return "[" + std::string(items) + "]"; }
std::string bracketed_not(std::string_view items) { return "[^" + std::string(items) + "]"; }

Status check_utf8(std::string_view pattern) {
  const char* const begin = pattern.data();
  const char* const end = begin + pattern.size();
  for (const char* at = begin; at != end;) {
    const CodePoint c = decode_utf8(at, end);
    if (c.length == 0) {
      return pattern_error(pattern, static_cast<std::size_t>(at - begin),
                           "the pattern is not UTF-8", {});
    }
    at += c.length;
  }
  return {};
}

// Walks a pattern once and writes the engine's expression as it goes.
class RegexTranslator {
 public:
  explicit RegexTranslator(std::string_view pattern) : pattern_(pattern) {}

  Result<std::string> translate() {
    while (!at_end()) {
      switch (peek()) {
        case '\\':
          ANDIRON_TRY(escape());
          break;
        case '[':
          ANDIRON_TRY(bracket());
          break;
        case '(':
          ANDIRON_TRY(open_group());
          break;
        case ')':
          ANDIRON_TRY(close_group());
          break;
        case '*':
        case '+':
        case '?':
        case '{':
          ANDIRON_TRY(repetition());
          break;
        case '|':
          out_ += take();
          before_ = Before::nothing;
          break;
        default:
          out_ += take();
          before_ = Before::expression;
      }
    }
    if (!open_groups_.empty()) return error(open_groups_.back(), "the group is never closed");
    return std::move(out_);
  }

 private:
  // What a repetition operator finds before it.
  enum class Before { nothing, expression, repetition };

  struct Escape {
    enum class Kind {
      character,
      set,       // `text` can stand between brackets
      not_word,  // \W, for which there is no such text
      assertion
    };
    Kind kind;
    std::string text;
    std::uint32_t code = 0;  // of a character
  };

  bool at_end() const { return at_ == pattern_.size(); }
  char peek() const { return pattern_[at_]; }
  char take() { return pattern_[at_++]; }
  std::string_view rest() const { return pattern_.substr(at_); }
  bool take_if(std::string_view text) {
    if (!rest().starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  Error error(std::size_t position, std::string message, std::string hint = {}) const {
    return pattern_error(pattern_, position, std::move(message), std::move(hint));
  }

  Status escape() {
    ANDIRON_ASSIGN(const Escape taken, take_escape());
    switch (taken.kind) {
      case Escape::Kind::set:
        out_ += bracketed(taken.text);
        break;
      case Escape::Kind::not_word:
        out_ += bracketed_not(word);
        break;
      case Escape::Kind::character:
      case Escape::Kind::assertion:
        out_ += taken.text;
    }
    before_ = Before::expression;
    return {};
  }

  Result<Escape> take_escape() {
    using Kind = Escape::Kind;
    const std::size_t start = at_++;
    if (at_end()) return error(start, "the pattern ends in a backslash", "write \\\\ for one");
    const char c = take();
    if (detail::is_digit(c) || (c == 'k' && !at_end() && (peek() == '<' || peek() == '{'))) {
      return error(start, "back-references are not supported", "spell out the text to repeat");
    }
    switch (c) {
      case 'd':
        return Escape{Kind::set, std::string(digit)};
      case 'D':
        return Escape{Kind::set, std::string(not_digit)};
      case 's':
        return Escape{Kind::set, std::string(space)};
      case 'S':
        return Escape{Kind::set, std::string(not_space)};
      case 'w':
        return Escape{Kind::set, std::string(word)};
      case 'W':
        return Escape{Kind::not_word, {}};
      case 'p':
      case 'P':
        return take_property(start);
      case 'x':
        return take_code_point(start, 2);
      case 'u':
        return take_code_point(start, 4);
      case 'U':
        return take_code_point(start, 8);
      default:
        break;
    }
    constexpr std::string_view letters = "afnrtv";
    if (const std::size_t at = letters.find(c); at != std::string_view::npos) {
      return character("\a\f\n\r\t\v"[at]);
    }
    if (is_one_of(c, "AzbB")) return Escape{Kind::assertion, {'\\', c}};
    const bool is_ascii = static_cast<unsigned char>(c) < 0x80;
    if (!is_ascii || is_letter(c) || c == '<' || c == '>') {
      return error(start, "no such escape", "only punctuation needs a backslash");
    }
    return character(c);
  }

  static Escape character(char ascii) {
    return {Escape::Kind::character, literal(ascii), static_cast<unsigned char>(ascii)};
  }

  // \pL or \p{Greek}; the engine knows the names.
  Result<Escape> take_property(std::size_t start) {
    if (take_if("{")) {
      const std::size_t close = pattern_.find('}', at_);
      if (close == std::string_view::npos) return error(start, "the class name is never closed");
      at_ = close + 1;
    } else if (!at_end() && is_letter(peek())) {
      ++at_;
    } else {
      return error(start, "the class has no name", "write \\p{L} for letters");
    }
    return Escape{Escape::Kind::set, std::string(pattern_.substr(start, at_ - start))};
  }

  // `digits` hexadecimal digits, or any number of them in braces.
  Result<Escape> take_code_point(std::size_t start, std::size_t digits) {
    const bool braces = take_if("{");
    std::uint32_t value = 0;
    std::size_t count = 0;
    for (; !at_end() && (braces || count < digits); ++at_, ++count) {
      const std::optional<unsigned> nibble = hex_value(peek());
      if (!nibble) break;
      if (value <= 0x10ffff) value = value * 16 + *nibble;
    }
    if (braces ? count == 0 || !take_if("}") : count < digits) {
      return error(start, "the character code is incomplete", "write \\x{41} for the letter A");
    }
    if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) {
      return error(start, "no such character in Unicode");
    }
    return Escape{Escape::Kind::character, code_point(value), value};
  }

  Status bracket() {
    using Kind = Escape::Kind;
    const std::size_t open = at_++;
    const bool negated = take_if("^");
    std::string items;
    std::optional<std::size_t> not_word;  // where \W is
    const std::size_t first = at_;
    while (true) {
      if (at_end()) {
        return error(open, "the bracket is never closed", "write \\[ for a literal one");
      }
      // A bracket that closes nothing yet stands for itself.
      if (at_ != first && take_if("]")) break;
      const std::size_t start = at_;
      for (const std::string_view op : {"&&", "--", "~~"}) {
        if (rest().starts_with(op)) {
          return error(start, "class operators are not supported",
                       "write the class out, or put a backslash before a literal " +
                           std::string(op.substr(1)));
        }
      }
      if (peek() == '[') {
        const std::size_t close =
            rest().starts_with("[:") ? pattern_.find(":]", at_ + 2) : std::string_view::npos;
        if (close == std::string_view::npos) {
          return error(start, "a class within a class is not supported",
                       "write \\[ for a literal bracket");
        }
        items += pattern_.substr(start, close + 2 - start);
        at_ = close + 2;
        continue;
      }

      ANDIRON_ASSIGN(const Escape low, take_item());
      const bool is_range =
          rest().size() > 1 && peek() == '-' && rest()[1] != ']' && rest()[1] != '-';
      if (is_range) {
        ++at_;
        ANDIRON_ASSIGN(const Escape high, take_item());
        if (low.kind != Kind::character || high.kind != Kind::character) {
          return error(start, "a range needs a character on each side",
                       "write \\- for a literal dash");
        }
        if (high.code < low.code) return error(start, "the range runs backwards");
        items += low.text + "-" + high.text;
      } else if (low.kind == Kind::not_word) {
        not_word = start;
      } else if (low.kind == Kind::assertion) {
        return error(start, "an assertion is not allowed in a class");
      } else {
        items += low.text;
      }
    }
    before_ = Before::expression;
    if (!not_word) {
      out_ += negated ? bracketed_not(items) : bracketed(items);
    } else if (items.empty()) {
      out_ += negated ? bracketed(word) : bracketed_not(word);
    } else if (!negated) {
      out_ += "(?:" + bracketed(items) + "|" + bracketed_not(word) + ")";
    } else {
      return error(*not_word, "\\W with other items in a negated class is not supported",
                   "name what should match instead, as in [\\p{L}\\p{N}]");
    }
    return {};
  }

  // One character or escape between brackets.
  Result<Escape> take_item() {
    if (peek() == '\\') return take_escape();
    const CodePoint c = decode_utf8(pattern_.data() + at_, pattern_.data() + pattern_.size());
    if (c.length == 1) return character(take());
    const std::string_view bytes = pattern_.substr(at_, c.length);
    at_ += c.length;
    return Escape{Escape::Kind::character, std::string(bytes), c.value};
  }

  Status open_group() {
    const std::size_t start = at_++;
    if (open_groups_.size() == deepest_nesting) return error(start, "groups nest too deeply");
    if (!take_if("?")) {
      out_ += '(';
    } else if (rest().starts_with('=') || rest().starts_with('!') || rest().starts_with("<=") ||
               rest().starts_with("<!")) {
      return error(start, "look-around is not supported",
                   "match the text around it too and keep that with a group ($1)");
    } else if (rest().starts_with("P=") || rest().starts_with("P>")) {
      return error(start, "back-references are not supported", "spell out the text to repeat");
    } else if (take_if("P<") || take_if("<")) {
      ANDIRON_TRY(group_name(start));
    } else {
      return flags(start);
    }
    open_groups_.push_back(start);
    before_ = Before::nothing;
    return {};
  }

  Status group_name(std::size_t group) {
    const std::size_t start = at_;
    while (!at_end() && (is_letter(peek()) || detail::is_digit(peek()) || peek() == '_')) ++at_;
    const std::string_view name = pattern_.substr(start, at_ - start);
    if (name.empty() || detail::is_digit(name[0]) || !take_if(">")) {
      return error(group, "the group name is invalid",
                   "names are letters, digits and _, not starting with a digit");
    }
    if (!group_names_.insert(name).second) return error(group, "another group has this name");
    out_ += "(?P<" + std::string(name) + ">";
    return {};
  }

  // (?i) for the rest of the enclosing group, or (?i: that opens a group of its own.
  Status flags(std::size_t start) {
    std::string kept;
    bool negated = false;
    for (char before = '?'; !at_end();) {
      const std::size_t here = at_;
      const char c = take();
      switch (c) {
        case ':':
        case ')':
          if (before == '-' || (before == '?' && c == ')')) {
            return error(start, "a flag is missing");
          }
          if (c == ':') {
            out_ += "(?" + kept + ":";
            open_groups_.push_back(start);
          } else {
            out_ += kept.empty() ? "(?:)" : "(?" + kept + ")";
          }
          before_ = Before::nothing;
          return {};
        case 'i':
        case 'm':
        case 's':
        case 'U':
          kept += c;
          break;
        case '-':
          if (negated) return error(here, "flags are negated twice");
          negated = true;
          kept += c;
          break;
        case 'u':  // on by default
          if (negated) return error(here, "the flag u cannot be switched off");
          break;
        case 'x':
          return error(here, "the flag x is not supported",
                       "write the pattern without spaces and comments");
        default:
          return error(start, "no such flag or kind of group", "the flags are i, m, s and U");
      }
      before = c;
    }
    return error(start, "the group is never closed");
  }

  Status close_group() {
    if (open_groups_.empty()) {
      return error(at_, "unmatched closing parenthesis", "write \\) for a literal parenthesis");
    }
    open_groups_.pop_back();
    out_ += take();
    before_ = Before::expression;
    return {};
  }

  Status repetition() {
    const std::size_t start = at_;
    const char op = peek();
    if (before_ == Before::nothing) {
      return error(start, "nothing to repeat",
                   std::string("write \\") + op + " for a literal " + op);
    }
    if (op == '{') {
      ANDIRON_TRY(counts());
    } else {
      out_ += take();
    }
    if (before_ == Before::repetition) {
      return error(start, "a repetition follows another",
                   "put the first in a group, as in (?:a+)+");
    }
    if (take_if("?")) out_ += '?';
    before_ = Before::repetition;
    return {};
  }

  // {2}, {2,} or {2,3}
  Status counts() {
    const std::size_t start = at_++;
    const std::optional<std::string_view> least = take_number();
    std::optional<std::string_view> most;
    const bool comma = take_if(",");
    if (comma) most = take_number();
    if (!least || !take_if("}")) {
      return error(start, "a brace does not start a repetition",
                   "write {2}, {2,} or {2,3}, and \\{ for a literal brace");
    }
    out_ += "{" + std::string(*least);
    if (comma) out_ += "," + std::string(most.value_or(""));
    out_ += "}";
    return {};
  }

  // Without leading zeros, which the engine takes for text.
  std::optional<std::string_view> take_number() {
    const std::size_t start = at_;
    while (!at_end() && detail::is_digit(peek())) ++at_;
    std::string_view number = pattern_.substr(start, at_ - start);
    if (number.empty()) return std::nullopt;
    while (number.size() > 1 && number[0] == '0') number.remove_prefix(1);
    return number;
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  std::string out_;
  Before before_ = Before::nothing;
  std::vector<std::size_t> open_groups_;  // where each opens
  std::set<std::string_view> group_names_;
};

}  // namespace

Result<std::string> translate_regex(std::string_view pattern) {
  ANDIRON_TRY(check_utf8(pattern));
  return RegexTranslator(pattern).translate();
}

Result<std::string> translate_glob(std::string_view pattern) {
  ANDIRON_TRY(check_utf8(pattern));
  std::string out = "\\A";
  bool segment_start = true;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::string_view rest = pattern.substr(at);
    const bool was_segment_start = std::exchange(segment_start, false);
    if (was_segment_start && rest.starts_with("**.")) {
      out += "(?:\\C*\\.)?";
      at += 3;
      segment_start = true;
    } else if (rest.starts_with("**")) {
      out += "\\C*";
      at += 2;
    } else if (rest[0] == '*' || rest[0] == '?') {
      out += rest[0] == '*' ? "[^.]*" : "[^.]";
      at += 1;
    } else {
      const bool is_ascii = static_cast<unsigned char>(rest[0]) < 0x80;
      out += is_ascii ? literal(rest[0]) : std::string{rest[0]};
      segment_start = rest[0] == '.';
      at += 1;
    }
  }
  return out + "\\z";
}

std::string shown_pattern(std::string_view pattern) {
  std::string shown(pattern.substr(0, shown_bytes));
  if (pattern.size() > shown_bytes) shown += "...";
  return shown;
}

Error pattern_error(std::string_view pattern, std::optional<std::size_t> position,
                    std::string message, std::string hint) {
  Error error;
  error.code = ErrorCode::invalid_pattern;
  error.message = std::move(message);
  error.found = "pattern " + detail::in_quotes(shown_pattern(pattern));
  if (position) error.found += " at byte " + std::to_string(*position);
  error.hint = std::move(hint);
  return error;
}

Error pattern_part_error(std::string_view pattern, std::string_view part, std::string message,
                         std::string hint) {
  std::optional<std::size_t> position;
  if (const std::size_t at = pattern.find(part);
      !part.empty() && at != std::string_view::npos && pattern.find(part, at + 1) == pattern.npos) {
    position = at;
  }
  return pattern_error(pattern, position, std::move(message), std::move(hint));
}

}  // namespace andiron::inline v1
