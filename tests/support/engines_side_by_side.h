// SPDX-License-Identifier: MIT OR Apache-2.0
// RE2 and our own engine over the same pattern.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/text.h"
#include "src/core/text/pattern_syntax.h"
#include "src/core/text/regex/parser.h"
#include "src/core/text/regex_engine.h"

namespace andiron::test {

/// Some releases of RE2 take a|[Aa] for a alone: of alternatives that are one character each they
/// make a set, and forget the other case. An empty group before each keeps them apart.
inline std::string with_alternatives_apart(std::string_view syntax) {
  std::string out;
  for (std::size_t i = 0; i < syntax.size(); ++i) {
    out += syntax[i];
    if (syntax[i] == '|') out += "(?:)";
    if (syntax[i] == '\\' && i + 1 < syntax.size()) out += syntax[++i];
  }
  return out;
}

/// Whether a loop can run over the empty text, as in (|a+)*. RE2 finds one match in such and
/// another if the group is not numbered, so only that there is one can be compared.
inline bool loops_over_the_empty_text(const std::vector<automaton::Instruction>& code) {
  using automaton::Op;
  const auto is_fork = [&](std::uint32_t at) {
    return code[at].op == Op::next_or_jump || code[at].op == Op::jump_or_next;
  };
  for (std::uint32_t end = 0; end < code.size(); ++end) {
    const std::uint32_t begin = target(code[end], end);
    const bool loops = (is_fork(end) || code[end].op == Op::jump) && begin <= end;
    if (!loops) continue;
    std::vector<bool> reached(code.size() + 1);
    // A jump goes back to the fork before the loop, which also leads out.
    reached[code[end].op == Op::jump ? begin + 1 : begin] = true;
    for (std::uint32_t at = begin; at < end; ++at) {
      if (!reached[at] || code[at].op == Op::take) continue;
      if (code[at].op != Op::jump) reached[at + 1] = true;
      if (is_fork(at) || code[at].op == Op::jump) reached[target(code[at], at)] = true;
    }
    if (reached[end]) return true;
  }
  return false;
}

/// RE2 lets . take surrogates, overlong forms and what lies past U+10FFFF. Ours takes UTF-8.
inline bool has_nearly_utf8(std::string_view text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(text[i + 1]);
    if ((lead == 0xe0 && next >= 0x80 && next < 0xa0) || (lead == 0xed && next >= 0xa0) ||
        (lead == 0xf0 && next >= 0x80 && next < 0x90) || (lead == 0xf4 && next >= 0x90)) {
      return true;
    }
  }
  return false;
}

class EnginesSideBySide {
 public:
  EnginesSideBySide(std::string_view text, const std::string& syntax)
      : text_(text),
        re2_(compile_with_re2(text, with_alternatives_apart(syntax))),
        ours_(compile_with_automaton(text, syntax)) {
    if (ours_) {
      places_agree_ = !loops_over_the_empty_text(automaton::parse(text, syntax)->code);
    }
  }

  bool both_compiled() const { return re2_.ok() && ours_.ok(); }

  /// What they disagree about, if anything. Each has its own limit of memory.
  std::string difference() const {
    const auto is_for_memory = [](const auto& engine) {
      return !engine && engine.error().hint == "split it into several patterns";
    };
    if (re2_.ok() == ours_.ok() || is_for_memory(re2_) || is_for_memory(ours_)) return {};
    return "pattern " + text_ + ": RE2 " + outcome(re2_) + ", ours " + outcome(ours_);
  }

  /// The same for one name. REQUIRES: both_compiled().
  std::string difference(std::string_view name, std::size_t from,
                         std::string_view replacement) const {
    if (has_nearly_utf8(name)) return {};
    const std::string about = "pattern " + text_ + ", name " + display_text(name) + ": ";
    const Pattern::Engine& re2 = **re2_;
    const Pattern::Engine& ours = **ours_;
    if (re2.group_count() != ours.group_count()) return about + "counts of groups";
    if (re2.matches(name) != ours.matches(name)) return about + "whether it matches";
    if (!places_agree_) return {};
    std::vector<std::string_view> of_re2(re2.group_count());
    std::vector<std::string_view> of_ours(ours.group_count());
    const bool found = re2.find(name, from, of_re2);
    if (found != ours.find(name, from, of_ours)) {
      return about + "whether it matches from " + std::to_string(from);
    }
    for (std::size_t i = 0; found && i < of_re2.size(); ++i) {
      if (of_re2[i].data() != of_ours[i].data() || of_re2[i].size() != of_ours[i].size()) {
        return about + "group " + std::to_string(i) + " from " + std::to_string(from);
      }
    }
    const std::string by_re2 = Pattern::Engine::pattern(*re2_).replace_all(name, replacement);
    const std::string by_ours = Pattern::Engine::pattern(*ours_).replace_all(name, replacement);
    if (by_re2 != by_ours) return about + "replaced " + by_re2 + " and " + by_ours;
    return {};
  }

 private:
  using Compiled = Result<std::shared_ptr<const Pattern::Engine>>;

  static std::string outcome(const Compiled& engine) {
    return engine ? "accepts it" : "says " + engine.error().message;
  }

  std::string text_;
  Compiled re2_;
  Compiled ours_;
  bool places_agree_ = true;
};

}  // namespace andiron::test
