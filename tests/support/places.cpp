// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/places.h"

namespace andiron::test {

std::string test_data() { return ANDIRON_SOURCE_ROOT "/tests/data"; }
std::string corpus_folder() { return ANDIRON_SOURCE_ROOT "/tests/corpus"; }
std::string tool_page() { return ANDIRON_SOURCE_ROOT "/docs/tool.md"; }
std::string tool_path() { return ANDIRON_TOOL; }
std::string measure_path() { return ANDIRON_MEASURE; }
std::string probe_path() { return ANDIRON_OPEN_PROBE; }

bool is_emulated() {
#ifdef ANDIRON_IS_EMULATED
  return true;
#else
  return false;
#endif
}

}  // namespace andiron::test
