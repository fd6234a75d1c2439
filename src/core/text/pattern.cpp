// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/pattern_test.cpp
#include "andiron/text.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/core/parse_index.h"
#include "src/core/text/in_quotes.h"
#include "src/core/text/pattern_syntax.h"
#include "src/core/text/regex_engine.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace {

bool is_name_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// A stretch of a replacement: text, or the name of a group.
struct Piece {
  std::string_view text;
  bool is_group = false;
};

// Takes the next piece off the front of a replacement. REQUIRES: it is not empty.
Piece take_piece(std::string_view& replacement) {
  auto take = [&](std::size_t count) {
    const std::string_view text = replacement.substr(0, count);
    replacement.remove_prefix(text.size());
    return text;
  };
  if (replacement[0] != '$') return {take(replacement.find('$'))};
  if (replacement.starts_with("$$")) return {take(2).substr(1)};
  if (replacement.starts_with("${")) {
    const std::size_t close = replacement.find('}');
    if (close == std::string_view::npos) return {take(1)};
    return {take(close + 1).substr(2, close - 2), true};
  }
  const auto end = std::find_if_not(replacement.begin() + 1, replacement.end(), is_name_character);
  const auto length = static_cast<std::size_t>(end - replacement.begin());
  return {take(length).substr(length > 1 ? 1 : 0), length > 1};
}

// The group that `name` stands for, by number or by name.
std::optional<std::size_t> find_group(const Pattern::Engine& engine, std::string_view name) {
  if (const std::optional<std::uint64_t> number = parse_index(name)) {
    if (*number >= engine.group_count()) return std::nullopt;
    return static_cast<std::size_t>(*number);
  }
  return engine.group_named(name);
}

// A replacement with its groups looked up.
struct Template {
  struct Part {
    std::string_view text;
    std::optional<std::size_t> group;
  };

  Template(const Pattern::Engine& engine, std::string_view replacement) {
    while (!replacement.empty()) {
      const Piece piece = take_piece(replacement);
      if (!piece.is_group) {
        parts.push_back({piece.text, {}});
      } else if (const auto group = find_group(engine, piece.text)) {
        parts.push_back({{}, group});
        groups_used = std::max(groups_used, *group + 1);
      }
    }
  }

  void append_to(std::string& out, const std::vector<std::string_view>& groups) const {
    for (const Part& part : parts) out += part.group ? groups[*part.group] : part.text;
  }

  std::vector<Part> parts;
  std::size_t groups_used = 1;
};

// Finds the matches of one text, one after the other.
class Matches {
 public:
  Matches(const Pattern::Engine& engine, std::string_view subject, std::size_t groups)
      : engine_(engine), subject_(subject), groups_(groups) {}

  const std::vector<std::string_view>& groups() const noexcept { return groups_; }
  // REQUIRES: `from` is not less than the time before.
  bool find(std::size_t from) {
    // Each time, the engine may read to the end. A text of a few matches is faster without a long
    // search.
    const std::size_t most_reads = std::max(std::size_t{1} << 16, 8 * subject_.size());
    const std::size_t left = subject_.size() - from;
    if (long_ == nullptr && reads_ <= most_reads && (reads_ += left) > most_reads) {
      long_ = engine_.search_long(subject_, groups_.size());
    }
    return long_ != nullptr ? long_->find(from, groups_) : engine_.find(subject_, from, groups_);
  }

 private:
  const Pattern::Engine& engine_;
  const std::string_view subject_;
  std::vector<std::string_view> groups_;
  std::size_t reads_ = 0;  // bytes that were read at most
  std::unique_ptr<Pattern::Engine::LongSearch> long_;
};

bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

}  // namespace

Result<std::shared_ptr<const Pattern::Engine>> Pattern::Engine::compile(std::string_view text,
                                                                        const std::string& syntax) {
#ifdef ANDIRON_MINIMAL
  return compile_with_automaton(text, syntax);
#else
  return compile_with_re2(text, syntax);
#endif
}

Result<Pattern> Pattern::regex(std::string_view pattern) ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(const std::string syntax, translate_regex(pattern));
  ANDIRON_ASSIGN(auto engine, Engine::compile(pattern, syntax));
  return Engine::pattern(std::move(engine));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Pattern> Pattern::glob(std::string_view pattern) ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(const std::string syntax, translate_glob(pattern));
  ANDIRON_ASSIGN(auto engine, Engine::compile(pattern, syntax));
  return Engine::pattern(std::move(engine));
}
ANDIRON_OR_OUT_OF_MEMORY

const std::string& Pattern::text() const noexcept { return engine_->text(); }

bool Pattern::matches(std::string_view name) const { return engine_->matches(name); }

std::string Pattern::replace_all(std::string_view name, std::string_view replacement) const {
  // Most names match no rule, and telling so is far cheaper than finding groups.
  if (!engine_->matches(name)) return std::string(name);
  const Template expansion(*engine_, replacement);
  Matches matches(*engine_, name, expansion.groups_used);
  const std::vector<std::string_view>& groups = matches.groups();
  std::string out;
  std::size_t copied = 0;  // end of the last match: all before it is in `out`
  bool matched = false;
  for (std::size_t from = 0; from <= name.size() && matches.find(from);) {
    const auto begin = static_cast<std::size_t>(groups[0].data() - name.data());
    const std::size_t end = begin + groups[0].size();
    // An empty match counts only between characters and away from the match before it.
    const bool is_empty = begin == end;
    if (!is_empty || !((matched && begin == copied) || is_inside_character(name, begin))) {
      out += name.substr(copied, begin - copied);
      expansion.append_to(out, groups);
      copied = end;
      matched = true;
    }
    from = end;
    if (is_empty) {
      do {
        ++from;
      } while (is_inside_character(name, from));
    }
  }
  out += name.substr(copied);
  return out;
}

std::string Pattern::check_replacement(std::string_view replacement) const {
  for (std::string_view left = replacement; !left.empty();) {
    const Piece piece = take_piece(left);
    if (!piece.is_group || find_group(*engine_, piece.text)) continue;
    std::string warning = "replacement " + detail::in_quotes(replacement) + " names the group " +
                          detail::in_quotes(piece.text) + ", which pattern " +
                          detail::in_quotes(shown_pattern(text())) +
                          " does not have; it becomes empty text";
    // $1x most likely means the group 1, then an x.
    const std::size_t digits = piece.text.find_first_not_of("0123456789");
    const std::string_view number = piece.text.substr(0, digits);
    if (digits != std::string_view::npos && find_group(*engine_, number)) {
      warning += "; for group " + std::string(number) + " write ${" + std::string(number) + "}" +
                 std::string(piece.text.substr(digits));
    }
    return warning;
  }
  return {};
}

}  // namespace andiron::inline v1
