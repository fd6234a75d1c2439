// SPDX-License-Identifier: MIT OR Apache-2.0
// Patterns from strangers over names from strangers: the first line is a pattern, the second a
// replacement, the rest a name.
#include "andiron/text.h"

#include "fuzz/property.h"

using namespace andiron;
using namespace andiron::fuzz;

namespace {

void use(const Result<Pattern>& pattern, std::string_view replacement, std::string_view name) {
  if (!pattern) {
    ANDIRON_HOLDS(pattern.error().code == ErrorCode::invalid_pattern);
    ANDIRON_HOLDS(!pattern.error().to_string().empty());
    return;
  }
  const std::string renamed = pattern->replace_all(name, replacement);
  if (!pattern->matches(name)) ANDIRON_HOLDS(renamed == name);
  // Putting every match back in its place changes nothing.
  ANDIRON_HOLDS(pattern->replace_all(name, "${0}") == name);
  static_cast<void>(pattern->check_replacement(replacement));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view name = as_text(data, size);
  const std::string_view pattern = take_line(name);
  const std::string_view replacement = take_line(name);
  use(Pattern::regex(pattern), replacement, name);
  use(Pattern::glob(pattern), replacement, name);
  return 0;
}
