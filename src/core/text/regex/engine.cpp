// SPDX-License-Identifier: MIT OR Apache-2.0
// The regular-expression engine of our own, for builds without RE2. Tested by
// tests/core/pattern_test.cpp and tests/core/regex_engines_test.cpp
#include <memory>
#include <optional>
#include <utility>

#include "src/core/text/regex/matcher.h"
#include "src/core/text/regex/parser.h"
#include "src/core/text/regex/program.h"
#include "src/core/text/regex/search_table.h"
#include "src/core/text/regex_engine.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace {

void fill_groups(const automaton::Matcher& matcher, std::span<std::string_view> groups) {
  const std::span<const char* const> bounds = matcher.bounds();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const char* const begin = bounds[2 * i];
    const char* const end = bounds[2 * i + 1];
    const bool took_part = begin != nullptr && end != nullptr;
    groups[i] = took_part ? std::string_view(begin, static_cast<std::size_t>(end - begin))
                          : std::string_view();
  }
}

class AutomatonSearch final : public Pattern::Engine::LongSearch {
 public:
  AutomatonSearch(std::shared_ptr<const Pattern::Engine> engine, const automaton::Program& program,
                  std::string_view subject, std::size_t groups)
      : engine_(std::move(engine)),
        subject_(subject),
        matcher_(program, groups),
        prospects_(program, subject) {}

  bool find(std::size_t from, std::span<std::string_view> groups) override {
    if (!matcher_.find(subject_, from, &prospects_)) return false;
    fill_groups(matcher_, groups);
    return true;
  }

 private:
  const std::shared_ptr<const Pattern::Engine> engine_;  // has the program
  const std::string_view subject_;
  automaton::Matcher matcher_;
  automaton::Prospects prospects_;
};

class AutomatonEngine final : public Pattern::Engine,
                              public std::enable_shared_from_this<AutomatonEngine> {
 public:
  AutomatonEngine(std::string text, automaton::Program program)
      : Engine(std::move(text)),
        program_(std::move(program)),
        table_(automaton::SearchTable::make(program_)) {}

  bool matches(std::string_view subject) const override {
    if (table_) return table_->matches(program_.alphabet, subject);
    return automaton::Matcher(program_, 0).find(subject, 0);
  }

  bool find(std::string_view subject, std::size_t from,
            std::span<std::string_view> groups) const override {
    automaton::Matcher matcher(program_, groups.size());
    if (!matcher.find(subject, from)) return false;
    fill_groups(matcher, groups);
    return true;
  }

  std::unique_ptr<Pattern::Engine::LongSearch> search_long(std::string_view subject,
                                                           std::size_t groups) const override {
    return std::make_unique<AutomatonSearch>(shared_from_this(), program_, subject, groups);
  }

  std::size_t group_count() const override { return program_.group_count; }

  std::optional<std::size_t> group_named(std::string_view name) const override {
    const auto group = program_.group_names.find(name);
    if (group == program_.group_names.end()) return std::nullopt;
    return group->second;
  }

 private:
  automaton::Program program_;
  std::optional<automaton::SearchTable> table_;
};

}  // namespace

Result<std::shared_ptr<const Pattern::Engine>> compile_with_automaton(std::string_view text,
                                                                      const std::string& syntax) {
  ANDIRON_ASSIGN(automaton::Expression expression, automaton::parse(text, syntax));
  std::optional<automaton::Program> program = automaton::make_program(std::move(expression));
  if (!program) return automaton::too_large(text);
  return std::shared_ptr<const Pattern::Engine>(
      std::make_shared<const AutomatonEngine>(std::string(text), *std::move(program)));
}

}  // namespace andiron::inline v1
