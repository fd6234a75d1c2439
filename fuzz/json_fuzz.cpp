// SPDX-License-Identifier: MIT OR Apache-2.0
// JSON text that parses, written and parsed again, gives the same text. A config that it fills,
// written and read again, is the same config.
#include "andiron/config.h"
#include "andiron/value.h"

#include "fuzz/property.h"

using namespace andiron;
using namespace andiron::fuzz;

namespace {

struct Layer {
  int size;
  std::optional<bool> bias;
  std::vector<Layer> below;
  ANDIRON_CONFIG(Layer, size, bias, below)
};

struct Net {
  double lr = 0.1;
  float decay;
  std::uint64_t seed = 1;
  std::string title;
  std::pair<std::int8_t, std::string> pair = {};
  std::map<std::string, Layer> layers;
  ANDIRON_CONFIG(Net, lr, decay, seed, title, pair, layers)
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Result<Value> parsed = parse_json(as_text(data, size));
  if (!parsed) {
    ANDIRON_HOLDS(!parsed.error().to_string().empty());
    return 0;
  }
  const std::string text = to_json(*parsed);
  ANDIRON_HOLDS(to_json(must(parse_json(text))) == text);
  ANDIRON_HOLDS(to_json(must(parse_json(to_json(*parsed, 2)))) == text);

  const Result<Net> config = parsed->as<Net>();
  if (!config) {
    ANDIRON_HOLDS(!config.error().to_string().empty());
    return 0;
  }
  const Value written = config_to_value(*config);
  ANDIRON_HOLDS(to_json(config_to_value(must(written.as<Net>()))) == to_json(written));
  return 0;
}
