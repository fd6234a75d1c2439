// SPDX-License-Identifier: MIT OR Apache-2.0
// RE2 and our own engine over the same pattern and name: the first line is a pattern, the second a
// replacement, the rest a name.
#include "fuzz/property.h"
#include "tests/support/engines_side_by_side.h"

using namespace andiron;
using namespace andiron::fuzz;

namespace {

void must_be_none(const std::string& difference) {
  if (difference.empty()) return;
  std::fprintf(stderr, "%s\n", difference.c_str());
  std::abort();
}

void compare(std::string_view pattern, const Result<std::string>& syntax,
             std::string_view replacement, std::string_view name) {
  if (!syntax) return;
  const test::EnginesSideBySide engines(pattern, *syntax);
  must_be_none(engines.difference());
  if (!engines.both_compiled()) return;
  must_be_none(engines.difference(name, 0, replacement));
  must_be_none(engines.difference(name, name.size() / 2, replacement));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view name = as_text(data, size);
  const std::string_view pattern = take_line(name);
  const std::string_view replacement = take_line(name);
  compare(pattern, translate_regex(pattern), replacement, name);
  compare(pattern, translate_glob(pattern), replacement, name);
  return 0;
}
