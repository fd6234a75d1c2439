// SPDX-License-Identifier: MIT OR Apache-2.0
// JSON text that parses, written and parsed again, gives the same text.
#include "andiron/value.h"

#include "fuzz/property.h"

using namespace andiron;
using namespace andiron::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Result<Value> parsed = parse_json(as_text(data, size));
  if (!parsed) {
    ANDIRON_HOLDS(!parsed.error().to_string().empty());
    return 0;
  }
  const std::string text = to_json(*parsed);
  ANDIRON_HOLDS(to_json(must(parse_json(text))) == text);
  ANDIRON_HOLDS(to_json(must(parse_json(to_json(*parsed, 2)))) == text);
  return 0;
}
