// SPDX-License-Identifier: MIT OR Apache-2.0
// The engines for regular expressions that a test program has: that of the build, and ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "andiron/text.h"
#include "src/core/text/pattern_syntax.h"
#include "src/core/text/regex_engine.h"
#include "src/core/try.h"

namespace andiron::test {

struct PatternEngine {
  std::string name;
  Result<Pattern> (*regex)(std::string_view);
  Result<Pattern> (*glob)(std::string_view);

  friend void PrintTo(const PatternEngine& engine, std::ostream* out) { *out << engine.name; }
};

template <auto translate>
Result<Pattern> compile_with_ours(std::string_view text) {
  ANDIRON_ASSIGN(const std::string syntax, translate(text));
  ANDIRON_ASSIGN(auto engine, compile_with_automaton(text, syntax));
  return Pattern::Engine::pattern(std::move(engine));
}

inline std::vector<PatternEngine> pattern_engines() {
#ifdef ANDIRON_MINIMAL
  return {{"ours", Pattern::regex, Pattern::glob}};
#else
  return {{"re2", Pattern::regex, Pattern::glob},
          {"ours", compile_with_ours<translate_regex>, compile_with_ours<translate_glob>}};
#endif
}

}  // namespace andiron::test
