// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "src/core/text/pattern_syntax.h"
#include "src/core/text/regex/parser.h"
#include "src/core/text/regex/program.h"

namespace andiron::test {

/// A pattern as our own engine compiles it.
inline automaton::Program regex_program(std::string_view pattern) {
  const std::string syntax = translate_regex(pattern).value();
  return automaton::make_program(automaton::parse(pattern, syntax).value()).value();
}

}  // namespace andiron::test
