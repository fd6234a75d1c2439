// SPDX-License-Identifier: MIT OR Apache-2.0
// The regular-expression engine on RE2, the only file that knows it. Tested by
// tests/core/pattern_test.cpp
#include <re2/re2.h>

#include <cstdint>
#include <vector>

#include "src/core/text/pattern_syntax.h"
#include "src/core/text/regex_engine.h"

namespace andiron::inline v1 {
namespace {

// Room for some hundred copies of a Unicode class, and for RE2's cache of automaton states, which
// is filled as needed. Larger expressions are refused.
constexpr std::int64_t most_memory = 16 * 1024 * 1024;

RE2::Options re2_options() {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingUTF8);
  options.set_log_errors(false);
  options.set_max_mem(most_memory);
  return options;
}

class Re2Engine final : public Pattern::Engine {
 public:
  Re2Engine(std::string text, const std::string& syntax)
      : Engine(std::move(text)), syntax_(syntax), re2_(syntax, re2_options()) {}

  const RE2& re2() const noexcept { return re2_; }

  bool matches(std::string_view subject) const override {
    return re2_.Match(piece(subject), 0, subject.size(), RE2::UNANCHORED, nullptr, 0);
  }

  bool find(std::string_view subject, std::size_t from,
            std::span<std::string_view> groups) const override {
    std::vector<re2::StringPiece> found(groups.size());
    if (!re2_.Match(piece(subject), from, subject.size(), RE2::UNANCHORED, found.data(),
                    static_cast<int>(found.size()))) {
      return false;
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
      groups[i] = {found[i].data(), found[i].size()};
    }
    return true;
  }

  // RE2 cannot, and a text that needs it is rare.
  std::unique_ptr<Pattern::Engine::LongSearch> search_long(std::string_view subject,
                                                           std::size_t groups) const override {
    const auto own = compile_with_automaton(text(), syntax_);
    return own ? (*own)->search_long(subject, groups) : nullptr;
  }

  std::size_t group_count() const override {
    return static_cast<std::size_t>(re2_.NumberOfCapturingGroups()) + 1;
  }

  std::optional<std::size_t> group_named(std::string_view name) const override {
    const auto& groups = re2_.NamedCapturingGroups();
    const auto group = groups.find(std::string(name));
    if (group == groups.end()) return std::nullopt;
    return static_cast<std::size_t>(group->second);
  }

 private:
  static re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

  std::string syntax_;
  RE2 re2_;
};

std::string hint_for(const RE2& re2) {
  switch (re2.error_code()) {
    case RE2::ErrorRepeatSize:
      return "repetitions count up to 1000";
    case RE2::ErrorPatternTooLarge:
      return "split it into several patterns";
    case RE2::ErrorBadCharRange:
      if (re2.error_arg().starts_with("\\p") || re2.error_arg().starts_with("\\P")) {
        return "write general categories as \\p{L} or \\p{Nd}, scripts as \\p{Greek}";
      }
      return {};
    default:
      return {};
  }
}

}  // namespace

Result<std::shared_ptr<const Pattern::Engine>> compile_with_re2(std::string_view text,
                                                                const std::string& syntax) {
  auto engine = std::make_shared<const Re2Engine>(std::string(text), syntax);
  const RE2& re2 = engine->re2();
  if (!re2.ok()) {
    return pattern_part_error(text, re2.error_arg(), re2.error(), hint_for(re2));
  }
  return std::shared_ptr<const Pattern::Engine>(std::move(engine));
}

}  // namespace andiron::inline v1
